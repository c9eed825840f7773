"""The cache dtype a quantized checkpoint declares, as SGLang reads it where ``kv_cache_dtype`` is auto.

Each class of SGLang 0.5.23 reads its own names: `ModelOptFp8Config`, `ModelOptFp4Config`, `ModelOptMixedPrecisionConfig`
and `Fp8Config`, all by ``from_config``; `configure_kv_cache_dtype` heeds only the answer FP8.
"""

from collections.abc import Mapping
from typing import Any

from kvcore.config import ModelConfig

EIGHT_BIT = "fp8_e4m3"
EIGHT_BIT_NAMES = frozenset({"FP8", "FLOAT8"})
PLAIN_METHODS = frozenset({"fp8", "mxfp8"})


def declared_kv_cache_dtype(config: ModelConfig) -> str | None:
    """``fp8_e4m3`` where the checkpoint declares 8-bit keys and values in words SGLang reads, else None."""
    section = _section(config)
    method = str(section.get("quant_method", "")).lower()
    if method in PLAIN_METHODS:
        return _eight_bit(section.get("kv_cache_quant_algo"))
    if method and not method.startswith("modelopt"):
        return None
    algorithm = str(section.get("quant_algo") or "").upper()
    if not algorithm:
        nested = section.get("quantization")
        return _eight_bit(nested.get("kv_cache_quant_algo")) if isinstance(nested, Mapping) else None
    scheme, named = section.get("kv_cache_scheme"), section.get("kv_cache_quant_algo")
    if algorithm == "MXFP8" and named is not None:
        return _eight_bit(named)
    if isinstance(scheme, Mapping):
        return EIGHT_BIT if scheme.get("type") == "float" and scheme.get("num_bits") == 8 else None
    if isinstance(scheme, str) and "FP4" in algorithm:
        return EIGHT_BIT if scheme.strip().upper() in EIGHT_BIT_NAMES else None
    return _eight_bit(named)


def _section(config: ModelConfig) -> Mapping[str, Any]:
    """The quantization a checkpoint states, at its root or beside its language model."""
    for mapping in (config.root, config.text):
        section = mapping.get("quantization_config")
        if isinstance(section, Mapping):
            return section
    return {}


def _eight_bit(named: object) -> str | None:
    return EIGHT_BIT if str(named).upper() == "FP8" else None
