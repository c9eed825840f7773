"""A log altered by one cause alone is diagnosed as that cause first."""

from collections.abc import Mapping
from typing import Any

import pytest

from kvcore.reconcile.reader import read_log_text
from kvcore.reconcile.reconcile import reconcile
from tests.reconcile.log_lines import vllm_log

Request = Mapping[str, Any]

DENSE: Request = {"model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "H100", "max_model_len": 32768}
WINDOWS: Request = {"model": "google/gemma-3-27b-it", "gpu": "H100", "max_model_len": 32768}
STATES: Request = {"model": "Qwen/Qwen3.6-27B", "gpu": "H100", "max_model_len": 32768}
LATENT: Request = {
    "model": "deepseek-ai/DeepSeek-V2-Lite",
    "gpu": "H100",
    "max_model_len": 32768,
    "tensor_parallel_size": 2,
}
NO_FLAGS = "non-default args: {'max_model_len': 32768}"

CAUSES: tuple[tuple[str, Request, Request, str], ...] = (
    ("kv_cache_dtype", DENSE, {"kv_cache_dtype": "fp8"}, ""),
    ("hidden_quantization", DENSE, {"kv_cache_dtype": "fp8"}, NO_FLAGS),
    ("block_size", {**DENSE, "max_model_len": 32100}, {"block_size": 128}, ""),
    ("in_flight", WINDOWS, {"max_num_batched_tokens": 2048}, ""),
    ("prefix_caching", STATES, {"enable_prefix_caching": False}, ""),
    ("hybrid_manager", WINDOWS, {"disable_hybrid_kv_cache_manager": True}, ""),
    ("tensor_parallel", DENSE, {"tensor_parallel_size": 4}, ""),
    ("tensor_parallel", DENSE, {"tensor_parallel_size": 16}, ""),
    ("speculative", STATES, {"speculative_config": {"method": "mtp", "num_speculative_tokens": 3}}, ""),
    ("engine_version", STATES, {"engine_version": "0.19.1"}, ""),
    ("engine_version", WINDOWS, {"engine_version": "0.13.0"}, ""),
    ("engine_version", {**DENSE, "max_model_len": 32100}, {"engine_version": "0.19.1"}, ""),
)
"""Cause, deployment as asked, what really ran, and a further line of the log.

Sixteen ranks of eight KV heads hold copies of them.
"""


@pytest.mark.parametrize(
    ("key", "asked", "altered", "extra"), CAUSES, ids=[f"{row[0]} {row[1]['model']} {row[2]}" for row in CAUSES]
)
def test_a_log_altered_by_one_cause_is_diagnosed_as_that_cause_first(
    key: str, asked: Request, altered: Request, extra: str
) -> None:
    found = reconcile(read_log_text(vllm_log({**asked, **altered}, extra=extra)), asked)

    assert found.verdict == "explained"
    assert found.diagnoses[0].key == key


def test_weights_tell_more_ranks_from_a_smaller_dtype() -> None:
    two_ranks = {**DENSE, "tensor_parallel_size": 2}
    halves = "Model loading took 7.51 GiB memory and 2.0 seconds"

    found = reconcile(read_log_text(vllm_log(two_ranks, extra=halves)), DENSE)

    assert [item.key for item in found.diagnoses][:1] == ["tensor_parallel"]


def test_the_budget_of_another_worker_is_tried() -> None:
    log = "(Worker_PP1 pid=2) Available KV cache memory: 41.50 GiB\n" + vllm_log(DENSE)

    found = reconcile(read_log_text(log), {**DENSE, "pipeline_parallel_size": 1})

    assert found.diagnoses[0].key == "another_rank"


def test_the_least_budget_of_the_workers_that_share_a_cache_counts() -> None:
    more = "(Worker_TP0 pid=2) Available KV cache memory: 41.50 GiB\n"
    later = "(Worker_TP1 pid=3) Available KV cache memory: 12.00 GiB\n"

    found = reconcile(read_log_text(more + vllm_log(DENSE) + later), {**DENSE, "tensor_parallel_size": 1})

    assert found.verdict == "equal"


def test_the_budget_of_another_data_parallel_group_does_not_count() -> None:
    other = "(EngineCore_DP1 pid=2) Available KV cache memory: 12.00 GiB\n"
    own = vllm_log(DENSE).replace("EngineCore pid", "EngineCore_DP0 pid")

    found = reconcile(read_log_text(other + own), DENSE)

    assert found.verdict == "equal"


def test_a_budget_with_fewer_digits_agrees_within_its_rounding() -> None:
    log = vllm_log(DENSE).replace("39.97 GiB", "40.0 GiB")

    found = reconcile(read_log_text(log), DENSE)

    assert found.verdict == "within_rounding"
    assert found.diagnoses[0].key == "rounding"


def test_a_budget_in_decimal_gigabytes_is_named() -> None:
    gib_of_20_gb = "18.63"
    log = vllm_log(DENSE, gib=gib_of_20_gb).replace("18.63 GiB", "20.00 GiB")

    found = reconcile(read_log_text(log), DENSE)

    assert "rounding" in [item.key for item in found.diagnoses]


def test_a_log_that_agrees_needs_no_cause() -> None:
    found = reconcile(read_log_text(vllm_log(DENSE)), DENSE)

    assert found.verdict == "equal"
    assert found.diagnoses == ()


def test_where_nothing_closes_the_gap_the_layout_is_doubted_and_no_figure_is_changed() -> None:
    log = vllm_log(DENSE).replace("GPU KV cache size: 3", "GPU KV cache size: 1")
    honest = reconcile(read_log_text(vllm_log(DENSE)), DENSE)

    found = reconcile(read_log_text(log), DENSE)

    assert found.verdict == "unexplained"
    assert not any(item.closes for item in found.diagnoses)
    assert found.prediction is not None
    assert honest.prediction is not None
    assert [row.predicted for row in found.prediction.rows] == [row.predicted for row in honest.prediction.rows]


def test_a_cause_that_the_log_contradicts_comes_after_those_it_does_not() -> None:
    stated = "non-default args: {'max_model_len': 32768, 'kv_cache_dtype': 'bfloat16'}"
    found = reconcile(read_log_text(vllm_log({**DENSE, "tensor_parallel_size": 2}, extra=stated)), DENSE)

    dtype = next(item for item in found.diagnoses if item.key == "kv_cache_dtype")

    assert dtype.contradicts == ("kv_cache_dtype",)
    assert found.diagnoses.index(dtype) > 0


def test_a_cause_behind_a_release_that_the_log_does_not_print_is_found_with_it() -> None:
    older = {**WINDOWS, "engine_version": "0.19.1", "max_num_batched_tokens": 4096}

    found = reconcile(read_log_text(vllm_log(older)), WINDOWS)

    assert found.diagnoses[0].key == "in_flight"
    assert found.diagnoses[0].changes == {"engine_version": "0.19.0", "max_num_batched_tokens": 4096}


def test_a_log_that_says_its_ranks_share_the_tokens_agrees() -> None:
    shared = {**LATENT, "decode_context_parallel_size": 2}
    said = "INFO [kv_cache_utils.py:1] Multiplying the GPU KV cache size by the dcp_world_size 2."

    found = reconcile(read_log_text(vllm_log(shared, extra=said)), LATENT)

    assert found.verdict == "equal"
