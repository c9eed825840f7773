"""Layer kinds of hybrids: which layers attend and which keep a state, read from each family's own keys."""

from collections.abc import Callable, Mapping, Sequence

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.layer_kinds import LayerKinds

LEGACY_NAMES: Mapping[str, str] = {"mamba": "linear_attention", "attention": "full_attention"}
"""Older names of layer types (transformers 5.16 `_LEGACY_LAYER_TYPE_REMAP`)."""

NEMOTRON_LETTERS: Mapping[str, str] = {"M": "linear_attention", "E": "moe", "*": "full_attention", "-": "mlp"}
"""Letters of ``hybrid_override_pattern`` (transformers 5.16 `NemotronHConfig._pattern_to_list`)."""

FallbackKinds = Callable[[ModelConfig], Sequence[str]]

_UNCHANGED = "Give the config.json unchanged."


def layer_types_or(fallback: FallbackKinds, *keys: str) -> LayerKinds:
    """The kinds a list in the config names, or those of its class where the list is absent.

    Args:
        fallback: Kinds where no key is stated.
        keys: Keys looked for, in order; ``layer_types`` where none are named.
    """

    def kinds(config: ModelConfig) -> Sequence[str]:
        for key in keys or ("layer_types",):
            stated = config.sequence(key)
            if stated is not None:
                return _whole_list(config, key, stated)
        return fallback(config)

    return kinds


def _whole_list(config: ModelConfig, key: str, stated: Sequence[object]) -> Sequence[str]:
    if len(stated) != config.num_hidden_layers:
        rule = f"one layer type per layer is expected, that is {config.num_hidden_layers}, not {len(stated)}"
        raise config_error(config.path(key), list(stated), rule, _UNCHANGED)
    return tuple(LEGACY_NAMES.get(str(kind), str(kind)) for kind in stated)


def every_nth_attends(key: str, default: int) -> FallbackKinds:
    """Every n-th layer attends and the others keep a state (``full_attention_interval`` of Qwen3-Next)."""

    def kinds(config: ModelConfig) -> Sequence[str]:
        interval = config.integer(key, default)
        return tuple(
            "linear_attention" if (index + 1) % interval else "full_attention"
            for index in range(config.num_hidden_layers)
        )

    return kinds


def all_states(config: ModelConfig) -> Sequence[str]:
    """Every layer keeps a state."""
    return ("linear_attention",) * config.num_hidden_layers


def olmo_kinds(config: ModelConfig) -> Sequence[str]:
    """Every fourth layer attends, in a short model the last one (transformers 5.16 `OlmoHybridConfig`)."""
    kinds = list(every_nth_attends("full_attention_interval", 4)(config))
    if "full_attention" not in kinds:
        kinds[-1] = "full_attention"
    return kinds


def lfm2_kinds(config: ModelConfig) -> Sequence[str]:
    """Layers in ``full_attn_idxs`` attend, all where the key is absent (transformers 5.16 `Lfm2Config`)."""
    layers = range(config.num_hidden_layers)
    attending = config.sequence("full_attn_idxs")
    if attending is None:
        return ("full_attention",) * len(layers)
    return tuple("full_attention" if index in attending else "conv" for index in layers)


def no_layer_types(config: ModelConfig) -> Sequence[str]:
    """The class has no default for its layer list.

    Raises:
        ConfigError: Always, naming the key.
    """
    raise config.missing("layer_types")


def jamba_kinds(config: ModelConfig) -> Sequence[str]:
    """One layer in ``attn_layer_period`` attends (transformers 5.16 `JambaConfig.layers_block_type`).

    Raises:
        ConfigError: The offset is not smaller than the period.
    """
    period = config.integer("attn_layer_period")
    offset = config.integer("attn_layer_offset", minimum=0)
    if offset >= period:
        rule = f"must be smaller than attn_layer_period ({period})"
        raise config_error(config.path("attn_layer_offset"), offset, rule, _UNCHANGED)
    layers = range(config.num_hidden_layers)
    return tuple("full_attention" if index % period == offset else "linear_attention" for index in layers)


def zamba2_default_kinds(config: ModelConfig) -> Sequence[str]:
    """The pattern of the 54-layer model (transformers 5.16 `Zamba2Config`).

    Raises:
        ConfigError: The model has another number of layers.
    """
    state, hybrid = "linear_attention", "hybrid"
    pattern = [state, *([state] * 5 + [hybrid]) * 7, *[state] * 4, hybrid, *[state] * 3, hybrid, *[state] * 2]
    if len(pattern) != config.num_hidden_layers:
        raise config.missing("layers_block_type")
    return pattern


def nemotron_kinds(config: ModelConfig) -> Sequence[str]:
    """The list of layer types, or the pattern of letters (transformers 5.16 `NemotronHConfig`).

    The list decides the number of layers; ``num_hidden_layers`` is not looked at.

    Raises:
        ConfigError: Neither is stated, or the pattern has an unknown letter.
    """
    for key in ("layers_block_type", "layer_types"):
        stated = config.sequence(key)
        if stated is not None:
            return tuple(LEGACY_NAMES.get(str(kind), str(kind)) for kind in stated)
    return pattern_kinds(config, "hybrid_override_pattern", config.get("hybrid_override_pattern"))


def pattern_kinds(config: ModelConfig, key: str, pattern: object) -> Sequence[str]:
    """The kinds a pattern of letters stands for.

    Raises:
        ConfigError: The pattern is absent, not a text, or has an unknown letter.
    """
    if pattern is None:
        raise config.missing(key)
    if not isinstance(pattern, str) or not pattern or not set(pattern) <= set(NEMOTRON_LETTERS):
        rule = f"a pattern of the letters {' '.join(NEMOTRON_LETTERS)} is expected"
        raise config_error(config.path(key), pattern, rule, _UNCHANGED)
    return tuple(NEMOTRON_LETTERS[letter] for letter in pattern)


def kimi_kinds(config: ModelConfig) -> Sequence[str]:
    """Layers whose number, counted from one, is in ``kda_layers`` keep a state (vLLM `KimiLinearConfig.is_kda_layer`).

    Raises:
        ConfigError: ``linear_attn_config`` has no such list.
    """
    key = "linear_attn_config.kda_layers"
    numbers = config.sequence(key)
    if numbers is None:
        raise config.missing(key)
    return tuple(
        "linear_attention" if number in numbers else "full_attention"
        for number in range(1, config.num_hidden_layers + 1)
    )


def bailing_kinds(config: ModelConfig) -> Sequence[str]:
    """The last layer of each group of ``layer_group_size`` attends (vLLM 0.33.0 `is_linear_layer`)."""
    size = config.integer("layer_group_size", 1, minimum=0)
    return tuple(
        "linear_attention" if size and (index + 1) % size else "full_attention"
        for index in range(config.num_hidden_layers)
    )


def bailing_v3_kinds(config: ModelConfig) -> Sequence[str]:
    """As before, and layers behind the last whole group attend too (vLLM 0.33.0 `bailing_moe_v3._is_kda_layer`)."""
    size = config.integer("layer_group_size")
    grouped = config.num_hidden_layers // size * size
    return tuple(
        "linear_attention" if (index + 1) % size and index < grouped else "full_attention"
        for index in range(config.num_hidden_layers)
    )
