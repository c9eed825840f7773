"""One key/value entry in bytes: plain elements or a packed format."""

from collections.abc import Mapping
from dataclasses import dataclass

from kvcore.arithmetic import cdiv, round_up
from kvcore.engines.vllm.store.stored import StoreContext, element_bytes
from kvcore.errors import refusal
from kvcore.layout.cache import AttentionCache

NVFP4_BLOCK = 16
"""Elements that share one fp8 scale in nvfp4."""

SCALE_BYTES = 4
"""A float32 scale, one for the key and one for the value of a head, in the per-token-head formats."""

PER_TOKEN_HEAD: Mapping[str, str] = {
    "int8_per_token_head": "int8", "fp8_per_token_head": "uint8", "int4_per_token_head": "uint8",
}  # fmt: skip
"""Element type of the cache tensor by format (vLLM 0.33.0 `TritonAttentionBackend.customize_spec`)."""

TURBOQUANT_BITS: Mapping[str, tuple[int, int]] = {
    "turboquant_k8v4": (8, 4), "turboquant_4bit_nc": (4, 4), "turboquant_k3v4_nc": (3, 4), "turboquant_3bit_nc": (3, 3),
}  # fmt: skip
"""Bits of a key and of a value element (vLLM 0.33.0 `TQ_PRESETS`)."""

KEY_NORM_BYTES = 2
VALUE_SCALE_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class Entry:
    """How one token's key and value are stored for the heads of one rank.

    Attributes:
        dtype: Element type of the cache tensor.
        dtype_bytes: Its size.
        label: What to call the format.
        state_content_bytes: Bytes per head slot where packed, else None.
        num_head_slots: Slots where packing changes their number, else None.
        formula: Bytes of the entry as a formula; ``substituted`` with values.
    """

    dtype: str
    dtype_bytes: int
    label: str
    formula: str
    substituted: str
    state_content_bytes: int | None = None
    num_head_slots: int | None = None


def attention_entry(cache: AttentionCache, heads: int, context: StoreContext) -> Entry:
    """The entry of one token on one rank (vLLM 0.33.0 `AttentionSpec.state_content_size_bytes`).

    Raises:
        EngineRefusal: The cache dtype is not a format keys and values can be stored in.
    """
    dtype = context.stored_dtype
    if dtype.startswith("nvfp4") and not dtype.endswith("_mla"):
        return _nvfp4_entry(cache, heads, dtype)
    if dtype in PER_TOKEN_HEAD:
        return _per_token_head_entry(cache, heads, dtype)
    if dtype in TURBOQUANT_BITS:
        return _turboquant_entry(cache, heads, dtype)
    size = element_bytes(dtype)
    return Entry(
        dtype=dtype,
        dtype_bytes=size,
        label=dtype,
        formula="KV heads per GPU × (head_size + head_size_v) × bytes per element",
        substituted=f"{heads} × ({cache.head_size} + {cache.head_size_v}) × {size}",
    )


def _nvfp4_entry(cache: AttentionCache, heads: int, dtype: str) -> Entry:
    """Key and value as one slot each: half a byte per element and one fp8 scale per 16 elements."""
    if cache.head_size != cache.head_size_v:
        rule = "vLLM stores nvfp4 only where keys and values are of one size"
        raise refusal("kv_cache_dtype", dtype, rule, "Use auto or fp8.")
    slot = cache.head_size // 2 + cache.head_size // NVFP4_BLOCK
    return Entry(
        dtype="uint8",
        dtype_bytes=1,
        label=dtype,
        state_content_bytes=slot,
        num_head_slots=2 * heads,
        formula="2 × KV heads per GPU × (head_size / 2 + head_size / 16)",
        substituted=f"2 × {heads} × ({cache.head_size} / 2 + {cache.head_size} / {NVFP4_BLOCK})",
    )


def _per_token_head_entry(cache: AttentionCache, heads: int, dtype: str) -> Entry:
    """Elements of one byte or half a byte, and a float32 scale behind the key and the value of each head."""
    halves = 2 if dtype.startswith("int4") else 1
    content = cache.head_size // halves + cache.head_size_v // halves + 2 * SCALE_BYTES
    divided = f" / {halves}" if halves > 1 else ""
    return Entry(
        dtype=PER_TOKEN_HEAD[dtype],
        dtype_bytes=1,
        label=dtype,
        state_content_bytes=content,
        formula=f"KV heads per GPU × (head_size{divided} + head_size_v{divided} + 2 scales of 4 bytes)",
        substituted=f"{heads} × ({cache.head_size}{divided} + {cache.head_size_v}{divided} + 2 × {SCALE_BYTES})",
    )


def _turboquant_entry(cache: AttentionCache, heads: int, dtype: str) -> Entry:
    """Key and value packed into one slot of an even number of bytes (vLLM 0.33.0 `TurboQuantConfig.slot_size_aligned`)."""
    key_bits, value_bits = TURBOQUANT_BITS[dtype]
    size = cache.head_size
    plain_key = key_bits == 8  # stored as fp8, without a norm
    key = size if plain_key else cdiv(size * key_bits, 8) + KEY_NORM_BYTES
    value = cdiv(size * value_bits, 8) + VALUE_SCALE_BYTES
    norm = "" if plain_key else f" + {KEY_NORM_BYTES}"
    return Entry(
        dtype="uint8",
        dtype_bytes=1,
        label=dtype,
        state_content_bytes=round_up(key + value, 2),
        formula="KV heads per GPU × (key bytes + norm + value bytes + scale and zero point), rounded up to even",
        substituted=(
            f"{heads} × ({size} × {key_bits} / 8{norm} + {size} × {value_bits} / 8 + {VALUE_SCALE_BYTES}), "
            f"that is {heads} × {round_up(key + value, 2)}"
        ),
    )
