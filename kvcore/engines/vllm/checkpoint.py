"""What vLLM derives from a checkpoint alone: dtype, declared cache dtype, context limit."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kvcore.config import ModelConfig
from kvcore.config.kept import kept
from kvcore.dtypes import canonical
from kvcore.errors import config_error

FALLBACK_MAX_MODEL_LEN = 2048
"""Used where a config names no length (vLLM 0.33.0 `_get_and_verify_max_len`)."""

MAX_LENGTH = 1 << 40
"""Longer contexts than a million million tokens are no facts about a model."""

LENGTH_KEYS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length", "max_target_positions",
    "max_sequence_length", "max_seq_length", "seq_len",
)  # fmt: skip
"""Keys that limit the context; the smallest counts (vLLM 0.33.0 `derive_max_model_len_and_key`)."""

UNSCALED_ROPE_TYPES = frozenset({"su", "longrope", "llama3", "yarn", "deepseek_yarn", "deepseek_llama_scaling"})
"""RoPE types whose ``max_position_embeddings`` already includes the factor (vLLM 0.33.0 `_get_and_verify_max_len`)."""

LEGACY_ROPE_TYPES: Mapping[str, str] = {"su": "longrope", "mrope": "default"}
"""Older names of RoPE types (vLLM 0.33.0 `patch_legacy_rope_type`)."""

NO_FLOAT16_MODEL_TYPES = frozenset({"gemma2", "gemma3", "gemma3_text", "glm4"})
"""Models vLLM never runs in float16 (vLLM 0.33.0 `_FLOAT16_NOT_SUPPORTED_MODELS`)."""


@dataclass(frozen=True, kw_only=True)
class ContextLimit:
    """The context limit of a checkpoint.

    Attributes:
        default: Length used when none is asked for.
        maximum: Longest length the engine accepts; None where the config names none.
        key: Config key the limit comes from.
    """

    default: int
    maximum: int | None
    key: str


def auto_dtype(config: ModelConfig, *, pooling: bool) -> str:
    """The model dtype vLLM resolves for ``dtype auto`` (vLLM 0.33.0 `_resolve_auto_dtype`).

    A float32 checkpoint, or one that states no dtype, runs in bfloat16; pooling models in float16.
    """
    stated = _stated_dtype(config)
    if stated == "float32":
        return "float16" if pooling and config.model_type not in NO_FLOAT16_MODEL_TYPES else "bfloat16"
    if stated == "float16" and config.model_type in NO_FLOAT16_MODEL_TYPES:
        return "bfloat16"
    return stated


@kept
def _stated_dtype(config: ModelConfig) -> str:
    candidates: tuple[Mapping[str, Any], ...] = (config.root, config.text)
    for key in ("vision_config", "encoder_config"):
        nested = config.root.get(key)
        if isinstance(nested, Mapping):
            candidates = (*candidates, nested)
    for mapping in candidates:
        value = mapping.get("dtype", mapping.get("torch_dtype"))
        if value is not None:
            if not isinstance(value, str):
                raise config_error("torch_dtype", value, "a dtype name is expected", "Give the config.json unchanged.")
            return canonical(value)
    return "float32"


def declared_kv_cache_dtype(config: ModelConfig) -> str | None:
    """The cache dtype a quantized checkpoint declares, which ``kv_cache_dtype auto`` then means.

    Source: vLLM 0.33.0 `resolve_kv_cache_dtype_string` and `CompressedTensorsConfig`.
    """
    quantization = quantization_config(config)
    method = str(quantization.get("quant_method", "")).lower().replace("compressed_tensors", "compressed-tensors")
    nested = quantization.get("quantization")
    inner = nested if isinstance(nested, Mapping) else {}
    if method == "compressed-tensors":
        return "fp8" if quantization.get("kv_cache_scheme") is not None else None
    if method.startswith("modelopt"):
        declared = (
            inner.get("kv_cache_scheme")
            or quantization.get("kv_cache_scheme")
            or inner.get("kv_cache_quant_algo")
            or quantization.get("kv_cache_quant_algo")
        )
        return _modelopt_dtype(declared) if declared else None
    return None


def _modelopt_dtype(declared: object) -> str | None:
    """The cache dtype of ModelOpt's scheme or algorithm name; None, the engine's fallback, for any other."""
    if isinstance(declared, Mapping):
        kind = (declared.get("type"), declared.get("num_bits"))
        if kind == ("float", 8) and declared.get("dynamic") is False:
            return "fp8_e4m3"
        return "nvfp4" if kind == ("float", 4) else None
    return {"fp8": "fp8_e4m3", "nvfp4": "nvfp4"}.get(str(declared).lower())


@kept
def quantization_config(config: ModelConfig) -> Mapping[str, Any]:
    """The checkpoint's quantization section, wherever it stands; empty where there is none."""
    for mapping in (config.root, config.text):
        for key in ("quantization_config", "compression_config"):
            value = mapping.get(key)
            if isinstance(value, Mapping):
                return value
    return {}


@kept
def derived_max_model_len(config: ModelConfig) -> ContextLimit:
    """The context limit, RoPE scaling included (vLLM 0.33.0 `_get_and_verify_max_len`).

    Raises:
        ConfigError: A length or scaling factor is not a positive number.
    """
    length, key = _stated_length(config)
    if length is None:
        return ContextLimit(default=FALLBACK_MAX_MODEL_LEN, maximum=None, key="no key of the config limits the context")
    rope = list(rope_parameters(config))
    if rope and "gemma3" not in config.model_type:
        length *= _scaling_factor(rope)
    maximum = int(length)
    default = maximum
    if any(parameters.get("rope_type") == "longrope" for parameters in rope):
        original = config.get("original_max_position_embeddings")
        default = int(original) if isinstance(original, int) else maximum
    model_max_length = config.get("model_max_length")
    if isinstance(model_max_length, int):
        maximum = max(maximum, model_max_length)
    return ContextLimit(default=default, maximum=maximum, key=key)


def _stated_length(config: ModelConfig) -> tuple[float | None, str]:
    found: dict[str, float] = {}
    for key in LENGTH_KEYS:
        value = config.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_LENGTH:
            raise config_error(config.path(key), value, "a positive number of tokens is expected", "Give it unchanged.")
        found[key] = value
    if not found:
        return None, ""
    if "model_max_length" in found:
        return found["model_max_length"], "model_max_length"
    key = min(found, key=lambda name: found[name])
    return found[key], key


def rope_parameters(config: ModelConfig) -> Iterator[Mapping[str, Any]]:
    """Every set of RoPE parameters of the model, with ``rope_type`` filled in."""
    for key in ("rope_parameters", "rope_scaling"):
        value = config.get(key)
        if not isinstance(value, Mapping):
            continue
        nested = [item for item in value.values() if isinstance(item, Mapping)]
        for parameters in nested or [value]:
            kind = parameters.get("rope_type", parameters.get("type", "default"))
            if not isinstance(kind, str):
                raise config_error(f"{key}.rope_type", kind, "a text is expected", "Give the config.json unchanged.")
            kind = LEGACY_ROPE_TYPES.get(kind, kind)
            yield {**parameters, "rope_type": kind}
        return


def _scaling_factor(rope: list[Mapping[str, Any]]) -> float:
    factor: float = 1.0
    for parameters in rope:
        if parameters["rope_type"] in UNSCALED_ROPE_TYPES:
            continue
        value = parameters.get("factor", factor)
        if value is None:
            value = 1.0
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise config_error("rope_scaling.factor", value, "a positive number is expected", "Give it unchanged.")
        factor = value
    return factor
