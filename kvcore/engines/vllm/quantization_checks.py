"""Quantized checkpoints vLLM 0.33.0 refuses to load, whatever the cache."""

import math
from collections.abc import Mapping
from typing import Any

from kvcore.config import ModelConfig
from kvcore.dtypes import canonical
from kvcore.engines.vllm.checkpoint import quantization_config
from kvcore.errors import refusal

DEPRECATED = frozenset({"fbgemm_fp8", "fp_quant"})
"""vLLM 0.33.0 `DEPRECATED_QUANTIZATION_METHODS`."""

GPTQ_FORMATS = frozenset({(4, True), (8, True)})
"""Bits and symmetry of GPTQ checkpoints vLLM loads (vLLM 0.33.0 `AutoGPTQConfig.TYPE_MAP`)."""

SMALLEST_REFINED_BLOCK = 32

FIELD = "quantization_config.quant_method"


def check_quantization(config: ModelConfig, expert_ranks: int, kv_cache_dtype: str) -> None:
    """Raises for checkpoints whose weights the engine does not load on this deployment.

    Args:
        config: The checkpoint.
        expert_ranks: Ranks that divide one expert: 1 with expert parallelism.
        kv_cache_dtype: Resolved cache dtype.

    Raises:
        EngineRefusal: The method is deprecated, unknown, or does not divide over the ranks.
    """
    quantization = quantization_config(config)
    method = _method(quantization)
    if not method:
        return
    if method in DEPRECATED:
        rule = "vLLM refuses this deprecated quantization method"
        raise refusal(FIELD, method, rule, "Use a checkpoint quantized otherwise.")
    if method == "gptq":
        _check_gptq(quantization)
    if method == "fp8":
        _check_fp8(config, quantization, expert_ranks, kv_cache_dtype)


def _method(quantization: Mapping[str, Any]) -> str:
    stated = quantization.get("quant_method")
    return stated.lower().replace("compressed_tensors", "compressed-tensors") if isinstance(stated, str) else ""


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
