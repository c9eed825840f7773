"""Configs without ``architectures``: answered as plain attention or latents where no key hints at anything else."""

import re

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.architecture import Architecture, CacheBuilder
from kvcore.layout.grouped_query import grouped_query
from kvcore.layout.latent import latent
from kvcore.layout.layer_kinds import every_layer
from kvcore.layout.traits import Traits

_HINTS = re.compile(
    r"window|layer_types|layers_block|hybrid|pattern|ssm|mamba|conv|state|index_|indexer|compress|linear|chunk|sparse"
    r"|recurrent|delta|kda|rwkv|share|block_configs|no_rope|per_layer|encoder|cross|decoder_layers|global_|swa_",
    re.IGNORECASE,
)
"""Parts of key names by which configs state mechanisms other than plain attention."""

_HARMLESS = frozenset({
    "max_window_layers", "use_sliding_window", "num_shared_experts", "n_shared_experts", "shared_expert_intermediate_size",
    "share_expert_dim", "is_encoder_decoder", "decoder_sparse_step", "add_cross_attention", "cross_attention_hidden_size",
    "tie_encoder_decoder", "encoder_no_repeat_ngram_size",
})  # fmt: skip
"""Keys that match a hint but say nothing about the cache."""


def minimal_row(config: ModelConfig) -> Architecture:
    """The row for a config that names no architecture.

    Raises:
        ConfigError: A key hints at a mechanism that only the architecture's name would settle.
    """
    if config.text_path:
        rule = "the config names no architectures, and nests a language model in a wrapper"
        raise config_error("architectures", None, rule, "Add architectures from the model's config.json.")
    for key, value in config.text.items():
        if _HINTS.search(key) and key not in _HARMLESS and value not in (None, False, 0, "", [], {}):
            rule = "the config names no architectures, and this key hints at more than plain attention"
            raise config_error(config.path(key), value, rule, "Add architectures from the model's config.json.")
    if config.get("kv_lora_rank") is not None:
        return _row("latent", latent, Traits(latent=True))
    return _row("full_attention", grouped_query, Traits())


def _row(kind: str, builder: CacheBuilder, traits: Traits) -> Architecture:
    return Architecture(
        layer_kinds=every_layer(kind),
        caches={kind: (builder,)},
        traits=traits,
        source="no architecture named: keys and values, or latents, of every layer",
    )
