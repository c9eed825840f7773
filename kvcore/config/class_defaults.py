"""Values a Hugging Face config class supplies when the checkpoint's config.json leaves the key out.

Source of each row: the defaults of the configuration class of transformers 5.20 named by its ``model_type``.
"""

from collections.abc import Mapping
from typing import Any

from kvcore.config.decoder_defaults import DECODER_DEFAULTS
from kvcore.config.state_defaults import STATE_DEFAULTS

CLASS_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    name: {**DECODER_DEFAULTS.get(name, {}), **STATE_DEFAULTS.get(name, {})}
    for name in (*DECODER_DEFAULTS, *STATE_DEFAULTS)
}
"""Class defaults by model type."""

SIZE_KEYS = frozenset({"num_hidden_layers", "num_attention_heads", "hidden_size"})
"""Facts every published config states at its top level: their class defaults count only for nested text configs."""
