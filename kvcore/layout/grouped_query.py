"""Multi-head, multi-query and grouped-query attention: one key and one value per KV head and token."""

from kvcore.config import ModelConfig
from kvcore.layout.cache import AttentionCache


def grouped_query(config: ModelConfig, layer_index: int) -> AttentionCache:
    """The cache of one full-attention layer.

    Raises:
        ConfigError: The config states no head count or head size.
    """
    return AttentionCache(
        name="attention",
        num_kv_heads=config.num_key_value_heads,
        head_size=config.head_dim,
        head_size_v=config.head_dim,
    )


def attention_label(num_attention_heads: int, num_kv_heads: int) -> str:
    """Names the kind of attention from its head counts."""
    if num_kv_heads == 1 and num_attention_heads > 1:
        return "multi-query attention"
    if num_kv_heads < num_attention_heads:
        return "grouped-query attention"
    return "multi-head attention"
