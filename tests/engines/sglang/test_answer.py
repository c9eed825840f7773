"""The report of a question to SGLang: its fields, its refusals, and what it says about itself."""

import pytest

from kvcore.answer import answer
from tests.engines.sglang.questions import DENSE, HYBRID, SPARSE, WINDOWED, ask, capacity_of, refused_field

FREE = {"available_before_load_gib": 20, "available_after_load_gib": 16}


def test_without_free_memory_the_report_says_what_to_give() -> None:
    report = ask(DENSE)

    assert report.capacity is not None
    assert report.capacity.tokens.engine_log is None
    assert any("available_before_load_gib" in warning for warning in report.warnings)


def test_only_one_figure_of_the_free_memory_is_refused() -> None:
    assert refused_field(DENSE, available_before_load_gib=20) == "available_after_load_gib"


def test_weights_stand_in_for_the_free_memory_after_the_load() -> None:
    with_weights = ask(DENSE, available_before_load_gib=20, weights_gib=4)

    assert with_weights.capacity == ask(DENSE, **FREE).capacity


def test_weights_larger_than_the_static_share_are_refused_with_the_share_needed() -> None:
    report = answer({"engine": "sglang", "config": DENSE, **FREE, "mem_fraction_static": 0.1})

    assert report.errors[0].field == "mem_fraction_static"
    assert "0.2000" in report.errors[0].remedy


def test_the_reserves_and_the_pools_add_up_to_the_memory_before_the_load() -> None:
    budget = ask(DENSE, **FREE).budget
    assert budget is not None
    assert budget.kv_cache_bytes is not None

    total = budget.kv_cache_bytes + sum(reserve.bytes for reserve in budget.reserves)

    assert abs(total - (20 << 30)) <= len(budget.reserves)


def test_flags_may_stand_in_sglang_args() -> None:
    flags = {"disable_radix_cache": True, "max_running_requests": 16}

    assert ask(HYBRID, **FREE, sglang_args=flags).capacity == ask(HYBRID, **FREE, **flags).capacity


def test_an_unknown_flag_in_sglang_args_is_named() -> None:
    assert refused_field(DENSE, sglang_args={"no_such_flag": 1}) == "no_such_flag"


@pytest.mark.parametrize(
    ("field", "value"),
    [("tensor_parallel_size", 2), ("gpu_memory_utilization", 0.9), ("kv_cache_memory_bytes", 1 << 30)],
)
def test_settings_of_vllm_are_refused_rather_than_ignored(field: str, value: object) -> None:
    assert refused_field(DENSE, **{field: value}) == field


def test_an_architecture_sglang_has_no_class_for_is_refused() -> None:
    assert refused_field({**DENSE, "architectures": ["FalconForCausalLM"], "model_type": "falcon"}) == "architectures"


def test_a_context_longer_than_the_model_s_is_refused() -> None:
    assert refused_field(DENSE, context_length=1 << 20) == "context_length"


def test_attention_ranks_that_do_not_divide_the_heads_are_refused() -> None:
    assert refused_field(DENSE, tp_size=3) == "tp_size"


def test_attention_groups_must_divide_the_ranks() -> None:
    assert refused_field(DENSE, tp_size=4, dp_size=3, enable_dp_attention=True) == "dp_size"


def test_the_fused_weights_of_mimo_allow_no_more_ranks_than_kv_heads() -> None:
    fused = {
        **DENSE,
        "architectures": ["MiMoV2ForCausalLM"],
        "model_type": "mimo_v2",
        "attention_projection_layout": "fused_qkv",
        "hybrid_layer_pattern": [0, 1, 1, 1],
        "sliding_window": 128,
        "sliding_window_size": 128,
        "v_head_dim": 32,
        "swa_num_key_value_heads": 8,
        "swa_num_attention_heads": 16,
        "swa_head_dim": 64,
        "swa_v_head_dim": 32,
    }

    assert refused_field(fused, tp_size=8) == "tp_size"
    assert ask(fused, tp_size=8, dp_size=2, enable_dp_attention=True).errors == ()


