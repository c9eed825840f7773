"""Drafter layers (multi-token prediction) that hybrids carry: attention layers on the last pipeline stage."""

from collections.abc import Sequence

from kvcore.config import ModelConfig
from kvcore.errors import config_error, refusal
from kvcore.layout.architecture import CacheBuilder, DraftBuilder
from kvcore.layout.hybrid_attention import nemotron_attention
from kvcore.layout.hybrid_kinds import LEGACY_NAMES, pattern_kinds
from kvcore.layout.layout import LayerCache


def attending_drafts(count_key: str, builder: CacheBuilder, *, default: int | None) -> DraftBuilder:
    """Drafts of as many attention layers as a key states, each like the model's own.

    Args:
        count_key: Config key of the layer count.
        builder: Cache of one such layer.
        default: Layers where the key is absent; None: the engine then has no drafter for the checkpoint.
    """

    def drafts(config: ModelConfig, num_speculative_tokens: int) -> Sequence[LayerCache]:
        stated = config.optional_integer(count_key)
        layers = default if stated is None else stated
        if not layers:
            raise _no_drafter(config, count_key, stated)
        if stated:
            _check_multiple(num_speculative_tokens, stated)
        first = config.num_hidden_layers
        return tuple(
            LayerCache(layer_index=index, cache=cache, draft=True)
            for index in range(first, first + layers)
            if (cache := builder(config, index)) is not None
        )

    return drafts


def nemotron_drafts(config: ModelConfig, num_speculative_tokens: int) -> Sequence[LayerCache]:
    """Nemotron 3's drafter: one step of the layers its own pattern lists (vLLM 0.33.0 `NemotronHMultiTokenPredictor`).

    Raises:
        ConfigError: The checkpoint has no drafter, more than one step, or layers the engine does not build.
    """
    key = "num_nextn_predict_layers"
    steps = config.optional_integer(key)
    if not steps:
        raise _no_drafter(config, key, steps)
    if steps != 1:
        rule = "vLLM supports one prediction step of this architecture"
        raise config_error(config.path(key), steps, rule, "Leave out speculative_config.")
    kinds = _nemotron_draft_kinds(config)
    if not set(kinds) <= {"full_attention", "moe"}:
        rule = "vLLM builds attention and expert layers in this drafter only"
        raise config_error(config.path("mtp_layers_block_type"), list(kinds), rule, "Leave out speculative_config.")
    first = config.num_hidden_layers
    return tuple(
        LayerCache(layer_index=first + offset, cache=nemotron_attention(config, first + offset), draft=True)
        for offset, kind in enumerate(kinds)
        if kind == "full_attention"
    )


def _nemotron_draft_kinds(config: ModelConfig) -> Sequence[str]:
    """A list that differs from the class default outranks the pattern (transformers 5.16 `NemotronHConfig`)."""
    default = ("full_attention", "moe")
    stated = config.sequence("mtp_layers_block_type")
    kinds = default if stated is None else tuple(LEGACY_NAMES.get(str(kind), str(kind)) for kind in stated)
    pattern = config.get("mtp_hybrid_override_pattern")
    if pattern is not None and kinds == default:
        return pattern_kinds(config, "mtp_hybrid_override_pattern", pattern)
    return kinds


def _no_drafter(config: ModelConfig, key: str, value: object) -> Exception:
    rule = "the checkpoint states no drafter layers, so vLLM has no method mtp for it"
    return config_error(config.path(key), value, rule, "Use another method, or leave out speculative_config.")


def _check_multiple(num_speculative_tokens: int, layers: int) -> None:
    if num_speculative_tokens > layers and num_speculative_tokens % layers:
        rule = f"vLLM needs a multiple of the drafter's {layers} layers"
        raise refusal("speculative_config", num_speculative_tokens, rule, f"Use a multiple of {layers}.")
