"""The window and the RoPE layers as Hugging Face's configuration classes settle them from what a config states.

Source of each row: the class's ``__post_init__`` in transformers 5.20, found by model type.
"""

from collections.abc import Mapping, Sequence

from kvcore.config import ModelConfig
from kvcore.errors import ConfigError, config_error

OPTIONAL_WINDOW = frozenset({
    "qwen2", "qwen2_5_omni_text", "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl_text", "qwen3", "qwen3_moe",
})  # fmt: skip
"""Model types whose class drops the window unless ``use_sliding_window`` is true."""

NO_WINDOW = frozenset({"qwen3_vl_moe_text"})
"""Model types whose class drops any stated window."""

REQUIRED_WINDOW = frozenset({
    "cohere2", "cohere2_moe", "cwm", "exaone_moe", "gemma3n_text", "gemma4_text", "gemma4_unified_text", "laguna",
    "mimo_v2_flash",
})  # fmt: skip
"""Model types whose class, or the engine's, takes no null for ``sliding_window``; layers of the others keep every token."""

HALVED_BY: Mapping[str, object] = {"gemma3_text": True, "gemma4_text": "all", "gemma4_unified_text": "all"}
"""Value of ``use_bidirectional_attention`` under which the class halves the window to look both ways."""


def sliding_window(config: ModelConfig) -> int | None:
    """The window in tokens as the configuration class settles it; None where it is absent or switched off.

    Some checkpoints write 0 for no window (vLLM 0.33.0 `ModelConfig.__post_init__`).

    Raises:
        ConfigError: The window is not a number of tokens.
    """
    if config.model_type in NO_WINDOW or config.get("sliding_window") is None:
        return None
    if config.model_type in OPTIONAL_WINDOW and not config.get("use_sliding_window", False):
        return None
    window = config.optional_integer("sliding_window") or 0
    halved_by = HALVED_BY.get(config.model_type)
    if halved_by is not None and config.get("use_bidirectional_attention", False) == halved_by:
        return window // 2 + 1
    return window or None


def no_rope_layers(config: ModelConfig) -> Sequence[bool]:
    """For each layer whether it uses RoPE: ``no_rope_layers`` (which marks layers *with* RoPE), or every n-th without.

    Raises:
        ConfigError: The list does not match the layer count.
    """
    stated = config.sequence("no_rope_layers")
    if not stated:
        interval = config.integer("no_rope_layer_interval", 4)
        return [(index + 1) % interval != 0 for index in range(config.num_hidden_layers)]
    if len(stated) != config.num_hidden_layers:
        raise wrong_length(config, "no_rope_layers", len(stated))
    return [bool(entry) for entry in stated]


def wrong_length(config: ModelConfig, key: str, length: int) -> ConfigError:
    """The error for a list that does not match the layer count."""
    rule = f"the list has {length} entries for {config.num_hidden_layers} layers"
    return config_error(config.path(key), f"{length} entries", rule, "Give the config.json unchanged.")
