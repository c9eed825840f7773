"""One row of the architecture table: how the layers of a Hugging Face architecture compose known mechanisms."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kvcore.config import ModelConfig
from kvcore.layout.cache import Cache
from kvcore.layout.layer_kinds import LayerKinds
from kvcore.layout.layout import LayerCache
from kvcore.layout.traits import Traits

CacheBuilder = Callable[[ModelConfig, int], Cache | None]
"""Builds the cache of one layer from the config and the layer's index; None: the layer stores nothing."""

DraftBuilder = Callable[[ModelConfig, int], Sequence[LayerCache]]
"""Builds the drafter's own layers from the config and the number of speculative tokens."""

Sharing = Callable[[ModelConfig], Sequence[tuple[int, int]]]
"""Tells which layers read which other layer's cache."""

DEFAULT_TRAITS = Traits()


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """How one architecture is laid out.

    Attributes:
        layer_kinds: Kind of each layer.
        caches: For each kind, the caches one such layer keeps, in the engine's order.
        traits: What the architecture means to engines.
        mtp: Layers of the checkpoint's own drafter (multi-token prediction), where the engine has one.
        shares: Pairs of a layer that stores nothing and the layer whose cache it reads.
        language_model: Architecture of the language model a multimodal wrapper holds; None: the row is complete.
        tower_keys: Root keys of sizes of vision or audio towers that tensor parallelism must divide, dotted.
        heads_per_layer: The configuration class states heads per layer, of which engines take the largest as the
            model's.
        source: Engine class the row was read from.
    """

    layer_kinds: LayerKinds
    caches: Mapping[str, tuple[CacheBuilder, ...]]
    source: str
    traits: Traits = DEFAULT_TRAITS
    mtp: DraftBuilder | None = None
    shares: Sharing | None = None
    language_model: Callable[[ModelConfig], str] | None = None
    tower_keys: tuple[str, ...] = ()
    heads_per_layer: bool = False

    def traits_of(self, config: ModelConfig) -> Traits:
        """The traits of one checkpoint: a hybrid whose layers all attend keeps no state (vLLM `is_hybrid`)."""
        if self.traits.keeps_state and set(self.layer_kinds(config)) == {"full_attention"}:
            return dataclasses.replace(self.traits, keeps_state=False)
        return self.traits
