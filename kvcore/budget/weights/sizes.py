"""Sizes: bytes of a network's weights on one GPU of each pipeline stage, and its published parameters."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kvcore.budget.weights.allocator import allocated_bytes
from kvcore.budget.weights.extras import absorbed_bytes
from kvcore.budget.weights.modules import Experts, Linear, Module, Network, Parameter, Vocabulary, parameters_of
from kvcore.budget.weights.quantization import Quantization
from kvcore.budget.weights.ranks import (
    LinearShape,
    Ranks,
    expert_shape,
    linear_shape,
    parameter_elements,
    vocabulary_rows,
)
from kvcore.budget.weights.scheme import Scheme
from kvcore.budget.weights.stored import Stored, StoredNetwork, store, store_modules
from kvcore.dtypes import ELEMENT_BYTES


@dataclass(frozen=True, kw_only=True)
class StageWeights:
    """Weight bytes of one GPU of one pipeline stage.

    Attributes:
        by_group: Bytes by what the weights are for.
        allocated: Bytes the allocator hands out for them, tensor by tensor.
        absorbed: Bytes of the copies that latent attention makes of them while loading.
    """

    by_group: Mapping[str, int]
    allocated: int
    absorbed: int = 0

    @property
    def bytes(self) -> int:
        """All groups together."""
        return sum(self.by_group.values())

    def with_group(self, group: str, weights: "StageWeights") -> "StageWeights":
        """These weights and others, which count as one group."""
        return StageWeights(
            by_group={**self.by_group, group: weights.bytes},
            allocated=self.allocated + weights.allocated,
            absorbed=self.absorbed + weights.absorbed,
        )


@dataclass(frozen=True, kw_only=True)
class Share:
    """One GPU's part of a network, piece by piece, before pipeline stages are put together.

    Attributes:
        every: What every stage holds.
        first: What the first stage holds beside it.
        elsewhere: What the other stages hold of that.
        kinds: Each kind of layer.
        layers: Which kind each layer is.
        last: What the last stage holds.
        tied: The embedding again, where the last stage is not the first.
    """

    every: StageWeights
    first: StageWeights
    elsewhere: StageWeights
    kinds: tuple[StageWeights, ...]
    layers: tuple[int, ...]
    last: StageWeights
    tied: StageWeights


def share_of(network: StoredNetwork, ranks: Ranks, dtype: str) -> Share:
    """Returns one GPU's part of a network as the engine creates it, before anything is repacked.

    Args:
        network: The model.
        ranks: Parallel sizes.
        dtype: The model's element type.

    Raises:
        EngineRefusal: A module does not divide over the ranks.
    """
    every, first = _weigh(network.every, ranks, dtype), _weigh(network.first, ranks, dtype)
    return Share(
        every=every,
        first=first,
        elsewhere=_weigh(network.towers if ranks.towers_everywhere else (), ranks, dtype),
        kinds=tuple(_weigh(kind, ranks, dtype) for kind in network.kinds),
        layers=network.layers,
        last=_weigh(network.last, ranks, dtype),
        tied=_weigh(network.tied, ranks, dtype),
    )


def stages_of(share: Share, stage_layers: Sequence[int]) -> tuple[StageWeights, ...]:
    """Returns the weights of every pipeline stage.

    Args:
        share: One GPU's part of the network.
        stage_layers: Layers of each stage.
    """
    stages = []
    start = 0
    last = len(stage_layers) - 1
    for stage, count in enumerate(stage_layers):
        pieces = [(share.every, 1), (share.elsewhere if stage else share.first, 1)]
        pieces += [(share.kinds[kind], number) for kind, number in Counter(share.layers[start : start + count]).items()]
        if stage == last:
            pieces += [(share.last, 1), (share.tied, 1)] if stage else [(share.last, 1)]
        stages.append(_together(pieces))
        start += count
    return tuple(stages)


def stage_weights(
    network: Network, ranks: Ranks, stage_layers: Sequence[int], dtype: str, quantization: Quantization
) -> tuple[StageWeights, ...]:
    """Weights of every pipeline stage as the engine creates them, before anything is repacked.

    Args:
        network: The model.
        ranks: Parallel sizes.
        stage_layers: Layers of each stage.
        dtype: The model's element type.
        quantization: Which scheme stores which module.

    Raises:
        EngineRefusal: A module does not divide over the ranks.
    """
    return stages_of(share_of(store(network, dtype, quantization), ranks, dtype), stage_layers)


def weights_of_modules(
    named: Sequence[tuple[str, Module]], ranks: Ranks, dtype: str, quantization: Quantization
) -> StageWeights:
    """Weights of modules by path on one GPU.

    Raises:
        EngineRefusal: A module does not divide over the ranks.
    """
    return _weigh(store_modules(named, dtype, quantization), ranks, dtype)


def published_params(network: Network) -> int | None:
    """Parameters as published for the model without its drafter: no padding, no copies, tied heads once.

    None where the checkpoint holds parts the engine does not load and whose size is not known.
    """
    if network.unloaded_params is None:
        return None
    return parameters_of(module for _, module in network.named()) + network.unloaded_params


def module_bytes(stored: Stored, ranks: Ranks, dtype: str) -> int:
    """Bytes of one module on one GPU.

    Raises:
        EngineRefusal: The module does not divide over the ranks.
    """
    module, scheme = stored.module, stored.scheme
    element = ELEMENT_BYTES[dtype]
    if isinstance(module, Parameter):
        return parameter_elements(module, ranks) * ELEMENT_BYTES[module.dtype or dtype]
    if isinstance(module, Vocabulary):
        rows = vocabulary_rows(module, ranks)
        matrix = LinearShape(inputs=module.width, outputs=(rows,), whole_inputs=module.width)
        return scheme.linear_bytes(matrix) + (rows * element if module.bias else 0)
    if isinstance(module, Linear):
        shape = linear_shape(module, ranks)
        bias = shape.size * ELEMENT_BYTES[module.dtype or dtype] if module.bias else 0
        return scheme.linear_bytes(shape) + bias + stored.cache_scale_bytes
    return _experts_bytes(module, scheme, ranks, element)


def _experts_bytes(module: Experts, scheme: Scheme, ranks: Ranks, element: int) -> int:
    shape = expert_shape(module, ranks)
    total = scheme.expert_bytes(shape)
    if module.bias:
        inputs, intermediate = scheme.expert_padding(shape)
        total += shape.count * (shape.projections * intermediate + inputs) * element
    return total


def _weigh(modules: Iterable[Stored], ranks: Ranks, dtype: str) -> StageWeights:
    groups: dict[str, int] = {}
    allocated = absorbed = 0
    for stored in modules:
        size = module_bytes(stored, ranks, dtype)
        group = stored.module.group
        groups[group] = groups.get(group, 0) + size
        allocated += _allocated(stored.module, size)
        absorbed += absorbed_bytes(stored.module, ranks)
    return StageWeights(by_group=groups, allocated=allocated, absorbed=absorbed)


def _together(pieces: Iterable[tuple[StageWeights, int]]) -> StageWeights:
    """Pieces, each so many times."""
    groups: dict[str, int] = {}
    allocated = absorbed = 0
    for piece, number in pieces:
        for group, size in piece.by_group.items():
            groups[group] = groups.get(group, 0) + number * size
        allocated += number * piece.allocated
        absorbed += number * piece.absorbed
    return StageWeights(by_group=groups, allocated=allocated, absorbed=absorbed)


def _allocated(module: Module, size: int) -> int:
    """Bytes the allocator hands out for a module of this size; parameters gathered from many tensors are not rounded."""
    if isinstance(module, Experts):
        narrow = size // (module.projections + 1)
        return allocated_bytes(narrow) + allocated_bytes(size - narrow)
    return size if isinstance(module, Parameter) else allocated_bytes(size)
