"""How the elements of a module are stored: in the model's dtype, or as a quantization scheme packs them."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

from kvcore.arithmetic import round_up
from kvcore.budget.weights.kernels import NO_PADDING, Padding
from kvcore.budget.weights.ranks import ExpertShape, LinearShape


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """A way to store matrices; biases stay in the model dtype and are not the scheme's concern.

    Attributes:
        name: The scheme as people call it.
        linear_bytes: Bytes of one GPU's linear layer: packed weights, scales, zero points.
        expert_bytes: Bytes of one GPU's routed experts, padding for the kernel included.
        source: Engine symbol whose parameters are counted.
        expert_padding: Experts' widths after the kernel's padding, which biases share.
    """

    name: str
    linear_bytes: Callable[[LinearShape], int]
    expert_bytes: Callable[[ExpertShape], int]
    source: str
    expert_padding: Callable[[ExpertShape], tuple[int, int]] = lambda shape: (shape.inputs, shape.intermediate)


def expert_elements(shape: ExpertShape) -> int:
    """Elements of both projections of all experts on one GPU."""
    return shape.count * shape.inputs * shape.intermediate * (shape.projections + 1)


@functools.lru_cache(maxsize=64)
def plain(element_bytes: int, padding: Padding = NO_PADDING) -> Scheme:
    """Matrices in a plain element type, experts padded for their kernel; one object each, so that equal modules compare equal."""

    def padded(shape: ExpertShape) -> tuple[int, int]:
        return round_up(shape.inputs, padding.inputs), round_up(shape.intermediate, padding.intermediate)

    def experts(shape: ExpertShape) -> int:
        inputs, intermediate = padded(shape)
        return shape.count * inputs * intermediate * (shape.projections + 1) * element_bytes

    return Scheme(
        name="unquantized",
        linear_bytes=lambda shape: shape.size * shape.inputs * element_bytes,
        expert_bytes=experts,
        expert_padding=padded,
        source="vLLM 0.33.0 `UnquantizedLinearMethod`, `UnquantizedFusedMoEMethod`",
    )
