"""How vLLM stores each kind of cache: one function per mechanism, found by the cache's type."""

from collections.abc import Callable, Mapping
from typing import Any

from kvcore.engines.vllm.store.attention import store_attention
from kvcore.engines.vllm.store.latent import store_latent
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.errors import refusal
from kvcore.layout.cache import AttentionCache, Cache, LatentCache

STORES: Mapping[type[Cache], Callable[[Any, StoreContext], Stored]] = {
    AttentionCache: store_attention,
    LatentCache: store_latent,
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
