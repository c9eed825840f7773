"""Layout: which tensors persist between decode steps, layer by layer, gathered into parts."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from kvcore.layout.cache import Cache
from kvcore.layout.paging import GivenPaging


@dataclass(frozen=True, kw_only=True)
class LayerCache:
    """One cache of one layer. ``draft`` marks layers of a speculative drafter."""

    layer_index: int
    cache: Cache
    draft: bool = False


@dataclass(frozen=True, kw_only=True)
class Part:
    """Equal caches of several layers, in model order."""

    name: str
    cache: Cache
    layer_indices: tuple[int, ...]
    draft: bool


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Everything a model keeps between decode steps.

    Attributes:
        attention_kind: Label such as "grouped-query attention".
        num_hidden_layers: Layers of the model, without drafters: what pipeline stages divide.
        layers: Caches in model order; a layer may own none, one or several.
        notes: What the reader should know (for example "text part of a multimodal model only").
        shared_layers: Pairs of a layer that stores nothing and the layer whose cache it reads.
        tower_sizes: Heads and widths of vision or audio towers by config key, which tensor parallelism must divide too.
        num_attention_heads: Query heads as the config states them; engines choose kernels by them. None: not stated.
        num_key_value_heads: KV heads as the config states them. None: not stated.
        head_size: Largest head size the config states. None: not stated.
        soft_capping: Attention logits are capped.
        extra_retained_tokens: Tokens every sliding window keeps beyond its own for drafters of several modules.
        paging: What a layout given by hand states about paging; None: the engine decides.
    """

    attention_kind: str
    num_hidden_layers: int
    layers: tuple[LayerCache, ...]
    notes: tuple[str, ...] = ()
    shared_layers: tuple[tuple[int, int], ...] = ()
    tower_sizes: tuple[tuple[str, int], ...] = ()
    num_attention_heads: int | None = None
    num_key_value_heads: int | None = None
    head_size: int | None = None
    soft_capping: bool = False
    extra_retained_tokens: int = 0
    paging: GivenPaging | None = None

    def __hash__(self) -> int:
        """Few facts tell layouts apart; hashing every layer would cost more than what is looked up by a layout."""
        return hash((self.attention_kind, len(self.layers), self.num_key_value_heads, self.head_size))

    @functools.cached_property
    def parts(self) -> tuple[Part, ...]:
        """The caches gathered by equality, in the order they first occur."""
        return gather(self.layers)


def gather(layers: Iterable[LayerCache]) -> tuple[Part, ...]:
    """Gathers equal caches into parts; parts of one name but different sizes get a number behind their name."""
    gathered: dict[tuple[Cache, bool], list[int]] = {}
    for layer in layers:
        gathered.setdefault((layer.cache, layer.draft), []).append(layer.layer_index)
    counts: dict[str, int] = {}
    parts = []
    for (cache, draft), indices in gathered.items():
        base = f"{cache.name} (draft)" if draft else cache.name
        counts[base] = counts.get(base, 0) + 1
        name = base if counts[base] == 1 else f"{base} {counts[base]}"
        parts.append(Part(name=name, cache=cache, layer_indices=tuple(indices), draft=draft))
    return tuple(parts)
