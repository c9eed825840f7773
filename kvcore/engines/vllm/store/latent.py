"""The latent of multi-head latent attention as vLLM stores it: whole on every rank."""

from kvcore.engines.vllm.specs import MLAAttentionSpec
from kvcore.engines.vllm.store.stored import StoreContext, Stored, element_bytes
from kvcore.layout.cache import LatentCache


def store_latent(cache: LatentCache, context: StoreContext) -> Stored:
    """Stores one latent and one rotary key per token (vLLM 0.33.0 `MLAAttention.get_kv_cache_spec`)."""
    dtype = context.stored_dtype
    size = element_bytes(dtype)
    head_size = cache.kv_lora_rank + cache.qk_rope_head_dim
    backend = context.select(
        head_size,
        use_mla=True,
        kv_lora_rank=cache.kv_lora_rank,
        qk_rope_head_dim=cache.qk_rope_head_dim,
        qk_nope_head_dim=cache.qk_nope_head_dim,
    )
    spec = MLAAttentionSpec(
        block_size=context.block_size,
        num_kv_heads=1,
        head_size=head_size,
        head_size_v=0,
        dtype=dtype,
        dtype_bytes=size,
        cache_dtype=context.kv_cache_dtype,
        stride_multiple=backend.stride_multiple,
    )
    return Stored(
        spec=spec,
        backend=backend,
        dtype=dtype,
        split="whole",
        shards=1,
        formula="(kv_lora_rank + qk_rope_head_dim) × bytes per element",
        substituted=f"({cache.kv_lora_rank} + {cache.qk_rope_head_dim}) × {size}",
        source="vLLM 0.33.0 `MLAAttentionSpec`, one latent per token, not divided by tensor parallelism",
    )
