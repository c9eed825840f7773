"""Nemotron 3's drafter, whose layers follow a pattern of their own."""

from collections.abc import Sequence

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.hybrid_attention import nemotron_attention
from kvcore.layout.hybrid_kinds import LEGACY_NAMES, pattern_kinds
from kvcore.layout.layout import LayerCache


def nemotron_drafts(config: ModelConfig, num_speculative_tokens: int) -> Sequence[LayerCache]:
    """Nemotron 3's drafter: one step of the layers its own pattern lists (vLLM 0.33.0 `NemotronHMultiTokenPredictor`).

    Raises:
        ConfigError: The checkpoint has no drafter, more than one step, or layers the engine does not build.
    """
    key = "num_nextn_predict_layers"
    steps = config.optional_integer(key)
    if not steps:
        rule = "the checkpoint states no drafter layers, so vLLM has no method mtp for it"
        raise config_error(config.path(key), steps, rule, "Use another method, or leave out speculative_config.")
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
