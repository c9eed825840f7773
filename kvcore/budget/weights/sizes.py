"""Sizes: bytes of a network's weights on one GPU of each pipeline stage, and its published parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kvcore.budget.weights.allocator import allocated_bytes
from kvcore.budget.weights.modules import (
    TOWERS,
    Experts,
    Linear,
    Module,
    Network,
    Parameter,
    Vocabulary,
    parameters_of,
)
from kvcore.budget.weights.quantization import Quantization
from kvcore.budget.weights.ranks import (
    LinearShape,
    Ranks,
    expert_shape,
    linear_shape,
    parameter_elements,
    vocabulary_rows,
)
from kvcore.dtypes import ELEMENT_BYTES


@dataclass(frozen=True, kw_only=True)
class StageWeights:
    """Weight bytes of one GPU of one pipeline stage.

    Attributes:
        by_group: Bytes by what the weights are for.
        allocated: Bytes the allocator hands out for them, tensor by tensor.
    """

    by_group: Mapping[str, int]
    allocated: int

    @property
    def bytes(self) -> int:
        """All groups together."""
        return sum(self.by_group.values())

    def with_group(self, group: str, weights: "StageWeights") -> "StageWeights":
        """These weights and others, which count as one group."""
        return StageWeights(
            by_group={**self.by_group, group: weights.bytes}, allocated=self.allocated + weights.allocated
        )


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
    stages = []
    start = 0
    last = len(stage_layers) - 1
    for stage, count in enumerate(stage_layers):
        named: list[tuple[str, Module]] = [(module.name, module) for module in network.every]
        named += [
            (module.name, module)
            for module in network.first
            if stage == 0 or (ranks.towers_everywhere and module.group in TOWERS)
        ]
        for index in range(start, start + count):
            named += [(f"{network.layer_prefix}.{index}.{module.name}", module) for module in network.layers[index]]
        if stage == last:
            named += [(module.name, module) for module in network.last]
            if stage > 0 and network.tied is not None:
                named.append((network.tied.name, network.tied))
        stages.append(_weigh(named, ranks, dtype, quantization))
        start += count
    return tuple(stages)


def weights_of_modules(
    named: Sequence[tuple[str, Module]], ranks: Ranks, dtype: str, quantization: Quantization
) -> StageWeights:
    """Weights of modules by path on one GPU.

    Raises:
        EngineRefusal: A module does not divide over the ranks.
    """
    return _weigh(named, ranks, dtype, quantization)


def published_params(network: Network) -> int | None:
    """Parameters as published for the model without its drafter: no padding, no copies, tied heads once.

    None where the checkpoint holds parts the engine does not load and whose size is not known.
    """
    if network.unloaded_params is None:
        return None
    return parameters_of(module for _, module in network.named()) + network.unloaded_params


def module_bytes(path: str, module: Module, ranks: Ranks, dtype: str, quantization: Quantization) -> int:
    """Bytes of one module on one GPU.

    Raises:
        EngineRefusal: The module does not divide over the ranks.
    """
    element = ELEMENT_BYTES[dtype]
    if isinstance(module, Parameter):
        return parameter_elements(module, ranks) * ELEMENT_BYTES[module.dtype or dtype]
    if isinstance(module, Vocabulary):
        rows = vocabulary_rows(module, ranks)
        matrix = LinearShape(inputs=module.width, outputs=(rows,), whole_inputs=module.width)
        stored = quantization.vocabulary_scheme(path, module, dtype)
        return stored.linear_bytes(matrix) + (rows * element if module.bias else 0)
    if isinstance(module, Linear):
        shape = linear_shape(module, ranks)
        stored = quantization.linear_scheme(path, module, module.dtype or dtype)
        bias = shape.size * ELEMENT_BYTES[module.dtype or dtype] if module.bias else 0
        return stored.linear_bytes(shape) + bias + quantization.cache_scales(module)
    return _experts_bytes(path, module, ranks, dtype, quantization, element)


def _experts_bytes(
    path: str, module: Experts, ranks: Ranks, dtype: str, quantization: Quantization, element: int
) -> int:
    shape = expert_shape(module, ranks)
    scheme = quantization.expert_scheme(path, module, dtype)
    total = scheme.expert_bytes(shape)
    if module.bias:
        inputs, intermediate = scheme.expert_padding(shape)
        total += shape.count * (shape.projections * intermediate + inputs) * element
    return total


def _weigh(named: Sequence[tuple[str, Module]], ranks: Ranks, dtype: str, quantization: Quantization) -> StageWeights:
    groups: dict[str, int] = {}
    allocated = 0
    # Without quantization no path matters, and the layers of most models hold equal modules.
    known: dict[Module, int] = {}
    for path, module in named:
        size = known.get(module) if not quantization.name else None
        if size is None:
            size = known[module] = module_bytes(path, module, ranks, dtype, quantization)
        groups[module.group] = groups.get(module.group, 0) + size
        allocated += _allocated(module, size)
    return StageWeights(by_group=groups, allocated=allocated)


def _allocated(module: Module, size: int) -> int:
    """Bytes the allocator hands out for a module of this size; parameters gathered from many tensors are not rounded."""
    if isinstance(module, Experts):
        narrow = size // (module.projections + 1)
        return allocated_bytes(narrow) + allocated_bytes(size - narrow)
    return size if isinstance(module, Parameter) else allocated_bytes(size)
