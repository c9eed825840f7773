"""NVIDIA ModelOpt checkpoints: one algorithm for all modules, or one per module (vLLM 0.33.0 `modelopt.py`)."""

from collections.abc import Mapping
from typing import Any

from kvcore.budget.weights.kernels import Kernels
from kvcore.budget.weights.matching import spellings, wildcard
from kvcore.budget.weights.quantization import CACHE_SCALES, ModuleScheme, Quantization, names_of, unknown_scheme
from kvcore.budget.weights.scheme import Scheme
from kvcore.budget.weights.schemes import fp8_block, fp8_tensor, mxfp8, nvfp4
from kvcore.config import ModelConfig

ALGORITHMS: Mapping[str, Scheme] = {
    "FP8": fp8_tensor(static_inputs=True),
    "NVFP4": nvfp4(),
    "W4A16_NVFP4": nvfp4(input_scale_bytes=2),
    "MXFP8": mxfp8(),
    "FP8_PB_WO": fp8_block(128, 128),
    "FP8_BLOCK": fp8_block(128, 128),
}
"""Scheme of each ``quant_algo``."""

MIXED = "MIXED_PRECISION"
ALWAYS_UNQUANTIZED = ("vision_tower", "vision_model", "vit_large_projector")
"""Towers the engine never quantizes (vLLM 0.33.0 `ModelOptQuantConfigBase.get_quant_method`)."""


def read_modelopt(section: Mapping[str, Any], config: ModelConfig, kernels: Kernels) -> Quantization:
    """The scheme of each module of a ModelOpt checkpoint.

    Raises:
        ConfigError: The algorithm is not one whose bytes are known.
    """
    nested = section.get("quantization")
    inner: Mapping[str, Any] = nested if isinstance(nested, Mapping) else section
    algorithm = _algorithm(inner, section)
    ignored = wildcard(names_of(inner, "ignore", "exclude_modules"))
    if algorithm == MIXED:
        has_cache = bool(inner.get("kv_cache_scheme") or inner.get("kv_cache_quant_algo"))
        return Quantization(
            name="modelopt, mixed precision",
            scheme=_mixed(inner, ignored),
            cache_scale_bytes=CACHE_SCALES if has_cache else 0,
            lists_quantized=True,
        )
    scheme = ALGORITHMS.get(algorithm)
    if scheme is None:
        raise unknown_scheme("quant_algo", inner.get("quant_algo"))

    def choose(path: str, kind: str) -> Scheme | None:
        if ignored(path) or any(tower in path for tower in ALWAYS_UNQUANTIZED):
            return None
        return scheme

    return Quantization(
        name=f"modelopt, {algorithm}", scheme=choose, cache_scale_bytes=CACHE_SCALES, scales_latents=True
    )


def _algorithm(inner: Mapping[str, Any], section: Mapping[str, Any]) -> str:
    """The stated algorithm; NVFP4 without quantized inputs is another one (vLLM 0.33.0 `ModelOptNvFp4Config._from_config`)."""
    stated = str(inner.get("quant_algo") or "").upper()
    groups = section.get("config_groups")
    if stated != "NVFP4" or not isinstance(groups, Mapping) or not groups:
        return stated
    is_weight_only = all(
        isinstance(group, Mapping) and group.get("input_activations") is None for group in groups.values()
    )
    return "W4A16_NVFP4" if is_weight_only else stated


def _mixed(section: Mapping[str, Any], ignored: Any) -> ModuleScheme:
    """Modules by the algorithm listed for them, the rest unquantized (vLLM 0.33.0 `_resolve_quant_algo`)."""
    layers = section.get("quantized_layers")
    if not isinstance(layers, Mapping) or not layers:
        raise unknown_scheme("quantized_layers", layers)
    algorithms: dict[str, str] = {}
    for name, recipe in layers.items():
        algorithm = str(recipe.get("quant_algo") if isinstance(recipe, Mapping) else "").upper()
        if algorithm not in ALGORITHMS:
            raise unknown_scheme(f"quantized_layers.{name}", recipe)
        algorithms[str(name)] = algorithm
        parent, separator, _ = str(name).partition(".experts.")
        if separator:
            algorithms.setdefault(f"{parent}.experts", algorithm)

    def choose(path: str, kind: str) -> Scheme | None:
        if ignored(path):
            return None
        names = spellings(path)
        found = next((algorithms[name] for name in names if name in algorithms), None)
        if found is None and kind == "experts":
            parents = tuple(f"{name.rpartition('.')[0]}." for name in names)
            found = next((algorithm for name, algorithm in algorithms.items() if name.startswith(parents)), None)
        return None if found is None else ALGORITHMS[found]

    return choose
