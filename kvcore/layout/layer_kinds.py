"""Layer kinds: which mechanism each layer of a model uses, read from the config's own pattern."""

from collections.abc import Callable, Sequence

from kvcore.config import ModelConfig

LayerKinds = Callable[[ModelConfig], Sequence[str]]
"""Returns one kind per layer, in model order."""


def every_layer(kind: str) -> LayerKinds:
    """All layers are of one kind."""

    def kinds(config: ModelConfig) -> Sequence[str]:
        return (kind,) * config.num_hidden_layers

    return kinds
