"""Quantization methods: from a checkpoint's quantization section to the scheme of each module. One row per method."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from kvcore.budget.weights.compressed_tensors import read_compressed_tensors
from kvcore.budget.weights.gptq import bits_of, group_size_of, read_gptq
from kvcore.budget.weights.kernels import Kernels, Platform, kernels_of
from kvcore.budget.weights.matching import Matcher, containing, exact, suffix
from kvcore.budget.weights.modelopt import read_modelopt
from kvcore.budget.weights.quantization import (
    CACHE_SCALES,
    UNQUANTIZED,
    ModuleScheme,
    Quantization,
    names_of,
    quantization_section,
    unknown_scheme,
)
from kvcore.budget.weights.scheme import Scheme
from kvcore.budget.weights.schemes import (
    eight_bit_channel,
    fp8_block,
    fp8_tensor,
    grouped_integers,
    mxfp4,
    nvfp4,
)
from kvcore.config import ModelConfig
from kvcore.errors import ConfigError

AWQ_SOURCE = "vLLM 0.33.0 `AutoAWQLinearMethod.create_weights`"

FP4_EXPERTS = frozenset({"deepseek_v4", "deepseek_v4_vision"})
"""Model types whose fp8 checkpoints keep routed experts in MXFP4 unless ``expert_dtype`` says otherwise."""


def read_quantization(config: ModelConfig, platform: Platform) -> Quantization:
    """How the checkpoint stores its modules on a platform; as :func:`quantization_of` otherwise."""
    return quantization_of(config, kernels_of(config.model_type, platform))


def quantization_of(config: ModelConfig, kernels: Kernels) -> Quantization:
    """How the checkpoint stores its modules.

    Args:
        config: The checkpoint.
        kernels: What experts are padded to.

    Raises:
        ConfigError: The scheme is not one whose bytes are known.
    """
    section = quantization_section(config)
    method = str(section.get("quant_method") or "").lower().replace("_", "-")
    if not method:
        return dataclasses.replace(
            UNQUANTIZED, padding=kernels.unquantized
        )  # vLLM 0.33.0 `ModelConfig._verify_quantization` needs quant_method
    reader = METHODS.get(method)
    if reader is None:
        raise unknown_scheme("quant_method", section.get("quant_method"))
    read = reader(section, config, kernels)
    return dataclasses.replace(read, padding=kernels.unquantized)


def _except(ignored: Matcher, linear: Scheme, experts: Scheme | None) -> ModuleScheme:
    """One scheme for linear layers and one for experts, except for the modules ignored; heads stay unquantized."""

    def scheme(path: str, kind: str) -> Scheme | None:
        if kind == "lm_head" or ignored(path):
            return None
        return experts if kind == "experts" else linear

    return scheme


def _read_fp8(section: Mapping[str, Any], config: ModelConfig, kernels: Kernels) -> Quantization:
    """8-bit floats (vLLM 0.33.0 `Fp8Config`)."""
    names = names_of(section, "ignored_layers", "modules_to_not_convert")
    match = suffix if config.model_type in {"minimax_m2", "glm5_next", "glm5_next_text"} else exact
    linear = _fp8_scheme(section, config)
    experts = linear
    if str(section.get("moe_quant_algo") or "").upper() == "NVFP4":
        experts = nvfp4()
    elif section.get("store_dtype") == "mxfp4" or _has_fp4_experts(config):
        experts = mxfp4(kernels.mxfp4)
    return Quantization(name="fp8", scheme=_except(match(names), linear, experts), cache_scale_bytes=CACHE_SCALES)


def _has_fp4_experts(config: ModelConfig) -> bool:
    stated = config.get("expert_dtype")
    return stated == "fp4" if stated is not None else config.model_type in FP4_EXPERTS


def _fp8_scheme(section: Mapping[str, Any], config: ModelConfig) -> Scheme:
    block = section.get("weight_block_size")
    if block is None:
        return fp8_tensor(static_inputs=section.get("activation_scheme") == "static")
    if (
        not isinstance(block, list | tuple)
        or len(block) != 2
        or not all(isinstance(side, int) and side > 0 for side in block)
    ):
        raise unknown_scheme("weight_block_size", block)
    exponent_scales = config.model_type in FP4_EXPERTS and section.get("scale_fmt") == "ue8m0"
    return fp8_block(block[0], block[1], scale_bytes=1 if exponent_scales else 4)


def _read_mxfp4(section: Mapping[str, Any], config: ModelConfig, kernels: Kernels) -> Quantization:
    """4-bit experts; everything else in the model dtype (vLLM 0.33.0 `Mxfp4Config`)."""
    experts = mxfp4(kernels.native_mxfp4)
    return Quantization(name="mxfp4", scheme=lambda path, kind: experts if kind == "experts" else None)  # noqa: ARG005


def _read_awq(section: Mapping[str, Any], config: ModelConfig, kernels: Kernels) -> Quantization:
    """Packed 4-bit integers with packed zero points (vLLM 0.33.0 `AutoAWQConfig`)."""
    bits = bits_of(section, (4,))
    scheme = grouped_integers("AWQ", bits, group_size_of(section), zero_points=True, source=AWQ_SOURCE)
    ignored = containing(names_of(section, "modules_to_not_convert"))
    return Quantization(name=f"awq, {bits} bits", scheme=_except(ignored, scheme, scheme))


def _read_fbgemm(section: Mapping[str, Any], config: ModelConfig, kernels: Kernels) -> Quantization:
    """8-bit floats with a scale per channel (vLLM 0.33.0 `FBGEMMFp8Config`)."""
    scheme = eight_bit_channel("fp8")
    return Quantization(
        name="fbgemm_fp8", scheme=_except(exact(names_of(section, "modules_to_not_convert")), scheme, None)
    )


METHODS: Mapping[str, Callable[[Mapping[str, Any], ModelConfig, Kernels], Quantization]] = {
    "fp8": _read_fp8,
    "deepseek-v4-fp8": _read_fp8,
    "mxfp4": _read_mxfp4,
    "gptq": read_gptq,
    "awq": _read_awq,
    "fbgemm-fp8": _read_fbgemm,
    "compressed-tensors": read_compressed_tensors,
    "modelopt": read_modelopt,
    "modelopt-fp4": read_modelopt,
    "modelopt-mixed": read_modelopt,
}
"""Reader of each ``quant_method``."""

__all__ = ["METHODS", "ConfigError", "quantization_of", "read_quantization"]
