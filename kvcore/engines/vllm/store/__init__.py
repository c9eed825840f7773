"""How vLLM stores each kind of cache: one function per mechanism, found by the cache's type."""

from collections.abc import Callable, Mapping
from typing import Any

from kvcore.engines.vllm.store.attention import store_attention
from kvcore.engines.vllm.store.block_sparse import store_block_sparse, store_index_key
from kvcore.engines.vllm.store.chunked import store_chunked
from kvcore.engines.vllm.store.compressed import (
    store_compressed_indexer,
    store_compressed_latent,
    store_compressor_state,
    store_window_latent,
)
from kvcore.engines.vllm.store.cross import store_cross
from kvcore.engines.vllm.store.given import store_given
from kvcore.engines.vllm.store.indexer import store_indexer
from kvcore.engines.vllm.store.latent import store_latent
from kvcore.engines.vllm.store.pooled_indexer import store_pooled_indexer, store_tail_ring
from kvcore.engines.vllm.store.state import STATE_RULES, store_state
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.engines.vllm.store.window import store_window
from kvcore.errors import refusal
from kvcore.layout.block_sparse import BlockSparseCache, IndexKeyCache
from kvcore.layout.by_hand import GROWTHS
from kvcore.layout.cache import (
    AttentionCache,
    Cache,
    ChunkedLocalCache,
    CrossAttentionCache,
    LatentCache,
    SlidingWindowCache,
)
from kvcore.layout.compressed import (
    CompressedIndexerCache,
    CompressedLatentCache,
    CompressorStateCache,
    WindowLatentCache,
)
from kvcore.layout.indexer import IndexerCache
from kvcore.layout.latent import SparseLatentCache
from kvcore.layout.pooled_indexer import PooledIndexerCache, TailRingCache

STORES: Mapping[type[Cache], Callable[[Any, StoreContext], Stored]] = {
    AttentionCache: store_attention,
    SlidingWindowCache: store_window,
    ChunkedLocalCache: store_chunked,
    CrossAttentionCache: store_cross,
    LatentCache: store_latent,
    SparseLatentCache: store_latent,
    IndexerCache: store_indexer,
    WindowLatentCache: store_window_latent,
    CompressedLatentCache: store_compressed_latent,
    CompressedIndexerCache: store_compressed_indexer,
    CompressorStateCache: store_compressor_state,
    PooledIndexerCache: store_pooled_indexer,
    BlockSparseCache: store_block_sparse,
    IndexKeyCache: store_index_key,
    **dict.fromkeys(GROWTHS.values(), store_given),
    TailRingCache: store_tail_ring,
    **dict.fromkeys(STATE_RULES, store_state),
}
"""One row per mechanism this engine stores."""


def store(cache: Cache, context: StoreContext) -> Stored:
    """Stores one cache.

    Raises:
        EngineRefusal: The engine's profile does not know this mechanism, or refuses its settings.
    """
    function = STORES.get(type(cache))
    if function is None:
        rule = f"the vLLM profile has no rule for storing {type(cache).__name__}"
        raise refusal("engine", "vllm", rule, "Choose another model or engine.")
    return function(cache, context)


__all__ = ["STORES", "StoreContext", "Stored", "store"]
