"""Kernels of routed experts: the multiples they pad widths to, by compute capability, as data."""

from dataclasses import dataclass

HOPPER, BLACKWELL = 9, 10
"""Major compute capabilities that pick kernels of their own."""


@dataclass(frozen=True, kw_only=True)
class Padding:
    """Multiples that an expert kernel pads the residual width and the intermediate width to."""

    inputs: int = 1
    intermediate: int = 1


NO_PADDING = Padding()
TRTLLM_BF16 = Padding(intermediate=128)
TRITON_MXFP4 = Padding(intermediate=64)
MARLIN_MXFP4 = Padding(inputs=256, intermediate=128)
TRTLLM_MXFP4 = Padding(inputs=256, intermediate=128)


def unquantized_padding(capability: tuple[int, int]) -> Padding:
    """Padding of 16-bit experts (vLLM 0.33.0 `unquantized_round_up_hidden_size_and_intermediate_size`)."""
    return TRTLLM_BF16 if capability[0] == BLACKWELL else NO_PADDING


def gpt_oss_padding(capability: tuple[int, int]) -> Padding:
    """Padding of gpt-oss's MXFP4 experts (vLLM 0.33.0 `_get_priority_backends_for_gpt_oss`)."""
    if capability[0] == HOPPER:
        return TRITON_MXFP4
    return TRTLLM_MXFP4 if capability[0] == BLACKWELL else MARLIN_MXFP4


def mxfp4_padding(capability: tuple[int, int]) -> Padding:
    """Padding of other MXFP4 experts (vLLM 0.33.0 `mxfp4_round_up_hidden_size_and_intermediate_size`)."""
    return TRTLLM_MXFP4 if capability[0] == BLACKWELL else MARLIN_MXFP4
