"""Layer types and windows as the Hugging Face configuration classes settle them, before any engine looks.

A config.json may leave ``layer_types`` to its class, which derives them from a pattern; and some classes drop a stated
``sliding_window``. Source of each row: the class's ``__post_init__`` in transformers 5.20, found by model type.
"""

from collections.abc import Callable, Mapping, Sequence

from kvcore.config import ModelConfig
from kvcore.errors import config_error

FULL = "full_attention"
SLIDING = "sliding_attention"
CHUNKED = "chunked_attention"

Pattern = Callable[[ModelConfig], Sequence[str]]
"""Derives one type per layer from the other keys of a config."""


def _typed(config: ModelConfig, is_sliding: Callable[[int], bool]) -> Sequence[str]:
    return [SLIDING if is_sliding(index) else FULL for index in range(config.num_hidden_layers)]


def _every_nth_full(default: int, key: str | None = "sliding_window_pattern") -> Pattern:
    """Every n-th layer is full, the others slide."""

    def pattern(config: ModelConfig) -> Sequence[str]:
        period = default if key is None else config.integer(key, default)
        return _typed(config, lambda index: (index + 1) % period != 0)

    return pattern


def _first_of_four_full(config: ModelConfig) -> Sequence[str]:
    return _typed(config, lambda index: index % 4 != 0)


def _fourth_from_the_last_full(config: ModelConfig) -> Sequence[str]:
    last = config.num_hidden_layers - 1
    return _typed(config, lambda index: (last - index) % 4 != 0)


def _above_max_window_layers(config: ModelConfig) -> Sequence[str]:
    """The first ``max_window_layers`` layers are full (Qwen's rule, despite the key's name)."""
    window = sliding_window(config)
    first = config.integer("max_window_layers", 0, minimum=0)
    return _typed(config, lambda index: window is not None and index >= first)


def _alternating_below_max_window_layers(config: ModelConfig) -> Sequence[str]:
    slides = config.get("use_sliding_window", False)
    end = config.integer("max_window_layers", 0, minimum=0)
    return _typed(config, lambda index: bool(slides) and index % 2 == 0 and index < end)


def _without_rope_sliding(config: ModelConfig) -> Sequence[str]:
    """SmolLM3: layers without RoPE slide, where the window is in use."""
    slides = config.get("use_sliding_window", False) and sliding_window(config) is not None
    rope = no_rope_layers(config)
    return _typed(config, lambda index: bool(slides) and not rope[index])


def _without_rope_full(config: ModelConfig) -> Sequence[str]:
    """Llama 4: layers with RoPE attend to chunks."""
    return [CHUNKED if rope else FULL for rope in no_rope_layers(config)]


def _all_sliding(config: ModelConfig) -> Sequence[str]:
    window = sliding_window(config)
    return (FULL if window is None else SLIDING,) * config.num_hidden_layers


def _all_full(config: ModelConfig) -> Sequence[str]:
    return (FULL,) * config.num_hidden_layers


def _exaone(config: ModelConfig) -> Sequence[str]:
    if sliding_window(config) is None:
        rule = "a window pattern without sliding_window leaves the layers' types open"
        raise config_error(config.path("sliding_window"), None, rule, "Add layer_types from the model's own config.")
    return _every_nth_full(4)(config)


def _dense_prefix_full(config: ModelConfig) -> Sequence[str]:
    """Cohere2 MoE: the dense layers ahead of the experts follow a pattern of their own."""
    prefix = config.integer("first_k_dense_replace", 0, minimum=0)
    prefix_period = config.integer("prefix_dense_sliding_window_pattern", 1)
    period = config.integer("sliding_window_pattern", 4)

    def is_sliding(index: int) -> bool:
        if index < prefix:
            return (index + 1) % prefix_period != 0
        return (index - prefix + 1) % period != 0

    return _typed(config, is_sliding)


