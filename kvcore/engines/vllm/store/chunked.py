"""Chunked local attention as vLLM stores it."""

from kvcore.engines.vllm.specs import ChunkedLocalAttentionSpec
from kvcore.engines.vllm.store.attention import key_value_store
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.layout.cache import ChunkedLocalCache


def store_chunked(cache: ChunkedLocalCache, context: StoreContext) -> Stored:
    """Stores the keys and values of the current chunk (vLLM 0.33.0 `ChunkedLocalAttention.get_kv_cache_spec`)."""
    store = key_value_store(cache, context)
    spec = ChunkedLocalAttentionSpec(
        block_size=context.block_size, attention_chunk_size=cache.attention_chunk_size, **store.spec_fields
    )
    return store.stored(spec)
