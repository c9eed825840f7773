"""Parts given by hand as vLLM would store them: entries of stated bytes, states of stated bytes."""

from dataclasses import replace
from typing import Any

from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.specs import (
    AttentionSpec,
    ChunkedLocalAttentionSpec,
    CircularBufferSpec,
    CrossAttentionSpec,
    FullAttentionSpec,
    LayerSpec,
    MambaSpec,
    MLAAttentionSpec,
    SlidingWindowMLASpec,
    SlidingWindowSpec,
)
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.errors import input_error
from kvcore.layout.by_hand import GivenCache

GIVEN = Backend(name="given by hand", multiple_of=1)
"""Stands for kernels that take any block size."""

KINDS: dict[str, type[LayerSpec]] = {
    spec.kind: spec
    for spec in (
        FullAttentionSpec, MLAAttentionSpec, SlidingWindowSpec, SlidingWindowMLASpec, ChunkedLocalAttentionSpec,
        CrossAttentionSpec, CircularBufferSpec, MambaSpec,
    )
}  # fmt: skip

KINDS_OF_GROWTH = {
    "per_token": ("full_attention", "mla_attention"),
    "sliding_window": ("sliding_window", "sliding_window_mla"),
    "chunked": ("chunked_local_attention",),
    "per_request": ("mamba", "circular_buffer"),
    "per_encoder_token": ("cross_attention",),
}
"""Kinds of storage a growth can mean, the engine's usual one first."""


def store_given(cache: GivenCache, context: StoreContext) -> Stored:
    """Stores one part of stated size.

    Raises:
        InputError: The stated kind or page does not fit the part.
    """
    spec = _state(cache, context) if _kind(cache) == "mamba" else _entries(cache, context)
    return Stored(
        spec=spec,
        backend=None if isinstance(spec, MambaSpec) else _backend(cache),
        dtype=cache.dtype,
        split=cache.split,
        shards=context.tensor_parallel_size if cache.split in {"heads", "state"} else 1,
        formula="as given by hand",
        substituted=f"{cache.entry_bytes:,}",
        source="the layout given by hand",
        checkpoint_grain=cache.checkpoint_grain,
    )


def _backend(cache: GivenCache) -> Backend:
    """Kernels that take blocks of any multiple of the stated size."""
    return GIVEN if cache.kernel_block_size is None else replace(GIVEN, multiple_of=cache.kernel_block_size)


def _kind(cache: GivenCache) -> str:
    allowed = KINDS_OF_GROWTH[cache.growth]
    if cache.kind:
        if cache.kind not in allowed:
            rule = f"a part of growth {cache.growth} is stored as {' or '.join(allowed)}"
            raise input_error(f"{cache.place}.engine.kind", cache.kind, rule, "Leave it out.")
        return cache.kind
    return "mla_attention" if cache.growth == "per_token" and cache.split == "whole" else allowed[0]


def _entries(cache: GivenCache, context: StoreContext) -> AttentionSpec:
    kind = _kind(cache)
    block_size = cache.block_size or context.block_size
    entry_bytes = cache.entry_bytes
    if kind == "circular_buffer":
        if entry_bytes % block_size:
            rule = f"the ring's bytes must divide over its {block_size:,} tokens"
            raise input_error(
                f"{cache.place}.entry_bytes", entry_bytes, rule, "State the ring's tokens as engine.block_size."
            )
        entry_bytes //= block_size
    if block_size % cache.tokens_per_entry:
        rule = f"the block of {block_size:,} tokens must hold whole entries of {cache.tokens_per_entry:,} tokens"
        raise input_error(f"{cache.place}.tokens_per_entry", cache.tokens_per_entry, rule, "Choose another block_size.")
    fields: dict[str, Any] = {
        "block_size": block_size,
        "num_kv_heads": 1,
        "head_size": entry_bytes,
        "head_size_v": 0,
        "dtype": "uint8",
        "dtype_bytes": 1,
        "tokens_per_state": cache.tokens_per_entry,
        "stride_bytes": cache.row_alignment,
    }
    window = cache.window or 0
    if kind in {"sliding_window", "sliding_window_mla"}:
        fields["sliding_window"] = window
    elif kind == "chunked_local_attention":
        fields["attention_chunk_size"] = window
    elif kind == "circular_buffer":
        fields["dcp_sharded"] = False
    spec: Any = KINDS[kind](**fields)
    return _padded(spec, cache)  # type: ignore[no-any-return]


def _state(cache: GivenCache, context: StoreContext) -> MambaSpec:
    spec = MambaSpec(
        block_size=cache.block_size or context.block_size,
        shapes=((cache.entry_bytes,),),
        dtypes=("uint8",),
        dtype_bytes=(1,),
        mamba_type="given",
        num_speculative_blocks=cache.copies - 1,
        num_prefill_checkpoint_blocks=cache.checkpoint_copies,
        page_size_padded=context.state_page_size_padded,
    )
    return _padded(spec, cache)  # type: ignore[no-any-return]


def _padded(spec: Any, cache: GivenCache) -> Any:
    page = cache.page_size_bytes
    if page is None or page == spec.unpadded_page_size_bytes:
        return spec
    if page < spec.unpadded_page_size_bytes:
        rule = f"the entries of one block already take {spec.unpadded_page_size_bytes:,} bytes"
        raise input_error(f"{cache.place}.engine.page_size_bytes", page, rule, "State a larger page, or leave it out.")
    fields = {**vars(spec), "page_size_padded": page}
    return type(spec)(**fields)
