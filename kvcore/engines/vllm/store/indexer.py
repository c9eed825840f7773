"""Indexer keys as vLLM stores them: 8-bit, with one scale per 128 elements, whole on every rank."""

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


def store_indexer(cache: IndexerCache, context: StoreContext) -> Stored:
    """Stores one key per token (vLLM 0.33.0 `DeepseekV32IndexerCache.get_kv_cache_spec`)."""
    entry = indexer_entry(cache.index_head_dim)
    spec = MLAAttentionSpec(
        block_size=context.block_size,
        num_kv_heads=1,
        head_size=entry,
        head_size_v=0,
        dtype="uint8",
        dtype_bytes=1,
        cache_role="indexer",
        stride_multiple=DEEPSEEK_V32_INDEXER.stride_multiple,
    )
    return Stored(
        spec=spec,
        backend=DEEPSEEK_V32_INDEXER,
        dtype="fp8 with scales",
        split="whole",
        shards=1,
        formula="index_head_dim × 1 byte + index_head_dim / 128 scales × 4 bytes",
        substituted=f"{cache.index_head_dim} × 1 + {cache.index_head_dim} / {QUANT_BLOCK} × {SCALE_BYTES}",
        source="vLLM 0.33.0 `DeepseekV32IndexerCache`",
    )
