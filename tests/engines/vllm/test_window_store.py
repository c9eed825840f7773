"""How vLLM pages windows, chunks and cross attention: bytes and blocks worked out by hand."""

import dataclasses
from typing import Any

import pytest

from kvcore.catalog.gpus import find_gpu
from kvcore.engines.vllm.selection.backend import Backend
from kvcore.engines.vllm.specs import ChargeContext, CrossAttentionSpec, SlidingWindowSpec
from kvcore.engines.vllm.store import StoreContext, store
from kvcore.engines.vllm.store.window import largest_block_within
from kvcore.errors import EngineRefusal
from kvcore.layout.cache import AttentionCache, ChunkedLocalCache, CrossAttentionCache, SlidingWindowCache

KV_HEADS, HEAD_SIZE, BF16, BLOCK = 8, 128, 2, 16
TOKEN = KV_HEADS * (HEAD_SIZE + HEAD_SIZE) * BF16
WINDOW, CHUNK, IN_FLIGHT, LENGTH = 128, 8192, 16_384, 131_072
HEADS: dict[str, Any] = {"name": "x", "num_kv_heads": KV_HEADS, "head_size": HEAD_SIZE, "head_size_v": HEAD_SIZE}
HOPPER = StoreContext(
    gpu=find_gpu("H100"), tensor_parallel_size=1, block_size=BLOCK, dtype="bfloat16", kv_cache_dtype="auto"
)
CHARGE = ChargeContext(max_in_flight_tokens=IN_FLIGHT, max_num_encoder_input_tokens=8192)


def test_a_window_page_weighs_a_block_of_keys_and_values() -> None:
    spec = store(SlidingWindowCache(**HEADS, sliding_window=WINDOW), HOPPER).spec
    assert (spec.block_size, spec.page_size_bytes) == (BLOCK, BLOCK * TOKEN)


def test_a_window_is_charged_its_tokens_those_in_flight_and_a_block_for_its_edge() -> None:
    spec = store(SlidingWindowCache(**HEADS, sliding_window=WINDOW), HOPPER).spec
    whole_blocks = -(-(WINDOW - 1 + IN_FLIGHT) // BLOCK)
    assert spec.blocks_per_request(LENGTH, CHARGE) == whole_blocks + 1 == 1033


def test_a_chunk_is_charged_its_tokens_and_those_in_flight() -> None:
    spec = store(ChunkedLocalCache(**HEADS, attention_chunk_size=CHUNK), HOPPER).spec
    assert spec.blocks_per_request(LENGTH, CHARGE) == (CHUNK + IN_FLIGHT) // BLOCK == 1536


def test_cross_attention_is_charged_the_encoder_tokens_the_scheduler_reserves() -> None:
    spec = store(CrossAttentionCache(**HEADS), HOPPER).spec
    assert isinstance(spec, CrossAttentionSpec)
    assert spec.blocks_per_request(448, CHARGE) == 8192 // BLOCK


def test_ranks_divide_the_heads_of_a_window() -> None:
    four = dataclasses.replace(HOPPER, tensor_parallel_size=4)
    assert store(SlidingWindowCache(**HEADS, sliding_window=WINDOW), four).spec.page_size_bytes == BLOCK * TOKEN // 4


def test_keys_and_values_of_two_sizes_add_up_and_run_on_a_backend_of_their_own() -> None:
    key, value = 192, 128
    wide = SlidingWindowCache(name="x", num_kv_heads=KV_HEADS, head_size=key, head_size_v=value, sliding_window=WINDOW)
    stored = store(wide, HOPPER)
    assert stored.spec.page_size_bytes == BLOCK * KV_HEADS * (key + value) * BF16
    assert stored.backend is not None
    assert stored.backend.name == "FLASH_ATTN_DIFFKV"


def test_a_window_layer_fills_the_page_it_shares_with_quantized_layers() -> None:
    shared = 40 * TOKEN  # room for 40 tokens, of which kernels take multiples of 16
    context = dataclasses.replace(HOPPER, shared_page_bytes=shared)
    spec = store(SlidingWindowCache(**HEADS, sliding_window=WINDOW), context).spec
    assert isinstance(spec, SlidingWindowSpec)
    assert (spec.block_size, spec.unpadded_page_size_bytes, spec.page_size_bytes) == (32, 32 * TOKEN, shared)


@pytest.mark.parametrize(("room", "block"), [(15, 16), (16, 16), (40, 32), (100, 64), (5000, 1024)])
def test_kernels_with_a_list_of_sizes_take_the_largest_that_fits(room: int, block: int) -> None:
    backend = Backend(name="X", block_sizes=(16, 32, 64, 1024))
    assert largest_block_within(backend, room) == block


def test_kernels_that_take_multiples_fill_the_room() -> None:
    assert largest_block_within(Backend(name="X", multiple_of=16), 100) == 96
    assert largest_block_within(Backend(name="X", multiple_of=16), 3) == 16


def test_turboquant_is_refused_in_window_layers() -> None:
    context = dataclasses.replace(HOPPER, kv_cache_dtype="turboquant_k8v4")
    with pytest.raises(EngineRefusal, match="sliding window"):
        store(SlidingWindowCache(**HEADS, sliding_window=WINDOW), context)


def test_a_class_that_ignores_the_cache_dtype_stays_in_the_model_dtype() -> None:
    cache = AttentionCache(**HEADS, in_model_dtype=True)
    assert store(cache, HOPPER).spec.page_size_bytes == BLOCK * TOKEN
