"""Cross attention as vLLM stores it."""

from kvcore.engines.vllm.selection.query import ENCODER_DECODER
from kvcore.engines.vllm.specs import CrossAttentionSpec
from kvcore.engines.vllm.store.attention import key_value_store
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.layout.cache import CrossAttentionCache


def store_cross(cache: CrossAttentionCache, context: StoreContext) -> Stored:
    """Stores the keys and values of the encoder's output (vLLM 0.33.0 `CrossAttention.get_kv_cache_spec`)."""
    store = key_value_store(cache, context, ENCODER_DECODER)
    return store.stored(CrossAttentionSpec(block_size=context.block_size, **store.spec_fields))
