"""Damaged configs asked of SGLang: each gives an answer or a named error, never a traceback, NaN or negative figure."""

import json
import random

import pytest

from tests.test_hostile_configs import complaint, damaged

MUTATIONS = 2000
SHARDS = 2
FREE = {"engine": "sglang", "available_before_load_gib": 139, "available_after_load_gib": 100, "gpu": "H200"}
REQUESTS = (
    FREE,
    {**FREE, "tp_size": 2, "kv_cache_dtype": "fp8_e4m3", "page_size": 16},
    {**FREE, "pp_size": 2, "speculative_algorithm": "EAGLE"},
    {**FREE, "gpu": "B200", "disable_radix_cache": True, "max_running_requests": 8},
    {"engine": "sglang"},
)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_damaged_configs_give_an_answer_or_a_named_error(shard: int) -> None:
    random_numbers = random.Random(shard)  # noqa: S311 - chosen to repeat, not to be secret
    for _ in range(MUTATIONS // SHARDS):
        config, request = damaged(random_numbers), random_numbers.choice(REQUESTS)
        try:
            problem = complaint(config, dict(request))
        except Exception as error:  # noqa: BLE001 - any exception is the finding
            problem = f"{type(error).__name__}: {error}"
        assert not problem, (problem, json.dumps(config)[:2000], request)
