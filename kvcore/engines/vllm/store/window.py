"""Sliding windows as vLLM stores them: such a layer picks its own block size."""

from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.selection.dense import TURBOQUANT
from kvcore.engines.vllm.specs import SlidingWindowSpec
from kvcore.engines.vllm.store.attention import key_value_store
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.errors import refusal
from kvcore.layout.cache import SlidingWindowCache


def store_window(cache: SlidingWindowCache, context: StoreContext) -> Stored:
    """Stores the keys and values of a window (vLLM 0.33.0 `Attention.get_kv_cache_spec`).

    The block is the largest one the kernels take whose page fits in the page of a full-attention block, or in the page
    that layers of other cache dtypes share.
    """
    store = key_value_store(cache, context)
    if store.backend.name == TURBOQUANT.name:
        rule = "no attention backend of vLLM 0.33.0 reads this format in layers with a sliding window"
        raise refusal("kv_cache_dtype", context.kv_cache_dtype, rule, "Use auto or fp8.")
    token = SlidingWindowSpec(block_size=1, sliding_window=cache.sliding_window, **store.spec_fields)
    shared_page = context.shared_page_bytes
    spec = SlidingWindowSpec(
        block_size=_window_block(store.backend, token.entry_bytes, context),
        sliding_window=cache.sliding_window,
        page_size_padded=shared_page,
        **store.spec_fields,
    )
    return store.stored(spec)


def _window_block(backend: Backend, entry_bytes: int, context: StoreContext) -> int:
    """Tokens per block of a window layer, which some releases choose apart from the other layers' size."""
    if context.shared_page_bytes is not None:
        return largest_block_within(backend, context.shared_page_bytes // entry_bytes)
    if context.profile.window_block == "shared":
        return context.block_size
    if context.profile.window_block == "smallest":
        return backend.smallest_block
    return largest_block_within(backend, context.block_size)


def largest_block_within(backend: Backend, tokens: int) -> int:
    """The largest block of at most so many tokens the kernels take (vLLM 0.33.0 `_largest_kernel_block_within`).

    The smallest one they take where none is that small.
    """
    if backend.multiple_of is not None:
        return max(backend.multiple_of, tokens // backend.multiple_of * backend.multiple_of)
    return max((size for size in backend.block_sizes if size <= tokens), default=min(backend.block_sizes))
