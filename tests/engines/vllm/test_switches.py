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
from tests.engines.vllm.releases import (
    BATCH,
    BLOCK,
    BUDGET,
    CHUNKED,
    DELTA_NET,
    FULL_BLOCKS,
    LATENT,
    LENGTH,
    LLAMA,
    MIXTURE,
    PAGE,
    WINDOW,
    WINDOW_BLOCKS,
    WINDOW_BLOCKS_OF_TWO_BATCHES,
    block_size,
    blocks,
    refused,
    report,
    windows,
)


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


def test_very_large_gpus_have_a_batch_default_of_their_own_from_0_28() -> None:
    def default(release: str) -> object:
        return (
            answer({"config": LLAMA, "engine_version": release, "gpu": "B200"}).inputs["max_num_batched_tokens"].value
        )

    assert default("0.27.1") == 8192
    assert default("0.28.0") == 16_384


def test_the_engine_schedules_ahead_from_0_14() -> None:
    assert report(LLAMA, "0.13.0").inputs["async_scheduling"].value is False
    assert report(LLAMA, "0.14.0").inputs["async_scheduling"].value is True


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
