"""Each switch of the profiles changes the figure it is said to change, by numbers worked out here."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.catalog.gpus import find_gpu
from kvcore.engines.vllm.grouping import PlannedLayer, group_layers
from kvcore.engines.vllm.profiles import find_profile
from kvcore.engines.vllm.specs import FullAttentionSpec, LayerSpec, SlidingWindowSpec
from kvcore.engines.vllm.store import StoreContext, store
from kvcore.errors import EngineRefusal
from kvcore.layout.cache import SlidingWindowCache
from kvcore.report.report import Report

GIB = 1 << 30
BUDGET = 4 * GIB
LENGTH = 8192
BATCH = 2048
BLOCK = 16
WINDOW = 1024
ENTRY = 2 * 128 * 2 * 2
"""KV heads × head size × (key and value) × bytes of bfloat16: 1,024."""
PAGE = BLOCK * ENTRY

FULL_BLOCKS = LENGTH // BLOCK
WINDOW_BLOCKS = math.ceil((WINDOW - 1 + BATCH) / BLOCK) + 1
WINDOW_BLOCKS_OF_TWO_BATCHES = math.ceil((WINDOW - 1 + 2 * BATCH) / BLOCK) + 1

DENSE: Mapping[str, Any] = {
    "hidden_size": 1024, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 128, "vocab_size": 1024,
    "intermediate_size": 1024, "max_position_embeddings": LENGTH, "torch_dtype": "bfloat16",
}  # fmt: skip


def windows(sliding: int, full: int) -> dict[str, Any]:
    """A Gemma 3 decoder with layers that slide, then layers that keep every token."""
    return {
        **DENSE,
        "architectures": ["Gemma3ForCausalLM"],
        "model_type": "gemma3_text",
        "num_hidden_layers": sliding + full,
        "sliding_window": WINDOW,
        "layer_types": ["sliding_attention"] * sliding + ["full_attention"] * full,
    }


def nemotron(**more: Any) -> dict[str, Any]:
    """A Nemotron-H hybrid: one Mamba-2 layer and one attention layer."""
    return {
        **DENSE, "architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "num_hidden_layers": 2,
        "hybrid_override_pattern": "M*", "mamba_num_heads": 16, "mamba_head_dim": 64, "n_groups": 2, "ssm_state_size": 128,
        "conv_kernel": 4, "chunk_size": 128, **more,
    }  # fmt: skip


LATENT: Mapping[str, Any] = {
    **DENSE, "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "num_hidden_layers": 2,
    "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "q_lora_rank": 256,
}  # fmt: skip
DELTA_NET: Mapping[str, Any] = {
    **DENSE, "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_hidden_layers": 4,
    "linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4, "full_attention_interval": 4,
}  # fmt: skip
CHUNKED: Mapping[str, Any] = {
    **DENSE, "architectures": ["Llama4ForCausalLM"], "model_type": "llama4_text", "num_hidden_layers": 4,
    "attention_chunk_size": 1024, "no_rope_layers": [1, 1, 1, 0],
}  # fmt: skip
LLAMA: Mapping[str, Any] = {
    **DENSE, "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2,
}  # fmt: skip
MIXTURE: Mapping[str, Any] = {
    **DENSE, "architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "num_hidden_layers": 2,
    "num_local_experts": 8,
}  # fmt: skip


def report(config: Mapping[str, Any], release: str, **more: Any) -> Report:
    """The answer of a release."""
    fields = {"max_model_len": LENGTH, "max_num_batched_tokens": BATCH, "kv_cache_memory_bytes": BUDGET, **more}
    found = answer({"config": config, "engine_version": release, **fields})
    assert found.errors == ()
    return found


def blocks(config: Mapping[str, Any], release: str, **more: Any) -> list[int]:
    """Blocks one request is charged, group by group."""
    plan = report(config, release, **more).plan
    assert plan is not None
    return [group.blocks_per_request for group in plan.groups]


def block_size(config: Mapping[str, Any], release: str, **more: Any) -> int | None:
    """Tokens per block."""
    plan = report(config, release, **more).plan
    assert plan is not None
    return plan.block_size


def refused(config: Mapping[str, Any], release: str, **more: Any) -> str:
    """Field of the error a release answers with."""
    (error,) = answer({"config": config, "engine_version": release, **more}).errors
    return error.field


def test_tokens_are_blocks_per_group_up_to_0_20_0_and_concurrency_times_length_after() -> None:
    groups, layers_per_group = 2, 2
    pool = BUDGET // (layers_per_group * PAGE)
    concurrency = pool / (WINDOW_BLOCKS + FULL_BLOCKS)

    older, newer = report(windows(2, 2), "0.20.0").capacity, report(windows(2, 2), "0.20.1").capacity

    assert older is not None
    assert newer is not None
    assert older.tokens.engine_log == pool // groups * BLOCK
    assert newer.tokens.engine_log == int(concurrency * LENGTH)


def test_windows_keep_one_batch_up_to_0_25_and_every_batch_in_flight_from_0_26() -> None:
    assert blocks(windows(2, 2), "0.25.1") == [WINDOW_BLOCKS, FULL_BLOCKS]
    assert blocks(windows(2, 2), "0.26.0") == [WINDOW_BLOCKS_OF_TWO_BATCHES, FULL_BLOCKS]


@pytest.mark.parametrize(
    ("release", "sliding", "full", "groups"),
    [
        ("0.11.2", 10, 12, 3),  # groups of 10: 10 sliding, 6 full, 6 full
        ("0.12.0", 10, 12, 2),  # 12 < 1.25 × 10: groups of 12
        ("0.17.0", 10, 14, 3),  # 14 ≥ 1.25 × 10
        ("0.18.0", 10, 14, 2),  # 14 < 1.5 × 10
        ("0.33.0", 10, 15, 3),  # 15 ≥ 1.5 × 10
    ],
)
def test_groups_are_as_large_as_the_larger_count_below_a_ratio_that_grew(
    release: str, sliding: int, full: int, groups: int
) -> None:
    assert len(blocks(windows(sliding, full), release)) == groups


@pytest.mark.parametrize(
    ("release", "needed"),
    [
        ("0.13.0", (2 * WINDOW_BLOCKS + 3 * FULL_BLOCKS) * PAGE),  # five layers by themselves
        ("0.16.0", WINDOW_BLOCKS * 2 * PAGE),  # the first group, two layers wide
        ("0.18.0", WINDOW_BLOCKS * 2 * PAGE),
        ("0.19.0", (WINDOW_BLOCKS + 2 * FULL_BLOCKS) * 2 * PAGE),  # three groups, two layers wide
        ("0.33.0", (WINDOW_BLOCKS_OF_TWO_BATCHES + 2 * FULL_BLOCKS) * 2 * PAGE),
    ],
)
def test_the_fit_check_charges_layers_then_the_first_group_then_all_groups(release: str, needed: int) -> None:
    capacity = report(windows(2, 3), release).capacity

    assert capacity is not None
    assert capacity.needed_bytes == needed


@pytest.mark.parametrize(("release", "layers"), [("0.13.0", 2), ("0.16.0", 4), ("0.17.0", 2)])
def test_the_first_group_was_charged_with_the_layers_of_every_stage_up_to_0_16(release: str, layers: int) -> None:
    two_stages = {"pipeline_parallel_size": 2, "kv_cache_memory_bytes": [BUDGET, BUDGET]}

    capacity = report({**LLAMA, "num_hidden_layers": 4}, release, **two_stages).capacity

    assert capacity is not None
    assert capacity.needed_bytes == FULL_BLOCKS * layers * PAGE


def planned(number: int, spec: LayerSpec) -> PlannedLayer:
    """A layer of its own part."""
    return PlannedLayer(part=str(number), layer_index=number, stage=0, spec=spec)


def mixed(window_heads: int, full_heads: int) -> list[PlannedLayer]:
    """A window layer and a full one whose heads differ, so that their pages do."""
    common: dict[str, Any] = {
        "block_size": BLOCK, "head_size": 128, "head_size_v": 128, "dtype": "bfloat16", "dtype_bytes": 2
    }  # fmt: skip
    window = SlidingWindowSpec(sliding_window=WINDOW, num_kv_heads=window_heads, **common)
    return [planned(0, window), planned(1, FullAttentionSpec(num_kv_heads=full_heads, **common))]


def test_layers_whose_pages_differ_are_refused_up_to_0_11_and_get_larger_blocks_from_0_12() -> None:
    double = mixed(window_heads=2, full_heads=1)

    with pytest.raises(EngineRefusal, match="whose pages differ"):
        group_layers(double, profile=find_profile("0.11.2"))
    window, full = group_layers(double, profile=find_profile("0.12.0"))
    assert (window.block_size, full.block_size) == (BLOCK, 2 * BLOCK)


def test_pages_that_are_no_multiple_are_padded_from_0_24() -> None:
    uneven = mixed(window_heads=3, full_heads=2)
    largest = 3 * BLOCK * 128 * 2 * 2

    with pytest.raises(EngineRefusal, match="beside pages of"):
        group_layers(uneven, profile=find_profile("0.23.0"))
    _, full = group_layers(uneven, profile=find_profile("0.24.0"))
    assert (full.block_size, full.page_size_bytes) == (BLOCK, largest)


@pytest.mark.parametrize(("release", "tokens"), [("0.24.0", 64), ("0.25.0", 16), ("0.29.0", 16), ("0.30.0", 64)])
def test_window_layers_start_from_the_smallest_block_from_0_25_to_0_29(release: str, tokens: int) -> None:
    context = StoreContext(
        gpu=find_gpu("H100"), tensor_parallel_size=1, block_size=64, dtype="bfloat16", kv_cache_dtype="auto",
        profile=find_profile(release),
    )  # fmt: skip
    cache = SlidingWindowCache(name="window", num_kv_heads=2, head_size=128, head_size_v=128, sliding_window=WINDOW)

    assert store(cache, context).spec.block_size == tokens


def test_the_fit_check_sets_one_block_aside_from_0_29() -> None:
    layers = 2
    exact = FULL_BLOCKS * layers * PAGE

    older = report(LLAMA, "0.28.0", kv_cache_memory_bytes=exact).capacity
    newer = report(LLAMA, "0.29.0", kv_cache_memory_bytes=exact).capacity

    assert older is not None
    assert newer is not None
    assert older.fits
    assert not newer.fits
    assert newer.max_model_len_that_fits == LENGTH - BLOCK


def test_an_override_of_blocks_replaces_the_memory_of_the_fit_check_from_0_20_1() -> None:
    too_small = PAGE
    override = {"kv_cache_memory_bytes": too_small, "num_gpu_blocks_override": 2 * FULL_BLOCKS}

    older, newer = report(LLAMA, "0.20.0", **override).capacity, report(LLAMA, "0.20.1", **override).capacity

    assert older is not None
    assert newer is not None
    assert not older.fits
    assert newer.fits
    assert newer.num_gpu_blocks == 2 * FULL_BLOCKS


def test_the_length_is_fitted_from_0_14() -> None:
    assert refused(LLAMA, "0.13.0", max_model_len=-1) == "max_model_len"
    assert answer({"config": LLAMA, "engine_version": "0.14.0", "max_model_len": -1}).errors == ()


CONV_BYTES = (4 - 1) * (16 * 64 + 2 * 2 * 128) * 2
SSM_ELEMENTS = 16 * 64 * 128
STATE_BYTES_HALF, STATE_BYTES_FLOAT = CONV_BYTES + SSM_ELEMENTS * 2, CONV_BYTES + SSM_ELEMENTS * 4


@pytest.mark.parametrize(
    ("release", "declared", "state_bytes"),
    [
        ("0.12.0", "float32", STATE_BYTES_HALF),
        ("0.13.0", "float32", STATE_BYTES_FLOAT),
        ("0.19.1", None, STATE_BYTES_HALF),
        ("0.20.0", None, STATE_BYTES_FLOAT),
    ],
)
def test_nemotron_h_keeps_its_state_as_declared_from_0_13_and_in_float32_by_default_from_0_20(
    release: str, declared: str | None, state_bytes: int
) -> None:
    config = nemotron(mamba_ssm_cache_dtype=declared) if declared else nemotron()

    layout = report(config, release, enable_prefix_caching=False).layout

    assert layout is not None
    assert layout.bytes_per_request == state_bytes


def test_hybrids_keep_prefixes_by_default_from_0_26() -> None:
    assert report(DELTA_NET, "0.25.1").inputs["enable_prefix_caching"].value is False
    assert report(DELTA_NET, "0.26.0").inputs["enable_prefix_caching"].value is True


def test_a_class_that_cannot_keep_states_switches_prefix_caching_off_up_to_0_14() -> None:
    def kept(release: str, config: Mapping[str, Any]) -> object:
        return report(config, release, enable_prefix_caching=True).inputs["enable_prefix_caching"].value

    assert not kept("0.11.0", nemotron())
    assert kept("0.11.2", nemotron())
    assert not kept("0.14.1", DELTA_NET)
    assert kept("0.15.0", DELTA_NET)


def every_block(state_bytes: int) -> int:
    """Blocks of a request where a state is kept for each: as long as whole chunks of 128 tokens that hold one state."""
    tokens = 128 * math.ceil(state_bytes / (128 * ENTRY))
    return math.ceil(LENGTH / tokens)


@pytest.mark.parametrize(
    ("release", "states"),
    [
        ("0.11.0", 1),
        ("0.11.2", every_block(STATE_BYTES_HALF)),
        ("0.16.0", every_block(STATE_BYTES_HALF)),
        ("0.27.0", every_block(STATE_BYTES_FLOAT)),
        ("0.28.0", 2),
        ("0.31.0", 2),
        ("0.32.0", 2 + 1),
    ],
)
def test_a_mamba_class_keeps_a_state_for_every_block_from_0_11_1_to_0_27(release: str, states: int) -> None:
    assert blocks(nemotron(), release, enable_prefix_caching=True)[0] == states


@pytest.mark.parametrize(
    ("release", "states"), [("0.14.1", 1), ("0.15.0", 2), ("0.27.0", 2), ("0.32.0", 2), ("0.33.0", 2 + 1)]
)
def test_a_delta_net_keeps_its_last_states_from_0_15_and_one_more_for_its_prefill_from_0_33(
    release: str, states: int
) -> None:
    assert blocks(DELTA_NET, release, enable_prefix_caching=True)[0] == states


@pytest.mark.parametrize(("release", "drafts"), [("0.14.1", 0), ("0.15.0", 3), ("0.33.0", 3)])
def test_states_for_speculative_tokens_are_charged_from_0_15(release: str, drafts: int) -> None:
    speculative = {"method": "ngram", "num_speculative_tokens": 3}

    charged = blocks(DELTA_NET, release, enable_prefix_caching=False, speculative_config=speculative)

    assert charged[0] == 1 + drafts


def test_the_last_states_and_drafts_do_not_go_together_in_0_15_and_0_16() -> None:
    both = {
        "enable_prefix_caching": True,
        "speculative_config": {"method": "ngram", "num_speculative_tokens": 3},
        "max_model_len": LENGTH,
    }

    assert refused(DELTA_NET, "0.16.0", **both) == "enable_prefix_caching"
    assert blocks(DELTA_NET, "0.17.0", **both)[0] == 2 + 3


def test_the_mode_of_states_can_be_chosen_from_0_15_to_0_31() -> None:
    asked = {"enable_prefix_caching": True, "mamba_cache_mode": "all"}

    assert refused(nemotron(), "0.14.1", **asked) == "mamba_cache_mode"
    assert blocks(nemotron(), "0.31.0", **asked)[0] == every_block(STATE_BYTES_FLOAT)
    assert refused(nemotron(), "0.32.0", **asked) == "mamba_cache_mode"


def test_chunks_are_charged_as_full_attention_up_to_0_13() -> None:
    chunk_blocks = math.ceil((1024 + BATCH) / BLOCK)

    assert blocks(CHUNKED, "0.13.0") == [FULL_BLOCKS]
    assert sorted(blocks(CHUNKED, "0.14.0")) == sorted([chunk_blocks] * 3 + [FULL_BLOCKS])
    assert sorted(blocks(CHUNKED, "0.13.0", disable_hybrid_kv_cache_manager=False)) == sorted(
        [chunk_blocks] * 3 + [FULL_BLOCKS]
    )


@pytest.mark.parametrize(
    ("release", "gpu", "kv_cache_dtype", "tokens"),
    [
        ("0.17.0", "H100", "auto", 64),
        ("0.18.0", "H100", "auto", 16),
        ("0.17.0", "H100", "fp8", 64),
        ("0.18.0", "H100", "fp8", 64),
        ("0.14.0", "B200", "auto", 128),
        ("0.15.0", "B200", "auto", 64),
        ("0.17.0", "A100", "auto", 16),
    ],
)
def test_the_platform_sets_the_block_of_latents_up_to_0_17(
    release: str, gpu: str, kv_cache_dtype: str, tokens: int
) -> None:
    assert block_size(LATENT, release, gpu=gpu, kv_cache_dtype=kv_cache_dtype) == tokens


KIMI: Mapping[str, Any] = {
    **DENSE, "architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear", "num_hidden_layers": 2,
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "mla_use_nope": True,
    "linear_attn_config": {
        "full_attn_layers": [2], "kda_layers": [1], "head_dim": 128, "num_heads": 8, "short_conv_kernel_size": 4,
    },
}  # fmt: skip
KIMI_STATE = 3 * (4 - 1) * 8 * 128 * 2 + 8 * 128 * 128 * 4
LATENT_ENTRY = (512 + 64) * 2


@pytest.mark.parametrize(("release", "multiple"), [("0.19.0", 64), ("0.20.0", 16), ("0.26.0", 16), ("0.27.0", 128)])
def test_blocks_of_hybrids_with_latents_are_raised_in_multiples_of_64_then_16_then_128(
    release: str, multiple: int
) -> None:
    raised = multiple * math.ceil(KIMI_STATE / (multiple * LATENT_ENTRY))

    assert block_size(KIMI, release, enable_prefix_caching=False) == raised


def test_very_large_gpus_have_a_batch_default_of_their_own_from_0_28() -> None:
    def default(release: str) -> object:
        return answer({"config": LLAMA, "engine_version": release, "gpu": "B200"}).inputs["max_num_batched_tokens"].value

    assert default("0.27.1") == 8192
    assert default("0.28.0") == 16_384


def test_the_engine_schedules_ahead_from_0_14() -> None:
    assert report(LLAMA, "0.13.0").inputs["async_scheduling"].value is False
    assert report(LLAMA, "0.14.0").inputs["async_scheduling"].value is True


def test_0_16_alone_does_not_schedule_ahead_where_states_are_kept() -> None:
    def ahead(release: str) -> object:
        return report(DELTA_NET, release, enable_prefix_caching=True).inputs["async_scheduling"].value

    assert [ahead(release) for release in ("0.15.0", "0.16.0", "0.17.0")] == [True, False, True]


@pytest.mark.parametrize(
    ("release", "config", "batches"),
    [("0.28.0", LLAMA, 2 + 1), ("0.28.0", MIXTURE, 2), ("0.28.0", DELTA_NET, 2), ("0.29.0", MIXTURE, 2 + 1)],
)
def test_one_more_batch_is_in_flight_over_stages_on_the_v2_runner(
    release: str, config: Mapping[str, Any], batches: int
) -> None:
    in_flight = report(config, release, pipeline_parallel_size=2).inputs["max_in_flight_tokens"].value

    assert in_flight == batches * BATCH


def test_the_default_share_of_gpu_memory_grew_in_0_20_which_takes_cuda_graphs_off() -> None:
    older, newer = find_profile("0.19.1"), find_profile("0.20.0")

    assert (older.gpu_memory_utilization, older.deducts_cuda_graphs) == (Fraction(9, 10), False)
    assert (newer.gpu_memory_utilization, newer.deducts_cuda_graphs) == (Fraction(92, 100), True)


def test_tokens_and_concurrency_share_a_line_from_0_28() -> None:
    assert (find_profile("0.27.1").log_lines, find_profile("0.28.0").log_lines) == (2, 1)
