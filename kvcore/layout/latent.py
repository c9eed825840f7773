"""Multi-head latent attention: one compressed latent and one rotary key per token."""

from kvcore.config import ModelConfig
from kvcore.layout.cache import LatentCache


def latent(config: ModelConfig, layer_index: int) -> LatentCache:
    """The cache of one latent-attention layer.

    Raises:
        ConfigError: The config states no ``kv_lora_rank``.
    """
    return LatentCache(
        name="latent",
        kv_lora_rank=config.integer("kv_lora_rank"),
        qk_rope_head_dim=config.integer("qk_rope_head_dim", 0, minimum=0),
        qk_nope_head_dim=config.optional_integer("qk_nope_head_dim"),
    )