@pytest.mark.parametrize(
    ("config", "gpu", "backend", "tokens"),
    [
        (DENSE, "H100", "fa3", 1),
        (DENSE, "L4", "flashinfer", 1),
        (DENSE, "B200", "trtllm_mha", 64),
        (WINDOWED, "L4", "triton", 1),
        (WINDOWED, "B200", "trtllm_mha", 64),
        (HYBRID, "B200", "triton", 1),
        (SPARSE, "H100", "dsa", 64),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_backend_and_pages_follow_model_and_gpu(config: dict[str, object], gpu: str, backend: str, tokens: int) -> None:
    inputs = ask(config, gpu=gpu).inputs

    assert (inputs["attention_backend"].value, inputs["page_size"].value) == (backend, tokens)


def test_flashmla_reads_pages_of_64_tokens() -> None:
    assert ask(DENSE, attention_backend="flashmla", page_size=16).inputs["page_size"].value == 64


def test_drafts_run_48_requests_where_none_are_asked_for() -> None:
    drafts = {"speculative_algorithm": "EAGLE3", "speculative_draft_config": {**DENSE, "num_hidden_layers": 1}}

    assert capacity_of(DENSE, **drafts).max_running_requests == 48


def test_a_drafter_that_is_not_known_is_assumed_to_have_one_layer_and_the_report_says_so() -> None:
    report = ask(DENSE, speculative_algorithm="EAGLE3", speculative_draft_model_path="someone/a-head")

    assert any("one layer is assumed" in warning for warning in report.warnings)


def test_branches_without_steps_are_refused() -> None:
    assert refused_field(DENSE, speculative_algorithm="EAGLE", speculative_eagle_topk=2) == "speculative_num_steps"


def test_draft_settings_without_an_algorithm_are_refused() -> None:
    assert refused_field(DENSE, speculative_num_steps=3) == "speculative_num_steps"


@pytest.mark.parametrize("config", [DENSE, WINDOWED, HYBRID, SPARSE], ids=["dense", "windowed", "hybrid", "sparse"])
def test_every_step_of_the_derivation_names_its_source(config: dict[str, object]) -> None:
    steps = ask(config, **FREE).derivation

    assert {"capacity.tokens.engine_log", "capacity.max_running_requests", "capacity.concurrency.held"} <= {
        step.path for step in steps
    }
    assert all(step.formula and step.substituted and step.source for step in steps)


@pytest.mark.parametrize("config", [DENSE, WINDOWED, HYBRID, SPARSE], ids=["dense", "windowed", "hybrid", "sparse"])
def test_the_pools_stay_within_the_memory_for_them(config: dict[str, object]) -> None:
    report = ask(config, **FREE)

    assert report.capacity is not None
    assert report.budget is not None
    assert report.budget.kv_cache_bytes is not None
    assert sum(pool.bytes for pool in report.capacity.pools) <= report.budget.kv_cache_bytes


def test_a_gpu_alone_gives_an_estimate_that_says_so() -> None:
    report = ask({**DENSE, "intermediate_size": 4096, "vocab_size": 32_000}, gpu="H100")

    assert report.budget is not None
    assert report.budget.kind == "estimated"
    assert report.budget.interval_bytes is not None
    assert report.budget.kv_cache_bytes is not None
    assert report.budget.interval_bytes[0] < report.budget.kv_cache_bytes < report.budget.interval_bytes[1]


def test_an_estimate_that_leaves_no_room_answers_the_layout_and_warns() -> None:
    report = ask({**DENSE, "num_hidden_layers": 400, "intermediate_size": 65_536, "vocab_size": 32_000}, gpu="T4")

    assert report.capacity is not None
    assert report.capacity.tokens.engine_log is None
    assert report.capacity.fits is False
    assert report.capacity.objection is not None
    assert "does not start" in report.capacity.objection
    assert report.capacity.objection in report.warnings


def test_without_free_memory_nothing_is_known_to_fit() -> None:
    report = ask(DENSE)

    assert report.capacity is not None
    assert report.capacity.fits is None
    assert report.capacity.objection is None


SIZED = {**DENSE, "intermediate_size": 4096, "vocab_size": 32_000}


def test_an_estimate_takes_the_drafter_inside_the_checkpoint_off_too() -> None:
    hidden, heads, kv_heads, head, intermediate, half = 1024, 16, 4, 64, 4096, 2
    qkv = (heads + 2 * kv_heads) * head
    attention = hidden * qkv + qkv + heads * head * hidden  # queries, keys and values have biases
    fusion, feed_forward, norms = 2 * hidden * hidden, 3 * hidden * intermediate, 5 * hidden
    drafting = {**SIZED, "architectures": ["MiMoForCausalLM"], "model_type": "mimo", "num_nextn_predict_layers": 1}

    with_drafts = ask(drafting, gpu="H100", speculative_algorithm="NEXTN")
    without = ask(drafting, gpu="H100")

    assert with_drafts.weights is not None
    assert without.weights is not None
    assert with_drafts.weights.drafter_bytes == (attention + feed_forward + norms + fusion) * half
    assert with_drafts.budget is not None
    assert with_drafts.budget.kind == "estimated"
    assert with_drafts.weights.loaded_bytes is not None
    assert without.weights.loaded_bytes is not None
    assert with_drafts.weights.loaded_bytes - without.weights.loaded_bytes == with_drafts.weights.drafter_bytes


def test_no_memory_is_estimated_beside_a_drafter_of_unknown_weight() -> None:
    report = ask(SIZED, gpu="H100", speculative_algorithm="EAGLE3", speculative_draft_model_path="someone/head")

    assert report.capacity is not None
    assert report.capacity.tokens.engine_log is None
    assert any("what this drafter weighs" in warning for warning in report.warnings)
