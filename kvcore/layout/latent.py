"""Multi-head latent attention: one compressed latent and one rotary key per token."""

import dataclasses
from dataclasses import dataclass

from kvcore.config import ModelConfig
from kvcore.layout.cache import AttentionCache, LatentCache
from kvcore.layout.grouped_query import grouped_query

LATENT_MODEL_TYPES = frozenset({
    "axk1", "deepseek_v2", "deepseek_v3", "deepseek_v32", "deepseek_v4", "deepseek_v41", "dots3_note", "deepseek_mtp",
    "k3_dspark", "glm5_next", "glm5_next_text", "glm_moe_dsa", "glm4_moe_lite", "glm4_moe_lite_mtp", "kimi_k2",
    "kimi_linear", "longcat_flash", "pangu_ultra_moe", "pangu_ultra_moe_mtp", "bailing_hybrid", "bailing_hybrid_mtp",
    "bailing_hybrid_v3_mtp", "hy_v4", "hy_v4_mtp",
})  # fmt: skip
"""Model types that keep latents (vLLM 0.33.0 `ModelArchConfigConvertorBase.is_deepseek_mla`)."""


@dataclass(frozen=True, kw_only=True)
class SparseLatentCache(LatentCache):
    """A latent of which each query reads only the tokens an indexer chose: stored whole, in layouts of its own.

    Attributes:
        index_topk: Tokens the indexer chooses.
    """

    index_topk: int


def latent(config: ModelConfig, layer_index: int) -> LatentCache:
    """The cache of one latent-attention layer; sparse where the config names ``index_topk``.

    Raises:
        ConfigError: The config states no ``kv_lora_rank``.
    """
    kv_lora_rank = config.integer("kv_lora_rank")
    qk_rope_head_dim = config.integer("qk_rope_head_dim", 0, minimum=0)
    qk_nope_head_dim = config.optional_integer("qk_nope_head_dim")
    if config.get("index_topk") is None:
        return LatentCache(
            name="latent",
            kv_lora_rank=kv_lora_rank,
            qk_rope_head_dim=qk_rope_head_dim,
            qk_nope_head_dim=qk_nope_head_dim,
        )
    return SparseLatentCache(
        name="latent",
        kv_lora_rank=kv_lora_rank,
        qk_rope_head_dim=qk_rope_head_dim,
        qk_nope_head_dim=qk_nope_head_dim,
        index_topk=config.integer("index_topk"),
    )


def kimi_latent(config: ModelConfig, layer_index: int) -> LatentCache:
    """As :func:`latent` for Kimi's class, which names no layers to keep the model dtype (vLLM 0.33.0 `models/kimi_k3`)."""
    return dataclasses.replace(latent(config, layer_index), in_cache_dtype=True)


def latent_or_heads(config: ModelConfig, layer_index: int) -> LatentCache | AttentionCache:
    """The cache of one layer of DeepSeek's classes, whose checkpoints need not use latents.

    Checkpoints without rotary and position-free head parts attend with plain heads (DeepSeek-VL2's small models), those
    of a model type the engine does not list keep whole keys for every query head (vLLM 0.33.0
    `DeepseekV2DecoderLayer`).
    """
    rotary = config.optional_integer("qk_rope_head_dim") or 0
    positionless = config.optional_integer("qk_nope_head_dim") or 0
    if config.model_type == "deepseek" or rotary == positionless == 0:
        return grouped_query(config, layer_index)
    if keeps_latents(config):
        return latent(config, layer_index)
    head_size = rotary + positionless
    heads = config.num_attention_heads
    return AttentionCache(name="attention", num_kv_heads=heads, head_size=head_size, head_size_v=head_size)


def keeps_latents(config: ModelConfig) -> bool:
    """Whether the engine stores latents for this checkpoint (vLLM 0.33.0 `ModelConfig.use_mla`)."""
    return (
        config.model_type in LATENT_MODEL_TYPES
        and config.get("kv_lora_rank") is not None
        and config.get("is_causal") is not False
    )
