"""Element types by name: bytes of one stored element, and the names engines and papers use for them."""

from collections.abc import Mapping

ELEMENT_BYTES: Mapping[str, int] = {
    "float64": 8,
    "float32": 4, "fp32": 4, "float": 4,
    "bfloat16": 2, "bf16": 2,
    "float16": 2, "fp16": 2, "half": 2,
    "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "fp8_inc": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "int8": 1, "uint8": 1,
}  # fmt: skip
"""Bytes of one element. Packed formats (nvfp4, per-token-head scales, fp8_ds_mla, turboquant) are not plain elements."""

CANONICAL: Mapping[str, str] = {
    "fp32": "float32", "float": "float32", "bf16": "bfloat16", "fp16": "float16", "half": "float16",
    "float8_e4m3fn": "fp8_e4m3", "float8_e5m2": "fp8_e5m2",
}  # fmt: skip
"""Synonyms and the name vLLM gives the same type."""


def canonical(name: str) -> str:
    """The engine's name of a dtype."""
    lowered = name.removeprefix("torch.").lower()
    return CANONICAL.get(lowered, lowered)


def is_fp8(name: str) -> bool:
    """Whether a cache dtype stores plain 8-bit floats."""
    return canonical(name) in {"fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc"}
