"""A mix of requests as one line of text: ``1000+200:70, 8000+500:25`` is prompt + output : weight."""

import re
from typing import Any

from kvcore.errors import input_error
from kvcore.questions.mix import MOST_LENGTHS

_ONE = re.compile(r"\s*(\d{1,12})\s*(?:\+\s*(\d{1,12}))?\s*(?::\s*(\d{1,9}(?:\.\d{1,9})?))?\s*")


def lengths_of(text: str) -> list[dict[str, Any]]:
    """Reads a mix as :func:`kvcore.questions.mix.request_mix` takes it.

    Raises:
        InputError: An item is no prompt, output and weight, or there are too many.
    """
    items = text.split(",", MOST_LENGTHS + 1)
    if len(items) > MOST_LENGTHS:
        raise input_error("mix", text[:40], f"at most {MOST_LENGTHS} lengths are counted", "Leave some out.")
    return [_length(item) for item in items]


def _length(item: str) -> dict[str, Any]:
    match = _ONE.fullmatch(item)
    if match is None:
        rule = "prompt tokens + output tokens : weight is expected"
        raise input_error("mix", item[:40], rule, "Write 1000+200:70, 8000+500:25.")
    prompt, output, weight = match.groups()
    return {
        "prompt_tokens": int(prompt),
        "output_tokens": int(output or 0),
        "weight": 1 if weight is None else float(weight),
    }
