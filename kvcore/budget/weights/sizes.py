"""Sizes: bytes of a network's weights on one GPU of each pipeline stage, and its published parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kvcore.budget.weights.modules import Experts, Linear, Module, Network, Parameter, Vocabulary, parameters_of
from kvcore.budget.weights.quantization import Quantization
from kvcore.budget.weights.ranks import LinearShape, Ranks, expert_shape, linear_shape, parameter_elements, vocabulary_rows
from kvcore.dtypes import ELEMENT_BYTES


@dataclass(frozen=True, kw_only=True)
class StageWeights:
    """Weight bytes of one GPU of one pipeline stage, by what the weights are for."""

    by_group: Mapping[str, int]

    @property
    def bytes(self) -> int:
        """All groups together."""
        return sum(self.by_group.values())


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
        if stage == 0:
            named += [(module.name, module) for module in network.first]
        for index in range(start, start + count):
            named += [(f"{network.layer_prefix}.{index}.{module.name}", module) for module in network.layers[index]]
        if stage == last:
            named += [(module.name, module) for module in network.last]
            if stage > 0 and network.tied is not None:
                named.append((network.tied.name, network.tied))
        stages.append(StageWeights(by_group=_by_group(named, ranks, dtype, quantization)))
        start += count
    return tuple(stages)


def draft_weights(network: Network, ranks: Ranks, dtype: str, quantization: Quantization) -> int:
    """Bytes of the checkpoint's own drafter on one GPU of the last stage; 0 where it has none."""
    return sum(_by_group([(module.name, module) for module in network.draft], ranks, dtype, quantization).values())


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


def _by_group(
    named: Sequence[tuple[str, Module]], ranks: Ranks, dtype: str, quantization: Quantization
) -> dict[str, int]:
    groups: dict[str, int] = {}
    for path, module in named:
        groups[module.group] = groups.get(module.group, 0) + module_bytes(path, module, ranks, dtype, quantization)
    return groups
