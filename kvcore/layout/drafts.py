"""Drafters inside a checkpoint: layers that predict several tokens ahead (multi-token prediction)."""

from collections.abc import Sequence

from kvcore.config import ModelConfig
from kvcore.errors import EngineRefusal, config_error, refusal
from kvcore.layout.architecture import CacheBuilder, DraftBuilder
from kvcore.layout.layout import LayerCache

COUNT_KEY = "num_nextn_predict_layers"


def mtp_layers(
    *builders: CacheBuilder,
    key: str = COUNT_KEY,
    default: int | None = None,
    fixed: int | None = None,
    model_types: frozenset[str] = frozenset(),
) -> DraftBuilder:
    """Drafter layers behind the model's own, each like a layer of the model.

    Args:
        builders: Caches of one drafter layer, in the engine's order.
        key: Config key of the layer count.
        default: Count where the key is absent; None: the engine then has no drafter for the checkpoint.
        fixed: Count the engine uses whatever the checkpoint states.
        model_types: Model types whose checkpoints the engine turns into drafters; empty: all of the architecture.
    """

    def drafts(config: ModelConfig, num_speculative_tokens: int) -> Sequence[LayerCache]:
        root_type = config.root.get("model_type")
        if model_types and root_type not in model_types:
            raise unsupported_method("mtp", f"model type {root_type!r} has no drafter")
        stated = config.optional_integer(key)
        count = fixed or (default if stated is None else stated)
        if not count:
            rule = "the checkpoint states no drafter layers, so vLLM has no method mtp for it"
            raise config_error(config.path(key), stated, rule, "Use another method, or leave out speculative_config.")
        check_multiple(num_speculative_tokens, count)
        first = config.num_hidden_layers
        return tuple(
            LayerCache(layer_index=index, cache=cache, draft=True)
            for index in range(first, first + count)
            for builder in builders
            if (cache := builder(config, index)) is not None
        )

    return drafts


def check_multiple(num_speculative_tokens: int, layers: int) -> None:
    """More tokens than drafter layers must be a multiple of the layers (vLLM 0.33.0 `SpeculativeConfig`).

    Raises:
        EngineRefusal: They are not.
    """
    if num_speculative_tokens > layers and num_speculative_tokens % layers:
        rule = f"num_speculative_tokens must be a multiple of the drafter's {layers} layers"
        raise refusal("speculative_config", num_speculative_tokens, rule, f"Use a multiple of {layers}.")


def retained_by_modules(config: ModelConfig, num_speculative_tokens: int) -> int:
    """Tokens a window keeps beyond its own for drafters of several modules, which read further ahead.

    Source: vLLM 0.33.0 `SpeculativeConfig.use_multi_module_mtp` and `num_prefill_lookahead_tokens`.
    """
    stated = config.root.get(COUNT_KEY)
    modules = stated if isinstance(stated, int) else 1
    return num_speculative_tokens - 1 if min(modules, num_speculative_tokens) > 1 else 0


def unsupported_method(method: str, why: str) -> EngineRefusal:
    """The refusal of a speculative method the engine has not for this model."""
    rule = f"vLLM does not support this speculative method here: {why}"
    return refusal("speculative_config", method, rule, "Use another method, or leave out speculative_config.")
