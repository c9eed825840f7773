"""Kernels of routed experts: the multiples they pad widths to, by compute capability, as data."""

from dataclasses import dataclass

from kvcore.catalog.gpus import BLACKWELL, HOPPER

NEWEST: tuple[int, int] = (0, 33)
"""Release the rules were read from."""


@dataclass(frozen=True, kw_only=True)
class Platform:
    """What picks the kernels of experts.

    Attributes:
        capability: Compute capability of the GPU.
        release: Release of the engine.
    """

    capability: tuple[int, int] = (HOPPER, 0)
    release: tuple[int, int] = NEWEST


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


CUTLASS_MXFP4 = Padding(inputs=128, intermediate=128)

GPT_OSS_ON_HOPPER = (((0, 0), MARLIN_MXFP4), ((0, 19), TRITON_MXFP4), ((0, 20), CUTLASS_MXFP4), ((0, 33), TRITON_MXFP4))
"""Kernel of gpt-oss's experts on Hopper, from each release on."""


def unquantized_padding(platform: Platform) -> Padding:
    """Padding of 16-bit experts (vLLM 0.33.0 `unquantized_round_up_hidden_size_and_intermediate_size`)."""
    return TRTLLM_BF16 if platform.capability[0] == BLACKWELL else NO_PADDING


def gpt_oss_padding(platform: Platform) -> Padding:
    """Padding of gpt-oss's MXFP4 experts (vLLM 0.33.0 `_get_priority_backends_for_gpt_oss`)."""
    if platform.capability[0] == HOPPER:
        return [padding for since, padding in GPT_OSS_ON_HOPPER if platform.release >= since][-1]
    return TRTLLM_MXFP4 if platform.capability[0] == BLACKWELL else MARLIN_MXFP4


def mxfp4_padding(platform: Platform) -> Padding:
    """Padding of other MXFP4 experts (vLLM 0.33.0 `mxfp4_round_up_hidden_size_and_intermediate_size`)."""
    return TRTLLM_MXFP4 if platform.capability[0] == BLACKWELL else MARLIN_MXFP4


@dataclass(frozen=True, kw_only=True)
class Kernels:
    """What the experts of a model are padded to on a platform; most platforms pick the same.

    Attributes:
        unquantized: Padding of 16-bit experts.
        mxfp4: Padding of MXFP4 experts.
        native_mxfp4: The same in checkpoints whose own scheme is MXFP4.
    """

    unquantized: Padding
    mxfp4: Padding
    native_mxfp4: Padding


def kernels_of(model_type: str, platform: Platform) -> Kernels:
    """Returns what the experts of a model type are padded to on a platform."""
    mxfp4 = mxfp4_padding(platform)
    return Kernels(
        unquantized=unquantized_padding(platform),
        mxfp4=mxfp4,
        native_mxfp4=gpt_oss_padding(platform) if model_type == "gpt_oss" else mxfp4,
    )
