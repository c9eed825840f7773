"""The budget as the engine arrives at it: memory it may use, less weights and what start-up takes."""

import math
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.arithmetic import GIB
from kvcore.catalog.gpus import find_gpu
from kvcore.report.report import Report

MODEL = {"model": "meta-llama/Llama-3.1-8B-Instruct"}
LARGE = {"model": "meta-llama/Llama-3.1-70B-Instruct"}


def ask(**fields: Any) -> Report:
    report = answer({**MODEL, **fields})
    assert report.errors == ()
    return report


def refused(**fields: Any) -> str:
    report = answer({**MODEL, **fields})
    assert len(report.errors) == 1
    return report.errors[0].field


def reserves(report: Report) -> dict[str, int]:
    assert report.budget is not None
    return {reserve.name: reserve.bytes for reserve in report.budget.reserves}


def test_without_gpu_or_budget_nothing_is_estimated() -> None:
    report = ask()

    assert report.budget is not None
    assert (report.budget.kind, report.budget.kv_cache_bytes) == ("unknown", None)


def test_a_gpu_asks_for_an_estimate() -> None:
    report = ask(gpu="H100")

    assert report.budget is not None
    assert report.budget.kind == "estimated"


def test_cache_and_reserves_add_up_to_the_gpu() -> None:
    report = ask(gpu="H200")

    assert report.budget is not None
    assert (report.budget.kv_cache_bytes or 0) + sum(reserves(report).values()) == find_gpu("H200").usable_bytes


def test_the_engine_may_use_the_rounded_up_share() -> None:
    total = find_gpu("H100").usable_bytes or 0

    found = reserves(ask(gpu="H100", gpu_memory_utilization=0.9))["left to the system"]

    assert found == total - math.ceil(total * 0.9)


@pytest.mark.parametrize(("version", "share"), [("0.33.0", 0.92), ("0.19.0", 0.9)])
def test_the_default_share_is_that_of_the_release(version: str, share: float) -> None:
    assert ask(gpu="H100", engine_version=version).inputs["gpu_memory_utilization"].value == share


@pytest.mark.parametrize("field", ["weights_gib", "activation_gib", "cuda_graph_gib", "non_torch_gib"])
def test_every_term_can_be_overridden(field: str) -> None:
    report = ask(gpu="H100", **{field: 3})

    assert report.budget is not None
    given = [reserve for reserve in report.budget.reserves if reserve.kind == "given"]
    assert [reserve.bytes for reserve in given] == [3 * GIB]


def test_a_given_budget_wins_over_every_estimate() -> None:
    report = ask(gpu="H100", gpu_memory_utilization=0.5, weights_gib=20, kv_cache_memory_bytes=10 * GIB)

    assert report.budget is not None
    assert (report.budget.kind, report.budget.kv_cache_bytes) == ("given", 10 * GIB)


def test_tokens_and_concurrency_carry_the_interval() -> None:
    report = ask(gpu="H100")

    assert report.capacity is not None
    interval = report.capacity.interval
    assert interval is not None
    low, high = interval.tokens
    assert low is not None
    assert high is not None
    assert low < (report.capacity.tokens.engine_log or 0) < high


def test_an_estimate_whose_uncertain_terms_are_all_given_has_no_interval() -> None:
    report = ask(gpu="H100", activation_gib=2, cuda_graph_gib=0.3, non_torch_gib=0.2)

    assert report.budget is not None
    assert report.budget.interval_bytes is None


def test_a_gpu_smaller_than_the_weights_does_not_start_and_says_what_would() -> None:
    report = ask(**LARGE, gpu="H100")

    assert report.budget is not None
    assert report.capacity is not None
    assert not report.capacity.fits
    assert report.budget.missing_bytes > 0
    assert report.budget.remedies == ("tensor_parallel_size 4: divides the weights over more GPUs",)
    assert any("does not start" in warning for warning in report.warnings)


def test_the_smallest_change_may_be_a_shorter_context() -> None:
    report = ask(gpu="RTX 4090", max_model_len=131_072)

    assert report.budget is not None
    assert report.budget.remedies[0].startswith("max_model_len")


def test_eager_mode_takes_no_graphs_off() -> None:
    assert reserves(ask(gpu="H100", enforce_eager=True))["CUDA graphs"] == 0


def test_releases_before_0_20_take_no_graphs_off() -> None:
    assert reserves(ask(gpu="H100", engine_version="0.19.0"))["CUDA graphs"] == 0


def test_only_the_last_stage_samples() -> None:
    report = ask(gpu="H100", pipeline_parallel_size=2)

    assert report.budget is not None
    first, last = report.budget.stage_bytes
    assert first > last


def test_weights_of_an_unknown_scheme_are_refused_by_name_and_a_typed_budget_is_answered() -> None:
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
        "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 128,
        "max_position_embeddings": 256, "quantization_config": {"quant_method": "mystery"},
    }  # fmt: skip

    report = answer({"config": config, "kv_cache_memory_bytes": GIB})

    assert report.weights is not None
    assert report.capacity is not None
    assert (report.weights.bytes_per_gpu, report.weights.kind) == (None, "unknown")
    assert report.capacity.tokens.engine_log is not None
    assert any("mystery" in warning for warning in report.warnings)


def test_a_logged_budget_is_said_not_to_hold_elsewhere() -> None:
    warnings = ask(available_kv_cache_gib=10).warnings

    assert any("logged under" in warning and "max_num_batched_tokens" in warning for warning in warnings)


def test_data_parallel_figures_are_per_rank_and_over_all_ranks() -> None:
    report = ask(available_kv_cache_gib=20, data_parallel_size=4)

    assert report.capacity is not None
    assert report.capacity.tokens_all_ranks == 4 * (report.capacity.tokens.engine_log or 0)
    assert any("data-parallel ranks" in warning for warning in report.warnings)


@pytest.mark.parametrize("utilization", [0, -0.1, 1.01])
def test_a_share_outside_the_card_is_refused(utilization: float) -> None:
    assert refused(gpu="H100", gpu_memory_utilization=utilization) == "gpu_memory_utilization"


@pytest.mark.parametrize("field", ["weights_gib", "activation_gib", "cuda_graph_gib", "non_torch_gib"])
def test_an_override_larger_than_the_card_is_refused(field: str) -> None:
    assert refused(gpu="RTX 4090", **{field: 25}) == field


def test_a_gpu_without_figure_is_refused_by_name() -> None:
    assert refused(gpu="Trainium2") == "gpu"


def test_a_split_the_architecture_cannot_take_is_refused() -> None:
    assert (
        answer({"model": "microsoft/phi-4", "gpu": "H100", "tensor_parallel_size": 8}).errors[0].field
        == "tensor_parallel_size"
    )


def test_an_unknown_gpu_may_be_typed() -> None:
    report = ask(gpu_memory_gib=64)

    assert report.inputs["gpu_memory_gib"].origin == "given"
    assert sum(reserves(report).values()) + (report.budget.kv_cache_bytes or 0 if report.budget else 0) == 64 * GIB
