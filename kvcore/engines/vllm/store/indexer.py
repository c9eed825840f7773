"""Indexer keys as vLLM stores them: 8-bit, with one scale per 128 elements, whole on every rank."""

from typing import Any

from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.specs import MLAAttentionSpec
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.layout.indexer import IndexerCache

QUANT_BLOCK = 128
"""Elements that share one scale (vLLM 0.33.0 `DeepseekV32Indexer.quant_block_size`)."""

SCALE_BYTES = 4

DEEPSEEK_V32_INDEXER = Backend(name="DEEPSEEK_V32_INDEXER", block_sizes=(64,), is_mla=True, plans_any_block=True)


def indexer_entry(index_head_dim: int) -> int:
    """Bytes of one indexer key: its elements and their scales."""
    return index_head_dim + index_head_dim // QUANT_BLOCK * SCALE_BYTES


def stored_index_keys(cache: IndexerCache, backend: Backend, context: StoreContext, source: str, **more: Any) -> Stored:
    """8-bit index keys as stored: one for as many tokens as the cache says.

    Args:
        cache: The index keys.
        backend: Kernels that read them.
        context: How the layer is stored.
        source: The engine's class, for the reader.
        more: What the spec of one indexer states beside this.
    """
    dim = cache.index_head_dim
    spec = MLAAttentionSpec(
        block_size=context.block_size,
        num_kv_heads=1,
        head_size=indexer_entry(dim),
        head_size_v=0,
        dtype="uint8",
        dtype_bytes=1,
        tokens_per_state=cache.tokens_per_key,
        stride_multiple=backend.stride_multiple,
        **more,
    )
    return Stored(
        spec=spec,
        backend=backend,
        dtype="fp8 with scales",
        split="whole",
        shards=1,
        formula=f"index_head_dim × 1 byte + index_head_dim / {QUANT_BLOCK} scales × {SCALE_BYTES} bytes",
        substituted=f"{dim} × 1 + {dim} / {QUANT_BLOCK} × {SCALE_BYTES}",
        source=source,
    )


def store_indexer(cache: IndexerCache, context: StoreContext) -> Stored:
    """Stores one key per token (vLLM 0.33.0 `DeepseekV32IndexerCache.get_kv_cache_spec`)."""
    source = "vLLM 0.33.0 `DeepseekV32IndexerCache`"
    return stored_index_keys(cache, DEEPSEEK_V32_INDEXER, context, source, cache_role="indexer")
