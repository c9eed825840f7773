"""Layer types as the Hugging Face configuration classes settle them, before any engine looks."""

from collections.abc import Sequence

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.layer_patterns import CHUNKED, FULL, PATTERNS, SLIDING
from kvcore.layout.stated_window import no_rope_layers, sliding_window, wrong_length

LAST_LAYER_FULL = frozenset({"gemma4_text", "gemma4_unified_text"})
"""Model types whose class makes the last layer full whatever the list says."""


def layer_types(config: ModelConfig) -> Sequence[str] | None:
    """One type per layer as the configuration class settles it; None where the class knows no layer types.

    Raises:
        ConfigError: The list is shorter or longer than the layer count, or an entry is not a text.
    """
    stated = config.sequence("layer_types")
    layers = config.num_hidden_layers
    if stated is None:
        pattern = PATTERNS.get(config.model_type)
        types = None if pattern is None else list(pattern(config))
    else:
        types = _checked(config, stated, layers)
    if types and config.model_type in LAST_LAYER_FULL:
        types[-1] = FULL
    return types


def _checked(config: ModelConfig, stated: Sequence[object], layers: int) -> list[str]:
    if config.model_type == "step3p5" and len(stated) > layers:
        stated = stated[:layers]  # trailing entries describe drafter layers
    if len(stated) != layers:
        raise wrong_length(config, "layer_types", len(stated))
    for entry in stated:
        if not isinstance(entry, str):
            raise config_error(config.path("layer_types"), entry, "each entry must be a text", "Give it unchanged.")
    return [str(entry) for entry in stated]


__all__ = ["CHUNKED", "FULL", "SLIDING", "layer_types", "no_rope_layers", "sliding_window"]
