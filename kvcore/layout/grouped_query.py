"""Multi-head, multi-query and grouped-query attention: one key and one value per KV head and token."""

from kvcore.config import ModelConfig
from kvcore.errors import config_error
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


def keys_and_values(num_kv_heads: int, head_size: int, **more: bool) -> AttentionCache:
    """A full-attention cache whose keys and values are of one size."""
    return AttentionCache(
        name="attention", num_kv_heads=num_kv_heads, head_size=head_size, head_size_v=head_size, **more
    )


def chatglm_attention(config: ModelConfig, layer_index: int) -> AttentionCache:
    """ChatGLM: KV heads count only where ``multi_query_attention`` is true (vLLM 0.33.0 `GLMAttention`)."""
    shares = config.get("multi_query_attention", False)
    heads = config.integer("multi_query_group_num", 1) if shares else config.num_attention_heads
    return keys_and_values(heads, width_per_head(config, "hidden_size", config.num_attention_heads))


def falcon_attention(config: ModelConfig, layer_index: int) -> AttentionCache:
    """Falcon: one KV head, all, or as stated; always in the model dtype (vLLM 0.33.0 `FalconAttention`).

    Its layers with rotary or ALiBi positions, which are all, are built without the engine's cache settings.
    """
    if config.get("new_decoder_architecture", False):
        heads = config.num_key_value_heads
    else:
        heads = 1 if config.get("multi_query", True) else config.num_attention_heads
    return keys_and_values(
        heads, width_per_head(config, "hidden_size", config.num_attention_heads), in_model_dtype=True
    )


def multi_query_attention(config: ModelConfig, layer_index: int) -> AttentionCache:
    """GPT BigCode: one KV head unless ``multi_query`` is false (transformers 5.20 `GPTBigCodeConfig`)."""
    heads = 1 if config.get("multi_query", True) else config.num_attention_heads
    return keys_and_values(heads, config.head_dim)


def padded_value_heads(config: ModelConfig, layer_index: int) -> AttentionCache:
    """MiniCPM3: stores plain heads, the value padded to the key's size (vLLM 0.33.0 `MiniCPM3Attention`)."""
    head_size = config.integer("qk_nope_head_dim") + config.integer("qk_rope_head_dim")
    return keys_and_values(config.num_attention_heads, head_size)


def width_per_head(config: ModelConfig, key: str, heads: int) -> int:
    """Elements of one head where a class divides a width and rounds down.

    Raises:
        ConfigError: The width is smaller than the heads.
    """
    width = config.integer(key)
    if width < heads:
        raise config_error(config.path(key), width, f"narrower than its {heads:,} heads", "Give it unchanged.")
    return width // heads


def attention_label(num_attention_heads: int, num_kv_heads: int) -> str:
    """Names the kind of attention from its head counts."""
    if num_kv_heads == 1 and num_attention_heads > 1:
        return "multi-query attention"
    if num_kv_heads < num_attention_heads:
        return "grouped-query attention"
    return "multi-head attention"
