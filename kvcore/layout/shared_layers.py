"""Layers that read another layer's keys and values and keep none of their own."""

from collections.abc import Sequence

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.architecture import CacheBuilder
from kvcore.layout.cache import Cache
from kvcore.layout.layer_types import layer_types


def first_shared_layer(config: ModelConfig) -> int:
    """Index of the first layer that shares: the last ``num_kv_shared_layers`` do (Gemma 3n and 4)."""
    return config.num_hidden_layers - config.integer("num_kv_shared_layers", 0, minimum=0)


def unless_shared(builder: CacheBuilder) -> CacheBuilder:
    """The cache of a layer, or none where the layer shares."""

    def build(config: ModelConfig, layer_index: int) -> Cache | None:
        return None if layer_index >= first_shared_layer(config) else builder(config, layer_index)

    return build


def sharing_targets(config: ModelConfig) -> Sequence[tuple[int, int]]:
    """Pairs of a sharing layer and the layer it reads: the last one of its type that does not share.

    Source: vLLM 0.33.0 `Gemma4Attention`; Gemma 3n's fixed offsets name the same layers.

    Raises:
        ConfigError: A layer has none to read (vLLM 0.33.0 `validate_kv_sharing_target`).
    """
    types = layer_types(config)
    first = first_shared_layer(config)
    if types is None or first >= len(types):
        return ()
    own = list(types[:first]) if first > 0 else []
    missing = set(types[max(first, 0) :]) - set(own)
    if missing:
        rule = f"a layer of type {min(missing)} has no layer before the shared ones whose cache it could read"
        count = config.get("num_kv_shared_layers")
        raise config_error(config.path("num_kv_shared_layers"), count, rule, "Use fewer, or 0.")
    return [
        (index, max(position for position, kind in enumerate(own) if kind == types[index]))
        for index in range(first, len(types))
    ]
