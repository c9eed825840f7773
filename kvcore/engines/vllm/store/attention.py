"""Keys and values as vLLM stores them: full attention."""

from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.selection.dense import FLASH_ATTN_DIFFKV, TRITON_ATTN_DIFFKV
from kvcore.engines.vllm.specs import FullAttentionSpec
from kvcore.engines.vllm.store.entry import attention_entry
from kvcore.engines.vllm.store.stored import StoreContext, Stored, heads_per_rank
from kvcore.layout.cache import AttentionCache


def key_value_backend(cache: AttentionCache, context: StoreContext) -> Backend:
    """The backend of a layer that keeps keys and values.

    Keys and values of different sizes run on backends of their own, which the model class picks (vLLM 0.33.0
    `FlashAttentionDiffKVBackend.is_supported_on_current_device`).
    """
    if cache.head_size != cache.head_size_v:
        return FLASH_ATTN_DIFFKV if context.gpu.capability[0] in {9, 10} else TRITON_ATTN_DIFFKV
    return context.select(cache.head_size, use_mm_prefix=context.mm_prefix_lm)


def store_attention(cache: AttentionCache, context: StoreContext) -> Stored:
    """Stores one key and one value per KV head and token (vLLM 0.33.0 `Attention.get_kv_cache_spec`)."""
    heads, split = heads_per_rank(cache.num_kv_heads, context)
    entry = attention_entry(cache, heads, context)
    backend = key_value_backend(cache, context)
    spec = FullAttentionSpec(
        block_size=context.block_size,
        num_kv_heads=heads,
        head_size=cache.head_size,
        head_size_v=cache.head_size_v,
        dtype=entry.dtype,
        dtype_bytes=entry.dtype_bytes,
        cache_dtype=context.kv_cache_dtype,
        state_content_bytes=entry.state_content_bytes,
        num_head_slots=entry.num_head_slots,
        stride_multiple=backend.stride_multiple,
    )
    return Stored(
        spec=spec,
        backend=backend,
        dtype=entry.label,
        split=split,
        shards=min(cache.num_kv_heads, context.tensor_parallel_size),
        formula=entry.formula,
        substituted=entry.substituted,
        source="vLLM 0.33.0 `AttentionSpec.unpadded_page_size_bytes`",
    )
