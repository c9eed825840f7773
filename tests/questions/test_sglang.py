"""The other way round under SGLang's rules: its own flags are looked for, and the forward question proves the answer."""

from fractions import Fraction
from typing import Any

import pytest

from kvcore.catalog import load_models
from kvcore.commandline import engine_command, read_command
from kvcore.errors import InputError, KvcoreError
from kvcore.questions import (
    best_split,
    fewest_gpus,
    iso_concurrency,
    longest_context,
    request_mix,
    smallest_budget,
    smallest_utilization,
    splits,
)
from kvcore.questions.concurrency import most_requests
from kvcore.questions.forward import ask, ask_or_refused, concurrency
from tests.questions.deployment import CONFIG, HEAD_DIM, KV_HEADS, LAYERS

GIB = 1 << 30
BF16_BYTES, KEY_AND_VALUE = 2, 2
TOKEN_BYTES = LAYERS * KV_HEADS * KEY_AND_VALUE * HEAD_DIM * BF16_BYTES
FREE_BEFORE, FREE_AFTER, SHARE = 80, 64, 0.9
DEPLOYMENT: dict[str, Any] = {
    "engine": "sglang",
    "config": CONFIG,
    "available_before_load_gib": FREE_BEFORE,
    "available_after_load_gib": FREE_AFTER,
    "mem_fraction_static": SHARE,
}
POOL_TOKENS = int((FREE_AFTER - FREE_BEFORE * (1 - SHARE)) * GIB) // TOKEN_BYTES
REQUESTS = 10
MODEL = "meta-llama/Llama-3.1-8B-Instruct"
SOME = [entry.id for entry in load_models()][::12]


def held(fields: Any) -> float:
    """Requests at once of a forward question; none where the engine refuses it or nothing fits."""
    report = ask_or_refused(fields)
    return 0.0 if report is None else concurrency(report, "held") or 0.0


def test_the_longest_context_shares_the_pool_of_tokens() -> None:
    solution = longest_context(DEPLOYMENT, REQUESTS)
    assert solution.field == "context_length"
    assert solution.value == POOL_TOKENS // REQUESTS
    assert solution.request["context_length"] == solution.value
    assert [check.enough for check in solution.checks] == [True, False]


def test_the_curve_of_requests_against_context_is_the_same_question() -> None:
    assert iso_concurrency(DEPLOYMENT, [REQUESTS]) == ((REQUESTS, POOL_TOKENS // REQUESTS),)


def test_a_context_among_the_flags_by_name_gives_way_to_the_one_looked_for() -> None:
    flags = {"context_length": 4096, "page_size": 64}
    solution = longest_context({**DEPLOYMENT, "sglang_args": flags}, REQUESTS)
    assert solution.value == POOL_TOKENS // 64 // REQUESTS * 64
    assert solution.request["sglang_args"] == {"page_size": 64}


def test_the_most_requests_of_a_context_are_whole_requests() -> None:
    length = 8192
    solution = most_requests({**DEPLOYMENT, "context_length": length})
    assert solution.value == POOL_TOKENS // length
    assert "max_model_len" not in solution.request


def test_the_smallest_share_gives_the_pool_that_is_needed() -> None:
    length = 8192
    solution = smallest_utilization({**DEPLOYMENT, "context_length": length}, REQUESTS)
    assert solution.field == "mem_fraction_static"
    needed_gib = REQUESTS * length * TOKEN_BYTES / GIB
    thousandths = -(-1000 * (FREE_BEFORE - FREE_AFTER + needed_gib) // FREE_BEFORE)
    assert solution.value == thousandths / 1000
    assert solution.note == ""


def test_what_no_flag_states_is_refused_with_the_question_to_ask_instead() -> None:
    with pytest.raises(InputError, match="no flag that states the cache in bytes"):
        smallest_budget(DEPLOYMENT, REQUESTS)


def test_splits_are_of_sglangs_own_sizes_and_replicas_multiply() -> None:
    fields = {"engine": "sglang", "model": MODEL, "gpu": "H100", "context_length": 8192}
    one = {(item.tensor_parallel_size, item.pipeline_parallel_size): item.per_replica for item in splits(fields, 2)}
    assert held({**fields, "tp_size": 2}) == one[2, 1]
    solution = best_split(fields, 4)
    assert {"tp_size", "pp_size", "dp_size"} <= solution.request.keys()
    assert not any(name.endswith("parallel_size") for name in solution.request)


def test_the_fewest_gpus_hold_the_requests_and_one_gpu_less_does_not() -> None:
    fields = {"engine": "sglang", "model": MODEL, "gpu": "H100", "context_length": 32_768}
    wish = 30
    solution = fewest_gpus(fields, wish)
    assert solution.value is not None
    assert int(held(solution.request)) * solution.request["dp_size"] >= wish
    fewer = [split.concurrency or 0.0 for split in splits(fields, int(solution.value) - 1)]
    assert max(fewer) < wish


def test_groups_of_data_parallel_attention_are_no_replicas() -> None:
    with pytest.raises(InputError, match="enable_dp_attention"):
        splits({**DEPLOYMENT, "enable_dp_attention": True}, 4)


def test_without_a_budget_the_answer_says_so() -> None:
    fields = {"engine": "sglang", "config": CONFIG}
    assert "No budget is known" in longest_context(fields, 1).note
    assert "No budget is known" in most_requests(fields).note
    assert "No budget is known" in fewest_gpus(fields, 1, most=2).note
    assert "No budget is known" in best_split(fields, 2).note


def test_a_mix_is_counted_in_tokens_of_the_pool() -> None:
    short, long = 1000, 7000
    mix = [{"prompt_tokens": short, "weight": 3}, {"prompt_tokens": long, "weight": 1}]
    answer = request_mix({**DEPLOYMENT, "context_length": 8192}, mix)
    assert (answer.usable_blocks, answer.unit) == (POOL_TOKENS, "full tokens")
    assert answer.average == Fraction(POOL_TOKENS * 4, 3 * short + long)
    assert answer.longest * long == POOL_TOKENS


@pytest.mark.parametrize("model", SOME)
def test_the_longest_context_of_a_model_is_enough_and_one_token_more_is_not(model: str) -> None:
    fields = {"engine": "sglang", "model": model, "gpu": "B200", "tp_size": 8}
    try:
        solution = longest_context(fields, REQUESTS)
    except KvcoreError:
        assert held(fields) == 0
        return
    if solution.value is None:
        assert not solution.checks[0].enough
        return
    assert held(solution.request) >= REQUESTS
    if solution.note != "the model's own limit":
        assert held({**solution.request, "context_length": int(solution.value) + 1}) < REQUESTS
    assert read_command(engine_command(solution.request)).request["context_length"] == solution.value


@pytest.mark.parametrize("model", SOME)
def test_a_mix_of_one_length_is_held_as_often_as_the_deployment_says(model: str) -> None:
    length = 2048
    fields = {"engine": "sglang", "model": model, "gpu": "B200", "tp_size": 8, "context_length": length}
    if not held(fields):
        with pytest.raises(KvcoreError):
            request_mix(fields, [{"prompt_tokens": length}])
        return
    report = ask(fields)
    assert report.capacity is not None
    mix = request_mix(fields, [{"prompt_tokens": length}])
    assert float(mix.average) == report.capacity.concurrency.held
    assert mix.average == mix.longest == mix.percentile
