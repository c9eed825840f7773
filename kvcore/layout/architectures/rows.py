"""Shapes of table rows that families share, so that each architecture stays one line."""

from collections.abc import Sequence

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.architecture import Architecture, CacheBuilder, DraftBuilder
from kvcore.layout.grouped_query import grouped_query
from kvcore.layout.layer_kinds import LayerKinds
from kvcore.layout.layer_types import FULL, SLIDING
from kvcore.layout.traits import Traits
from kvcore.layout.window import attention_kinds, sliding_attention

ENCODER_ONLY = "encoder_only"
PLAIN = Traits()
NO_PIPELINE = Traits(supports_pipeline=False)
ENCODER_MODULES = frozenset({"bert", "bert_with_rope", "modernbert", "roberta"})
"""Modules whose classes are encoders only."""


def decoder(
    module: str,
    *,
    interleaved: bool = False,
    model_window: bool = True,
    refuses_mixed: bool = False,
    full: CacheBuilder = grouped_query,
    sliding: CacheBuilder = sliding_attention,
    traits: Traits = PLAIN,
    mtp: DraftBuilder | None = None,
) -> Architecture:
    """A decoder of keys and values.

    Args:
        module: The engine's module under ``model_executor/models``.
        interleaved: The class windows the layers whose type is ``sliding_attention``.
        model_window: Layers without a window of their own take the model's.
        refuses_mixed: The class refuses windows on only some layers.
        full: Cache of a layer that keeps every token.
        sliding: Cache of a layer that keeps a window.
        traits: What the architecture means to engines.
        mtp: Layers of the checkpoint's own drafter.
    """
    kinds = attention_kinds(interleaved=interleaved, model_window=model_window, refuses_mixed=refuses_mixed)
    return Architecture(
        layer_kinds=causal_or_encoder(kinds),
        caches={FULL: (full,), SLIDING: (sliding,), ENCODER_ONLY: ()},
        traits=traits,
        mtp=mtp,
        source=f"vLLM 0.33.0 `models/{module}.py`",
    )


def causal_or_encoder(kinds: LayerKinds) -> LayerKinds:
    """Layers attend in both directions and keep nothing where ``is_causal`` is false (vLLM `EncoderOnlyAttention`)."""

    def chosen(config: ModelConfig) -> Sequence[str]:
        if config.get("is_causal", True) is False:
            return (ENCODER_ONLY,) * config.num_hidden_layers
        return kinds(config)

    return chosen


def encoder(module: str, *, only_if: str | None = None) -> Architecture:
    """An encoder: every layer attends in both directions and keeps nothing between steps.

    Classes that are encoders only do not implement `SupportsPP`; decoders that attend in both directions do.

    Args:
        module: The engine's module under ``model_executor/models``.
        only_if: Config key that must be true for the class to be an encoder.
    """

    def kinds(config: ModelConfig) -> Sequence[str]:
        if only_if is not None and not config.get(only_if, False):
            rule = f"{config.architecture} is known as an encoder only, which this key would say"
            source = "The model's code in the engine would settle what its layers cache."
            raise config_error(config.path(only_if), config.get(only_if), rule, source)
        return (ENCODER_ONLY,) * config.num_hidden_layers

    return Architecture(
        layer_kinds=kinds,
        caches={ENCODER_ONLY: ()},
        traits=Traits(
            pooling=True,
            chunked_prefill=False,
            prefix_caching=False,
            supports_pipeline=module not in ENCODER_MODULES,
        ),
        source=f"vLLM 0.33.0 `models/{module}.py`",
    )
