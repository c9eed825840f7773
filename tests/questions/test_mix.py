"""A mix is counted in blocks: usable blocks over the mean, over the 95th percentile, over the longest."""

from fractions import Fraction

import pytest

from kvcore.errors import InputError
from kvcore.questions import request_mix
from tests.questions.deployment import BLOCK, BLOCK_BYTES, CONFIG

POOL_BLOCKS = 1001
DEPLOYMENT = {"config": CONFIG, "max_model_len": 8192, "kv_cache_memory_bytes": POOL_BLOCKS * BLOCK_BYTES}
SHORT = {"prompt_tokens": 150, "output_tokens": 10, "weight": 3}
LONG = {"prompt_tokens": 1500, "output_tokens": 100, "weight": 1}
SHORT_BLOCKS = 160 // BLOCK
LONG_BLOCKS = 1600 // BLOCK


def test_the_average_divides_usable_blocks_by_the_mean_request() -> None:
    mean = Fraction(3 * SHORT_BLOCKS + 1 * LONG_BLOCKS, 4)
    assert request_mix(DEPLOYMENT, [SHORT, LONG]).average == (POOL_BLOCKS - 1) / mean


def test_the_percentile_is_the_length_most_requests_do_not_exceed() -> None:
    answer = request_mix(DEPLOYMENT, [{**SHORT, "weight": 95}, {**LONG, "weight": 5}])
    assert answer.percentile_tokens == 160
    assert answer.percentile == Fraction(POOL_BLOCKS - 1, SHORT_BLOCKS)


def test_the_longest_request_of_the_mix_bounds_from_below() -> None:
    assert request_mix(DEPLOYMENT, [SHORT, LONG]).longest == Fraction(POOL_BLOCKS - 1, LONG_BLOCKS)


@pytest.mark.parametrize(
    ("lengths", "field"),
    [
        ([], "lengths"),
        ([{"prompt_tokens": 0}], "lengths.0.prompt_tokens"),
        ([{"prompt_tokens": 10, "output_tokens": -1}], "lengths.0.output_tokens"),
        ([{"prompt_tokens": 10, "weight": 0}], "lengths.0.weight"),
        ([{"prompt_tokens": 9000}], "lengths"),
        (["long"], "lengths.0"),
    ],
)
def test_a_bad_mix_is_refused_by_field(lengths: list[object], field: str) -> None:
    with pytest.raises(InputError) as refused:
        request_mix(DEPLOYMENT, lengths)  # type: ignore[arg-type]
    assert refused.value.errors[0].field == field
