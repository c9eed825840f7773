"""Quantized checkpoints vLLM 0.33.0 refuses to load, whatever the cache."""

import math
from collections.abc import Mapping
from typing import Any, NoReturn

from kvcore.config import ModelConfig
from kvcore.dtypes import canonical
from kvcore.engines.vllm.checkpoint import quantization_config
from kvcore.engines.vllm.profiles import parse_release
from kvcore.errors import refusal

DEPRECATED = frozenset({"fbgemm_fp8", "fp_quant"})
"""vLLM 0.33.0 `DEPRECATED_QUANTIZATION_METHODS`."""

GPTQ_FORMATS = frozenset({(4, True), (8, True)})
"""Bits and symmetry of GPTQ checkpoints vLLM loads (vLLM 0.33.0 `AutoGPTQConfig.TYPE_MAP`)."""

SMALLEST_REFINED_BLOCK = 32

FIRST_WITHOUT_ORDERED_GROUPS = (0, 30, 0)
"""First release that refuses groups ordered by activation (`normalize_and_validate_gptq_desc_act`)."""

ORDERED_GROUPS = frozenset({"group", "dynamic"})
"""Values of ``actorder`` that order groups (vLLM 0.33.0 `_quantization_scheme_map_from_config`); True stands for group."""

WHOLE_COLUMN = -1
"""A ``group_size`` of one group a column, which no order changes."""

UNKNOWN = frozenset({"modelslim"})
"""Methods of other hardware's tools that published configs name and no release of vLLM loads on NVIDIA GPUs."""

HALF_DTYPES = ("bfloat16", "float16")
DTYPES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("awq", "auto_awq", "experts_int8", "fp8", "gptq", "inc", "modelopt", "moe_wna16", "quark"), HALF_DTYPES
    ),
    "mxfp4": ("bfloat16",),
}
"""Model dtypes a method's kernels take (vLLM 0.33.0 `QuantizationConfig.get_supported_act_dtypes`); others take any."""

MXFP8_DTYPES = ("bfloat16",)
"""Those of ModelOpt's MXFP8 (vLLM 0.33.0 `ModelOptMxFp8Config`)."""

FIRST_WITH_THESE_DTYPES = (0, 33, 0)
"""Oldest release whose list of dtypes was read."""

FIELD = "quantization_config.quant_method"


def check_quantization(config: ModelConfig, expert_ranks: int, kv_cache_dtype: str, version: str, dtype: str) -> None:
    """Raises for checkpoints whose weights the engine does not load on this deployment.

    Args:
        config: The checkpoint.
        expert_ranks: Ranks that divide one expert: 1 with expert parallelism.
        kv_cache_dtype: Resolved cache dtype.
        version: Release whose rules are in force.
        dtype: Model dtype.

    Raises:
        EngineRefusal: The method is deprecated, unknown, orders groups by activation, does not divide over the ranks, or
            has no kernels for the model dtype.
    """
    quantization = quantization_config(config)
    method = _method(quantization)
    if not method:
        return
    if method in DEPRECATED:
        rule = "vLLM refuses this deprecated quantization method"
        raise refusal(FIELD, method, rule, "Use a checkpoint quantized otherwise.")
    if method in UNKNOWN:
        rule = "vLLM does not know this quantization method"
        raise refusal(FIELD, method, rule, "Use a checkpoint quantized otherwise.")
    if parse_release(version) >= FIRST_WITHOUT_ORDERED_GROUPS:
        _check_order(method, quantization)
    if parse_release(version) >= FIRST_WITH_THESE_DTYPES:
        _check_dtype(method, quantization, dtype)
    if method == "gptq":
        _check_gptq(quantization)
    if method == "fp8":
        _check_fp8(config, quantization, expert_ranks, kv_cache_dtype)


def _method(quantization: Mapping[str, Any]) -> str:
    stated = quantization.get("quant_method")
    return stated.lower().replace("compressed_tensors", "compressed-tensors") if isinstance(stated, str) else ""