PATTERNS: Mapping[str, Pattern] = {
    "afmoe": _every_nth_full(4, "global_attn_every_n_layers"),
    "cohere2": _every_nth_full(4),
    "cohere2_moe": _dense_prefix_full,
    "cwm": _first_of_four_full,
    "exaone4": _exaone,
    "exaone_moe": _exaone,
    "gemma2": _every_nth_full(2, None),
    "gemma3_text": _every_nth_full(6),
    "gemma3n_text": _every_nth_full(5, None),
    "gemma4_text": _every_nth_full(6, None),
    "gemma4_unified_text": _every_nth_full(6, None),
    "gpt_oss": _every_nth_full(2, None),
    "granite_swa": _first_of_four_full,
    "granitemoe_swa": _first_of_four_full,
    "kolibri1": _every_nth_full(5, None),
    "laguna": _all_full,
    "llama4_text": _without_rope_full,
    "mellum": _all_full,
    "ministral": _all_sliding,
    "muse_glimmer_text": _fourth_from_the_last_full,
    "olmo3": _every_nth_full(4, None),
    "qwen2": _above_max_window_layers,
    "qwen2_5_omni_text": _above_max_window_layers,
    "qwen2_5_vl_text": _above_max_window_layers,
    "qwen2_moe": _alternating_below_max_window_layers,
    "qwen2_vl_text": _above_max_window_layers,
    "qwen3": _above_max_window_layers,
    "smollm3": _without_rope_sliding,
    "step3p5": _all_full,
    "vaultgemma": _every_nth_full(2, None),
}
"""How a class fills in ``layer_types``; classes without a row leave the key out."""

LAST_LAYER_FULL = frozenset({"gemma4_text", "gemma4_unified_text"})
"""Model types whose class makes the last layer full whatever the list says."""

OPTIONAL_WINDOW = frozenset({
    "qwen2", "qwen2_5_omni_text", "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl_text", "qwen3", "qwen3_moe",
})  # fmt: skip
"""Model types whose class drops the window unless ``use_sliding_window`` is true."""

NO_WINDOW = frozenset({"qwen3_vl_moe_text"})
"""Model types whose class drops any stated window."""

HALVED_BY: Mapping[str, object] = {"gemma3_text": True, "gemma4_text": "all", "gemma4_unified_text": "all"}
"""Value of ``use_bidirectional_attention`` under which the class halves the window to look both ways."""


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


def sliding_window(config: ModelConfig) -> int | None:
    """The window in tokens as the configuration class settles it; None where it is absent or switched off.

    Raises:
        ConfigError: The window is not a positive number of tokens.
    """
    if config.model_type in NO_WINDOW or config.get("sliding_window") is None:
        return None
    if config.model_type in OPTIONAL_WINDOW and not config.get("use_sliding_window", False):
        return None
    window = config.integer("sliding_window")
    halved_by = HALVED_BY.get(config.model_type)
    if halved_by is not None and config.get("use_bidirectional_attention", False) == halved_by:
        return window // 2 + 1
    return window


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
        raise _wrong_length(config, "no_rope_layers", len(stated))
    return [bool(entry) for entry in stated]


def _checked(config: ModelConfig, stated: Sequence[object], layers: int) -> list[str]:
    if config.model_type == "step3p5" and len(stated) > layers:
        stated = stated[:layers]  # trailing entries describe drafter layers
    if len(stated) != layers:
        raise _wrong_length(config, "layer_types", len(stated))
    for entry in stated:
        if not isinstance(entry, str):
            raise config_error(config.path("layer_types"), entry, "each entry must be a text", "Give it unchanged.")
    return [str(entry) for entry in stated]


def _wrong_length(config: ModelConfig, key: str, length: int) -> Exception:
    rule = f"the list has {length} entries for {config.num_hidden_layers} layers"
    return config_error(config.path(key), f"{length} entries", rule, "Give the config.json unchanged.")
