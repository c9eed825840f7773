"""Drafters inside a checkpoint: layers that predict several tokens ahead (multi-token prediction)."""

from collections.abc import Mapping, Sequence

from kvcore.config import ModelConfig
from kvcore.errors import EngineRefusal, config_error, refusal
from kvcore.layout.architecture import CacheBuilder, DraftBuilder
from kvcore.layout.cache import Cache
from kvcore.layout.layer_kinds import LayerKinds
from kvcore.layout.layout import LayerCache

COUNT_KEY = "num_nextn_predict_layers"


def mtp_layers(
    *builders: CacheBuilder,
    key: str = COUNT_KEY,
    default: int | None = None,
    fixed: int | None = None,
    model_types: frozenset[str] = frozenset(),
    architectures: frozenset[str] = frozenset(),
) -> DraftBuilder:
    """Drafter layers behind the model's own, each like a layer of the model.

    Args:
        builders: Caches of one drafter layer, in the engine's order.
        key: Config key of the layer count.
        default: Count where the key is absent; None: the engine then has no drafter for the checkpoint.
        fixed: Count the engine uses whatever the checkpoint states.
        model_types: Model types whose checkpoints the engine turns into drafters; empty: all.
        architectures: Architectures whose checkpoints it turns into drafters; empty: all.
    """

    def drafts(config: ModelConfig, num_speculative_tokens: int) -> Sequence[LayerCache]:
        _check_supported(config, model_types, architectures)
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


def first_layers_again(
    row_kinds: LayerKinds,
    caches: Mapping[str, CacheBuilder],
    *,
    model_types: frozenset[str],
    own_keys: tuple[str, ...] = (),
) -> DraftBuilder:
    """Drafter layers that repeat the types of the model's first layers (vLLM 0.33.0 `Exaone4_5MultiTokenPredictor`).

    Args:
        row_kinds: Kinds of the model's layers.
        caches: Cache of a layer of each kind.
        model_types: Model types whose checkpoints the engine turns into drafters.
        own_keys: Keys that give the drafter layers of their own, which is not known here.
    """

    def drafts(config: ModelConfig, num_speculative_tokens: int) -> Sequence[LayerCache]:
        _check_supported(config, model_types, frozenset())
        for key in own_keys:
            if config.get(key):
                rule = "layers of the drafter's own are not known to kvcore"
                raise config_error(config.path(key), config.get(key), rule, "An engine log would settle it.")
        stated = config.root.get(COUNT_KEY)
        count = stated if isinstance(stated, int) and not isinstance(stated, bool) else 1
        check_multiple(num_speculative_tokens, count)
        kinds = row_kinds(config)
        first = config.num_hidden_layers
        layers = []
        for offset in range(count):
            builder = caches.get(kinds[offset]) if offset < len(kinds) else None
            cache = builder(config, offset) if builder is not None else None
            if cache is None:
                raise unsupported_method("mtp", f"layer {offset}, which the drafter repeats, keeps no cache")
            layers.append(LayerCache(layer_index=first + offset, cache=cache, draft=True))
        return tuple(layers)

    return drafts


def _check_supported(config: ModelConfig, model_types: frozenset[str], architectures: frozenset[str]) -> None:
    root_type = config.root.get("model_type")
    if model_types and (not isinstance(root_type, str) or root_type not in model_types):
        raise unsupported_method("mtp", f"model type {root_type!r} has no drafter")
    if architectures and config.architecture not in architectures:
        raise unsupported_method("mtp", f"{config.architecture} has no drafter")


def like_the_layers(kinds: LayerKinds, caches: Mapping[str, CacheBuilder]) -> CacheBuilder:
    """A drafter layer like the layers of a model whose layers are all of one kind."""

    def build(config: ModelConfig, layer_index: int) -> Cache | None:
        return caches[kinds(config)[0]](config, layer_index)

    return build


def check_multiple(num_speculative_tokens: int, layers: int) -> None:
    """More tokens than drafter layers must be a multiple of the layers (vLLM 0.33.0 `SpeculativeConfig`).

    Raises:
        EngineRefusal: They are not.
    """
    if num_speculative_tokens > layers and num_speculative_tokens % layers:
        rule = f"num_speculative_tokens must be a multiple of the drafter's {layers} layers"
        raise refusal("speculative_config", num_speculative_tokens, rule, f"Use a multiple of {layers}.")


def retained_by_modules(config: ModelConfig, drafts: Sequence[LayerCache], num_speculative_tokens: int) -> int:
    """Tokens a window keeps beyond its own for drafters of several modules, which read further ahead.

    Source: vLLM 0.33.0 `SpeculativeConfig.use_multi_module_mtp` and `num_prefill_lookahead_tokens`.
    """
    stated = config.root.get(COUNT_KEY)
    modules = min(stated if isinstance(stated, int) else 1, len({layer.layer_index for layer in drafts}))
    return num_speculative_tokens - 1 if min(modules, num_speculative_tokens) > 1 else 0


def unsupported_method(method: str, why: str) -> EngineRefusal:
    """The refusal of a speculative method the engine has not for this model."""
    rule = f"vLLM does not support this speculative method here: {why}"
    return refusal("speculative_config", method, rule, "Use another method, or leave out speculative_config.")
