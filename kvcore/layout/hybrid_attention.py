"""Attention layers of hybrids whose class reads other keys than plain decoders do."""

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.cache import AttentionCache, LatentCache
from kvcore.layout.grouped_query import grouped_query
from kvcore.layout.latent import latent

_UNCHANGED = "Give the config.json unchanged."

BAILING_MODEL_TYPES = ("bailing_hybrid",)
"""Model types whose latent vLLM stores as such (vLLM 0.33.0 `is_deepseek_mla`)."""


def hidden_wide_query(config: ModelConfig, layer_index: int) -> AttentionCache:
    """Full attention whose heads share the hidden width (Granite 4, LFM2, OLMo hybrid).

    Raises:
        ConfigError: The config states another head size, which the layer would ignore and the block size would not.
    """
    head_dim = config.hidden_size // config.num_attention_heads
    if config.head_dim != head_dim:
        rule = f"this architecture's heads are hidden_size / num_attention_heads = {head_dim} wide"
        raise config_error(config.path("head_dim"), config.head_dim, rule, _UNCHANGED)
    return grouped_query(config, layer_index)


def zamba2_attention(config: ModelConfig, layer_index: int) -> AttentionCache:
    """Zamba2's shared attention, whose input is twice as wide; each use keeps its own keys and values.

    Raises:
        ConfigError: Query and KV heads differ, which the layer ignores.
    """
    heads = config.num_attention_heads
    if config.num_key_value_heads != heads:
        rule = f"Zamba2 attends with as many KV heads as query heads ({heads})"
        raise config_error(config.path("num_key_value_heads"), config.num_key_value_heads, rule, _UNCHANGED)
    head_dim = config.integer("attention_head_dim", 2 * config.hidden_size // heads)
    return AttentionCache(name="attention", num_kv_heads=heads, head_size=head_dim, head_size_v=head_dim)


def nemotron_attention(config: ModelConfig, layer_index: int) -> AttentionCache:
    """Nemotron-H attention; its class gives heads 128 elements where the config names no ``head_dim``.

    Raises:
        ConfigError: A sliding window is stated: no released model has one.
    """
    window = config.get("sliding_window")
    if window is not None:
        rule = "windows in Nemotron-H are not known to kvcore"
        raise config_error(
            config.path("sliding_window"), window, rule, "An engine log of such a model would settle it."
        )
    head_dim = config.integer("head_dim") if "head_dim" in config.text else 128
    return AttentionCache(
        name="attention", num_kv_heads=config.num_key_value_heads, head_size=head_dim, head_size_v=head_dim
    )


def bailing_latent(config: ModelConfig, layer_index: int) -> LatentCache:
    """The latent of a Bailing hybrid, whose widths must be stated.

    Raises:
        ConfigError: A width is absent, or the model type is one whose latent the engine does not know.
    """
    if config.model_type not in BAILING_MODEL_TYPES:
        rule = f"vLLM stores latents of model type {', '.join(BAILING_MODEL_TYPES)} only"
        raise config_error(config.path("model_type"), config.model_type, rule, _UNCHANGED)
    config.integer("qk_rope_head_dim")
    return latent(config, layer_index)


def bailing_linear_head_dim(config: ModelConfig) -> int:
    """Head size of a Bailing hybrid's linear-attention layers.

    Hugging Face's class for the model type overwrites ``head_dim`` with ``qk_rope_head_dim`` (transformers 5.20
    `BailingHybridConfig.__post_init__`), the checkpoint's own code does not: what the engine reads depends on
    ``--trust-remote-code`` wherever the two differ.

    Raises:
        ConfigError: They differ, or one is absent.
    """
    head_dim, rope = config.integer("head_dim"), config.integer("qk_rope_head_dim")
    if head_dim != rope:
        rule = (
            f"Hugging Face's class for {config.model_type} replaces this by qk_rope_head_dim ({rope}), the checkpoint's "
            "own code does not, and the size of the state depends on it"
        )
        raise config_error(config.path("head_dim"), head_dim, rule, "An engine log of this model would settle it.")
    return head_dim
