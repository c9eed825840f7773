"""One key/value entry in bytes: plain elements or a packed format."""

from dataclasses import dataclass

from kvcore.engines.vllm.store.stored import StoreContext, element_bytes
from kvcore.layout.cache import AttentionCache

NVFP4_BLOCK = 16
"""Elements that share one fp8 scale in nvfp4."""


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
    state_content_bytes: int | None
    num_head_slots: int | None
    formula: str
    substituted: str


def attention_entry(cache: AttentionCache, heads: int, context: StoreContext) -> Entry:
    """The entry of one token on one rank (vLLM 0.33.0 `AttentionSpec.state_content_size_bytes`).

    Raises:
        EngineRefusal: The cache dtype is not a format keys and values can be stored in.
    """
    dtype = context.stored_dtype
    if dtype.startswith("nvfp4"):
        return _nvfp4_entry(cache, heads, dtype)
    size = element_bytes(dtype)
    return Entry(
        dtype=dtype,
        dtype_bytes=size,
        label=dtype,
        state_content_bytes=None,
        num_head_slots=None,
        formula="KV heads per GPU × (head_size + head_size_v) × bytes per element",
        substituted=f"{heads} × ({cache.head_size} + {cache.head_size_v}) × {size}",
    )


def _nvfp4_entry(cache: AttentionCache, heads: int, dtype: str) -> Entry:
    """Key and value as one slot each: half a byte per element and one fp8 scale per 16 elements."""
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
