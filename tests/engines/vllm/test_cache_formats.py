"""Bytes of one token's key and value in every cache format, worked out by hand."""

import dataclasses

import pytest

from kvcore.catalog.gpus import find_gpu
from kvcore.engines.vllm.store import StoreContext
from kvcore.engines.vllm.store.attention import key_value_store
from kvcore.errors import EngineRefusal
from kvcore.layout.cache import AttentionCache

HEADS, SIZE = 8, 128
CACHE = AttentionCache(name="x", num_kv_heads=HEADS, head_size=SIZE, head_size_v=SIZE)
SCALES = 2 * 4
NORM, SCALE_AND_ZERO = 2, 4


def entry_bytes(kv_cache_dtype: str, gpu: str = "H100", cache: AttentionCache = CACHE) -> int:
    context = StoreContext(
        gpu=find_gpu(gpu), tensor_parallel_size=1, block_size=16, dtype="bfloat16", kv_cache_dtype=kv_cache_dtype
    )
    return key_value_store(cache, context).entry_bytes


@pytest.mark.parametrize(
    ("kv_cache_dtype", "per_head"),
    [
        ("auto", 2 * SIZE * 2),
        ("fp8", 2 * SIZE),
        ("fp8_e4m3", 2 * SIZE),
        ("fp8_e5m2", 2 * SIZE),
        ("int8_per_token_head", 2 * SIZE + SCALES),
        ("fp8_per_token_head", 2 * SIZE + SCALES),
        ("int4_per_token_head", 2 * SIZE // 2 + SCALES),
        ("turboquant_k8v4", SIZE + SIZE * 4 // 8 + SCALE_AND_ZERO),
        ("turboquant_4bit_nc", SIZE * 4 // 8 + NORM + SIZE * 4 // 8 + SCALE_AND_ZERO),
        ("turboquant_k3v4_nc", SIZE * 3 // 8 + NORM + SIZE * 4 // 8 + SCALE_AND_ZERO),
        ("turboquant_3bit_nc", SIZE * 3 // 8 + NORM + SIZE * 3 // 8 + SCALE_AND_ZERO),
    ],
)
def test_a_format_on_hopper(kv_cache_dtype: str, per_head: int) -> None:
    assert entry_bytes(kv_cache_dtype) == HEADS * per_head


def test_nvfp4_on_blackwell_packs_two_elements_a_byte_and_a_scale_per_sixteen() -> None:
    assert entry_bytes("nvfp4", "B200") == 2 * HEADS * (SIZE // 2 + SIZE // 16)


def test_turboquant_slots_are_even() -> None:
    odd = 100  # 100 + 50 + 4 bytes, and with 3 bits 38 + 2 + 38 + 4
    cache = dataclasses.replace(CACHE, head_size=odd, head_size_v=odd)
    assert entry_bytes("turboquant_3bit_nc", cache=cache) == HEADS * (38 + 2 + 38 + 4)
    assert entry_bytes("turboquant_k3v4_nc", cache=cache) == HEADS * (38 + 2 + 50 + 4)


def test_nvfp4_4over6_is_refused_where_no_kernel_reads_it() -> None:
    with pytest.raises(EngineRefusal, match="nvfp4_4over6"):
        entry_bytes("nvfp4_4over6", "H100")


def test_a_latent_format_is_refused_for_keys_and_values() -> None:
    with pytest.raises(EngineRefusal, match="kv_cache_dtype"):
        entry_bytes("fp8_ds_mla")
