"""Quantization schemes: the bytes vLLM's parameters take for packed weights, scales and zero points.

Every function counts what the engine's ``create_weights`` of that scheme registers for one GPU.
"""

import math

from kvcore.arithmetic import cdiv, round_up
from kvcore.budget.weights.kernels import NO_PADDING, Padding
from kvcore.budget.weights.ranks import ExpertShape, LinearShape
from kvcore.budget.weights.scheme import Scheme, expert_elements

FLOAT32 = 4
HALF = 2
PACKED_INT4 = 2
"""Four-bit weights per byte."""

LINEAR_SHAPE = 2 * 8
EXPERT_SHAPE = 2 * 2
"""Bytes of an unpacked shape: two 64-bit numbers of a linear layer, two 16-bit ones of an expert."""

SMALLEST_TILE = 32
"""Side below which tiles are not refined."""


def fp8_block(rows: int, columns: int, *, scale_bytes: int = FLOAT32) -> Scheme:
    """8-bit floats with one scale per tile of ``rows`` × ``columns``."""

    def scales(outputs: int, inputs: int, side: int | None = None) -> int:
        return cdiv(outputs, side or rows) * cdiv(inputs, side or columns) * scale_bytes

    def linear(shape: LinearShape) -> int:
        return shape.size * shape.inputs + scales(shape.size, shape.inputs)

    def experts(shape: ExpertShape) -> int:
        side = _refined_side(rows, columns, shape)
        wide = shape.projections * scales(shape.intermediate, shape.inputs, side)
        return expert_elements(shape) + shape.count * (wide + scales(shape.inputs, shape.intermediate, side))

    return Scheme(
        name=f"fp8, blocks of {rows} × {columns}",
        linear_bytes=linear,
        expert_bytes=experts,
        source="vLLM 0.33.0 `Fp8LinearMethod.create_weights`, `Fp8MoEMethod.create_weights`",
    )


def _refined_side(rows: int, columns: int, shape: ExpertShape) -> int | None:
    """Side of the finer tiles used where ranks cut through a tile (vLLM 0.33.0 `refine_fp8_moe_block_shape`)."""
    is_divided = shape.intermediate != shape.whole_intermediate
    if shape.intermediate % rows == 0 and (not is_divided or shape.intermediate % columns == 0):
        return None
    side = math.gcd(rows, columns, shape.intermediate, shape.inputs)
    return side if side >= SMALLEST_TILE else None


def fp8_tensor(*, static_inputs: bool) -> Scheme:
    """8-bit floats with one scale per projection, and one for its inputs where they are scaled statically.

    Fused projections of experts share the scale of their inputs.
    """
    scales = 2 if static_inputs else 1
    of_inputs = 2 if static_inputs else 0

    def linear(shape: LinearShape) -> int:
        return shape.size * shape.inputs + scales * len(shape.outputs) * FLOAT32

    def experts(shape: ExpertShape) -> int:
        return expert_elements(shape) + shape.count * (shape.projections + 1 + of_inputs) * FLOAT32

    return Scheme(
        name="fp8, one scale per matrix",
        linear_bytes=linear,
        expert_bytes=experts,
        source="vLLM 0.33.0 `Fp8LinearMethod.create_weights`, `ModelOptFp8MoEMethod.create_weights`",
    )


def eight_bit_channel(name: str) -> Scheme:
    """8-bit floats or integers with one float32 scale per output."""

    def linear(shape: LinearShape) -> int:
        return shape.size * shape.inputs + shape.size * FLOAT32

    def experts(shape: ExpertShape) -> int:
        channels = shape.projections * shape.intermediate + shape.inputs
        return expert_elements(shape) + shape.count * channels * FLOAT32

    return Scheme(
        name=f"{name}, one scale per channel",
        linear_bytes=linear,
        expert_bytes=experts,
        source="vLLM 0.33.0 `CompressedTensorsW8A8Fp8.create_weights`, `CompressedTensorsW8A8Fp8MoEMethod.create_weights`",
    )


