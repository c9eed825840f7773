"""A mix written as one line of text."""

import pytest

from kvcore.errors import InputError
from kvcore.questions.mix_text import lengths_of


def test_prompt_output_and_weight_are_read() -> None:
    assert lengths_of("1000+200:70, 8000 + 500 : 2.5, 24000") == [
        {"prompt_tokens": 1000, "output_tokens": 200, "weight": 70},
        {"prompt_tokens": 8000, "output_tokens": 500, "weight": 2.5},
        {"prompt_tokens": 24000, "output_tokens": 0, "weight": 1},
    ]


@pytest.mark.parametrize("text", ["", "many", "1+2+3", "1000+200:x", "-5", "9" * 40])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="prompt tokens"):
        lengths_of(text)


def test_a_mix_has_an_end() -> None:
    with pytest.raises(InputError, match="at most 256"):
        lengths_of("1," * 100_000)
