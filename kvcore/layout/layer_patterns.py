"""Patterns by which Hugging Face's configuration classes derive ``layer_types`` where a config leaves it out.

Source of each row: the class's ``__post_init__`` in transformers 5.20, found by model type.
"""

from collections.abc import Callable, Mapping, Sequence

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.stated_window import no_rope_layers, sliding_window

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