def grouped_integers(
    name: str, bits: int, group_size: int, *, zero_points: bool = False, group_index: bool = False,
    with_shapes: bool = False, expert_biases: bool = False, source: str,
) -> Scheme:  # fmt: skip
    """Integers packed into words, with a 16-bit scale per group of inputs.

    Args:
        name: The format's name.
        bits: Bits per weight.
        group_size: Inputs per scale; -1: one group for all inputs of the whole layer.
        zero_points: Whether a packed zero point stands beside every scale.
        group_index: Whether every input names its group in 32 bits.
        with_shapes: Whether the unpacked shape is stored beside every matrix.
        expert_biases: Whether experts are created with 16-bit biases, which the checkpoint does not have.
        source: Engine symbol the parameters were read from.
    """
    per_word = 32 // bits

    def matrix(outputs: int, inputs: int, whole_inputs: int) -> int:
        groups = cdiv(inputs, whole_inputs) if group_size == -1 else inputs // group_size
        words = cdiv(inputs, per_word) * outputs
        zeros = groups * cdiv(outputs, per_word) if zero_points else 0
        index = inputs if group_index else 0
        return (words + zeros + index) * FLOAT32 + groups * outputs * HALF

    def linear(shape: LinearShape) -> int:
        return matrix(shape.size, shape.inputs, shape.whole_inputs) + (LINEAR_SHAPE if with_shapes else 0)

    def experts(shape: ExpertShape) -> int:
        wide = matrix(shape.projections * shape.intermediate, shape.inputs, shape.inputs)
        narrow = matrix(shape.inputs, shape.intermediate, shape.whole_intermediate)
        biases = (shape.projections * shape.intermediate + shape.inputs) * HALF if expert_biases else 0
        return shape.count * (wide + narrow + biases + (2 * EXPERT_SHAPE if with_shapes else 0))

    return Scheme(name=f"{name}, {bits} bits", linear_bytes=linear, expert_bytes=experts, source=source)


def nvfp4(group_size: int = 16, *, input_scale_bytes: int = FLOAT32) -> Scheme:
    """4-bit floats with an 8-bit scale per group, a float32 scale per projection and one for its inputs.

    Args:
        group_size: Weights per 8-bit scale.
        input_scale_bytes: Bytes of the inputs' scale of a linear layer; 0 where none is kept.
    """

    def matrix(outputs: int, inputs: int) -> int:
        return outputs * (inputs // PACKED_INT4 + inputs // group_size)

    def linear(shape: LinearShape) -> int:
        return matrix(shape.size, shape.inputs) + len(shape.outputs) * (FLOAT32 + input_scale_bytes)

    def experts(shape: ExpertShape) -> int:
        wide = matrix(shape.projections * shape.intermediate, shape.inputs)
        scales = (shape.projections + 1) * (FLOAT32 + (FLOAT32 if input_scale_bytes else 0))
        return shape.count * (wide + matrix(shape.inputs, shape.intermediate) + scales)

    return Scheme(
        name="NVFP4",
        linear_bytes=linear,
        expert_bytes=experts,
        source="vLLM 0.33.0 `ModelOptNvFp4FusedMoE.create_weights`, `KNvfp4Static.create_weights`",
    )


def mxfp4(padding: Padding = NO_PADDING) -> Scheme:
    """4-bit floats with an 8-bit exponent per 32 inputs, padded to what the kernel of experts works on."""
    group = 32

    def padded(shape: ExpertShape) -> tuple[int, int]:
        return round_up(shape.inputs, padding.inputs), round_up(shape.intermediate, padding.intermediate)

    def matrix(elements: int) -> int:
        return elements // PACKED_INT4 + elements // group

    def experts(shape: ExpertShape) -> int:
        inputs, intermediate = padded(shape)
        return matrix(shape.count * inputs * intermediate * (shape.projections + 1))

    return Scheme(
        name="MXFP4",
        linear_bytes=lambda shape: matrix(shape.size * shape.inputs),
        expert_bytes=experts,
        expert_padding=padded,
        source="vLLM 0.33.0 `Mxfp4MoEMethod.create_weights`, `mxfp4_round_up_hidden_size_and_intermediate_size`",
    )


def mxfp8() -> Scheme:
    """8-bit floats with an 8-bit exponent per 32 inputs."""
    group = 32

    def matrix(elements: int) -> int:
        return elements + elements // group

    return Scheme(
        name="MXFP8",
        linear_bytes=lambda shape: matrix(shape.size * shape.inputs),
        expert_bytes=lambda shape: matrix(expert_elements(shape)),
        source="vLLM 0.33.0 `KMxfp8Static.create_weights`, `ModelOptMxFp8FusedMoE.create_weights`",
    )