def _check_dtype(method: str, quantization: Mapping[str, Any], dtype: str) -> None:
    section = quantization.get("quantization")
    algorithm = quantization.get("quant_algo") or (section.get("quant_algo") if isinstance(section, Mapping) else None)
    supported = MXFP8_DTYPES if method == "modelopt" and "MXFP8" in str(algorithm).upper() else DTYPES.get(method)
    if supported is not None and dtype not in supported:
        rule = f"vLLM runs checkpoints quantized by {method} in {' or '.join(supported)} only"
        raise refusal("dtype", dtype, rule, f"Use {supported[0]}.")


def _check_order(method: str, quantization: Mapping[str, Any]) -> None:
    """Groups ordered by activation, which GPTQ calls ``desc_act`` and compressed-tensors ``actorder``."""
    if method == "gptq" and _orders_groups(quantization):
        _refuse_order("quantization_config.desc_act", "true")
    if method == "compressed-tensors":
        groups = quantization.get("config_groups")
        for group in groups.values() if isinstance(groups, Mapping) else ():
            weights = group.get("weights") if isinstance(group, Mapping) else None
            order = weights.get("actorder") if isinstance(weights, Mapping) else None
            if order is True or (isinstance(order, str) and order.lower() in ORDERED_GROUPS):
                _refuse_order("quantization_config.config_groups.weights.actorder", str(order).lower())


def _orders_groups(quantization: Mapping[str, Any]) -> bool:
    """Whether all layers, or those of a dynamic rule, have several groups a column in an order of their own."""
    ordered, size = quantization.get("desc_act"), quantization.get("group_size")
    rules = quantization.get("dynamic")
    overridden = [
        rule
        for pattern, rule in (rules.items() if isinstance(rules, Mapping) else ())
        if isinstance(rule, Mapping) and not pattern.startswith("-:")
    ]
    return any(
        rule.get("desc_act", ordered) is True and rule.get("group_size", size) != WHOLE_COLUMN
        for rule in ({}, *overridden)
    )


def _refuse_order(field: str, value: str) -> NoReturn:
    rule = "vLLM no longer loads groups ordered by activation"
    raise refusal(field, value, rule, "Use a checkpoint of static or no activation order, or a release before 0.30.")


def _check_gptq(quantization: Mapping[str, Any]) -> None:
    bits, symmetric = quantization.get("bits"), quantization.get("sym")
    if isinstance(bits, int) and isinstance(symmetric, bool) and (bits, symmetric) not in GPTQ_FORMATS:
        rule = "vLLM loads GPTQ checkpoints of 4 or 8 symmetric bits only"
        value = f"{bits} bits, {'symmetric' if symmetric else 'asymmetric'}"
        raise refusal("quantization_config.bits", value, rule, "Use a checkpoint of 4 or 8 symmetric bits.")


def _check_fp8(config: ModelConfig, quantization: Mapping[str, Any], expert_ranks: int, kv_cache_dtype: str) -> None:
    """Scales must cover an expert's width on one rank, as stated or refined (vLLM 0.33.0 `refine_fp8_moe_block_shape`)."""
    if canonical(kv_cache_dtype) == "fp8_e5m2":
        rule = "vLLM does not store an fp8_e5m2 cache beside an fp8 checkpoint"
        raise refusal("kv_cache_dtype", kv_cache_dtype, rule, "Use auto or fp8.")
    block = quantization.get("weight_block_size")
    width, hidden = config.optional_integer("moe_intermediate_size"), config.optional_integer("hidden_size")
    if not width or not hidden or not _is_block(block) or width % expert_ranks:
        return
    rows, columns = block  # type: ignore[misc]
    on_rank = width // expert_ranks
    if on_rank % rows and math.gcd(rows, columns, on_rank, hidden) < SMALLEST_REFINED_BLOCK:
        rule = f"an expert's {on_rank} columns on one rank share no block of 32 with the {rows} that one scale covers"
        raise refusal("tensor_parallel_size", expert_ranks, f"vLLM refuses it: {rule}", "Use fewer ranks.")


def _is_block(value: object) -> bool:
    if not isinstance(value, list | tuple):
        return False
    return len(value) == 2 and all(isinstance(size, int) and size > 0 for size in value)
