"""The block size of hybrids: raised until one attention page holds one state."""

import dataclasses
from typing import Any

import pytest

from kvcore.catalog.gpus import find_gpu
from kvcore.engines.vllm.block_size import Alignment, align_block_size
from kvcore.engines.vllm.store import StoreContext, store
from kvcore.layout.cache import AttentionCache, Cache, LatentCache
from kvcore.layout.gated_delta_net import GatedDeltaNetCache
from kvcore.layout.kimi_delta import KimiDeltaCache
from kvcore.layout.short_convolution import ShortConvolutionCache

BF16, F32 = 2, 4

ATTENTION = AttentionCache(name="attention", num_kv_heads=4, head_size=256, head_size_v=256)
DELTA_NET = GatedDeltaNetCache(
    name="gated delta net", temporal_dtype="float32", num_k_heads=16, num_v_heads=48, head_k_dim=128, head_v_dim=128,
    conv_kernel_size=4, family="qwen",
)  # fmt: skip
TOKEN = 4 * (256 + 256) * BF16
STATE = 3 * (2 * 16 * 128 + 48 * 128) * BF16 + 48 * 128 * 128 * F32


def aligned(*caches: Cache, gpu: str = "H100", **changes: Any) -> Alignment:
    context = StoreContext(
        gpu=find_gpu(gpu), tensor_parallel_size=1, block_size=16, dtype="bfloat16", kv_cache_dtype="auto",
        mamba_cache_mode="align", max_model_len=8192,
    )  # fmt: skip
    context = dataclasses.replace(context, **changes)
    return align_block_size([store(cache, context) for cache in caches], context)


def test_blocks_grow_in_steps_of_the_checkpoint_grain() -> None:
    grain = 64
    steps = 13  # ceil(3,207,168 / (64 × 4,096))
    alignment = aligned(DELTA_NET, ATTENTION)
    assert alignment.block_size == grain * steps == 832
    assert alignment.state_page_size_padded == 832 * TOKEN
    assert alignment.padding_percent == 100 * (832 * TOKEN - STATE) / STATE


def test_without_prefix_caching_they_grow_in_kernel_blocks() -> None:
    kernel_block, steps = 16, 49  # ceil(3,207,168 / (16 × 4,096))
    assert aligned(DELTA_NET, ATTENTION, mamba_cache_mode="none").block_size == kernel_block * steps


def test_gpus_without_checkpoints_grow_in_kernel_blocks_too() -> None:
    assert aligned(DELTA_NET, ATTENTION, gpu="A100").block_size == 16 * 49


def test_a_given_block_size_is_the_step() -> None:
    given, steps = 128, 7  # ceil(3,207,168 / (128 × 4,096))
    assert aligned(DELTA_NET, ATTENTION, block_size=given).block_size == given * steps


def test_a_given_block_size_beyond_the_state_stays() -> None:
    assert aligned(DELTA_NET, ATTENTION, block_size=1024).block_size == 1024


def test_latents_grow_in_steps_of_128() -> None:
    kimi = KimiDeltaCache(
        name="kimi delta attention", temporal_dtype="float32", num_heads=32, head_dim=128, conv_kernel_size=4,
        has_bounded_gate=False, family="kimi_linear",
    )  # fmt: skip
    latent = LatentCache(name="latent", kv_lora_rank=512, qk_rope_head_dim=64)
    state, token = 3 * 3 * 32 * 128 * BF16 + 32 * 128 * 128 * F32, 576 * BF16
    steps = 15  # ceil(2,170,880 / (128 × 1,152))
    alignment = aligned(kimi, latent)
    assert (alignment.state_bytes, alignment.token_bytes) == (state, token)
    assert alignment.block_size == 128 * steps


def test_a_state_as_large_as_the_page_is_not_padded() -> None:
    token = 2 * 8 * 64 * BF16
    attention = AttentionCache(name="attention", num_kv_heads=8, head_size=64, head_size_v=64)
    window = ShortConvolutionCache(name="short convolution", conv_dim=16 * token // BF16 // 2, conv_kernel=3)
    alignment = aligned(window, attention)
    assert alignment.block_size == 16
    assert alignment.state_page_size_padded is None
    assert alignment.padding_percent is None


def test_columns_for_draft_tokens_do_not_raise_the_blocks_of_short_convolutions() -> None:
    attention = AttentionCache(name="attention", num_kv_heads=8, head_size=64, head_size_v=64)
    window = ShortConvolutionCache(name="short convolution", conv_dim=2048, conv_kernel=3)
    assert aligned(window, attention, num_speculative_tokens=4).state_bytes == 2 * 2048 * BF16


@pytest.mark.parametrize("caches", [(ATTENTION,), (DELTA_NET,)])
def test_layouts_of_one_kind_keep_the_block_size(caches: tuple[Cache, ...]) -> None:
    alignment = aligned(*caches)
    assert alignment == Alignment(block_size=16)
