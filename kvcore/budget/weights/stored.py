"""Stored: a network's modules, each with the scheme that stores it, and its layers by kind.

Finding schemes means matching paths against a checkpoint's lists; it is done once, whatever the parallel sizes. Most
layers hold the same modules stored the same way, so a deployment weighs each kind of layer once.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kvcore.budget.weights.modules import TOWERS, Linear, Module, Network, Parameter, Vocabulary
from kvcore.budget.weights.quantization import Quantization
from kvcore.budget.weights.scheme import Scheme, plain
from kvcore.dtypes import ELEMENT_BYTES


@dataclass(frozen=True)
class Stored:
    """A module as a checkpoint stores it.

    Attributes:
        module: The module.
        scheme: How its elements are stored.
        cache_scale_bytes: Bytes of the cache scales stored with it.
    """

    module: Module
    scheme: Scheme
    cache_scale_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class StoredNetwork:
    """A model's modules as stored, by where pipeline stages place them.

    Attributes:
        every: Modules on every stage.
        first: Modules on the first stage.
        towers: Those of them that encode pictures and sound.
        kinds: The different layers there are.
        layers: Kind of each layer, by its place in ``kinds``.
        last: Modules on the last stage.
        tied: The embedding again, as an output head; empty where it is not tied.
    """

    every: tuple[Stored, ...]
    first: tuple[Stored, ...]
    towers: tuple[Stored, ...]
    kinds: tuple[tuple[Stored, ...], ...]
    layers: tuple[int, ...]
    last: tuple[Stored, ...]
    tied: tuple[Stored, ...]


def store(network: Network, dtype: str, quantization: Quantization) -> StoredNetwork:
    """Returns the modules of a network as stored.

    Args:
        network: The model.
        dtype: The model's element type.
        quantization: Which scheme stores which module.
    """

    def outside(modules: Iterable[Module]) -> tuple[Stored, ...]:
        return store_modules(((module.name, module) for module in modules), dtype, quantization)

    kinds: dict[tuple[Stored, ...], int] = {}
    # Without quantization no path matters: equal layers are stored alike.
    alike: dict[tuple[Module, ...], int] = {}
    layers = []
    for index, modules in enumerate(network.layers):
        kind = None if quantization.name else alike.get(modules)
        if kind is None:
            named = ((f"{network.layer_prefix}.{index}.{module.name}", module) for module in modules)
            kind = kinds.setdefault(store_modules(named, dtype, quantization), len(kinds))
            alike[modules] = kind
        layers.append(kind)
    return StoredNetwork(
        every=outside(network.every),
        first=outside(network.first),
        towers=outside(module for module in network.first if module.group in TOWERS),
        kinds=tuple(kinds),
        layers=tuple(layers),
        last=outside(network.last),
        tied=outside(() if network.tied is None else (network.tied,)),
    )


def store_modules(named: Iterable[tuple[str, Module]], dtype: str, quantization: Quantization) -> tuple[Stored, ...]:
    """Returns modules by path as stored; arguments as of :func:`store`."""
    return tuple(_stored(path, module, dtype, quantization) for path, module in named)


def _stored(path: str, module: Module, dtype: str, quantization: Quantization) -> Stored:
    if isinstance(module, Parameter):
        return Stored(module, plain(ELEMENT_BYTES[module.dtype or dtype]))
    if isinstance(module, Vocabulary):
        return Stored(module, quantization.vocabulary_scheme(path, module, dtype))
    if isinstance(module, Linear):
        scheme = quantization.linear_scheme(path, module, module.dtype or dtype)
        return Stored(module, scheme, quantization.cache_scales(module))
    return Stored(module, quantization.expert_scheme(path, module, dtype))
