"""Which cache dtype each layer is stored in, and how layers of two dtypes share one pool."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from kvcore.arithmetic import cdiv
from kvcore.engines.vllm.paging_settings import PagingSettings
from kvcore.engines.vllm.store.attention import key_value_store
from kvcore.engines.vllm.store.latent import store_latent
from kvcore.engines.vllm.store.stored import StoreContext, element_bytes
from kvcore.layout.block_sparse import BlockSparseCache
from kvcore.layout.cache import AttentionCache, LatentCache, StateCache
from kvcore.layout.layout import Layout, Part

TURBOQUANT_BOUNDARY = 2
"""First and last layers TurboQuant leaves in the model dtype (vLLM 0.33.0 `get_boundary_skip_layers`)."""

SLIDING_WINDOW = "sliding_window"
"""Entry of ``kv_cache_dtype_skip_layers`` that means every layer with a window."""


@dataclass(frozen=True)
class FirstLayer:
    """The model's first layer that attends, and whether it keeps the model dtype."""

    cache: AttentionCache | LatentCache
    in_model_dtype: bool


def parts_by_cache_dtype(layout: Layout, settings: PagingSettings) -> list[tuple[Part, str]]:
    """Splits parts whose layers are stored in different cache dtypes.

    Layers of keys and values named by number, or by window, in ``kv_cache_dtype_skip_layers`` keep the model dtype
    (vLLM 0.33.0 `Attention.__init__`).

    Returns:
        Each part with its resolved cache dtype, in the order of their first layers.
    """
    skipped = skip_layers(layout, settings)
    result: list[tuple[Part, str]] = []
    for part in layout.parts:
        kept = tuple(index for index in part.layer_indices if _keeps_model_dtype(part, index, skipped))
        quantized = tuple(index for index in part.layer_indices if index not in kept)
        if kept and quantized:
            unquantized = dataclasses.replace(part, name=f"{part.name} (unquantized)", layer_indices=kept)
            result.append((unquantized, "auto"))
            result.append((dataclasses.replace(part, layer_indices=quantized), settings.kv_cache_dtype))
        else:
            result.append((part, "auto" if kept else settings.kv_cache_dtype))
    return sorted(result, key=lambda item: (item[0].draft, item[0].layer_indices[0]))


def skip_layers(layout: Layout, settings: PagingSettings) -> frozenset[str]:
    """Names of the layers that keep the model dtype: those asked for, and TurboQuant's first and last ones."""
    names = frozenset(settings.kv_cache_dtype_skip_layers)
    keeps_state = any(isinstance(layer.cache, StateCache) for layer in layout.layers)
    if not settings.kv_cache_dtype.startswith("turboquant_") or keeps_state:
        return names
    layers = layout.num_hidden_layers
    margin = min(TURBOQUANT_BOUNDARY, layers // 2)
    return names | {str(index) for index in (*range(margin), *range(layers - margin, layers))}


def _keeps_model_dtype(part: Part, layer_index: int, skipped: frozenset[str]) -> bool:
    cache = part.cache
    if isinstance(cache, LatentCache):
        return str(layer_index) in skipped and not cache.in_cache_dtype
    if not isinstance(cache, AttentionCache) or isinstance(cache, BlockSparseCache):
        return False  # MiniMax M3's sparse layers do not ask which are skipped (vLLM 0.33.0 `MiniMaxM3SparseAttention`)
    if cache.in_model_dtype or str(layer_index) in skipped:
        return True
    return cache.growth == "sliding_window" and SLIDING_WINDOW in skipped


def shared_page(layout: Layout, context: StoreContext, first: FirstLayer) -> tuple[int, int | None]:
    """Raises the block size until a page of quantized layers holds one of unquantized layers.

    Both pages are measured with the model's own head count and size on the first layer's backend (vLLM 0.33.0
    `Platform._align_heterogeneous_kv_block_size`).

    Args:
        layout: The model's layout.
        context: How layers are stored; its block size is the one so far, its cache dtype the quantized one.
        first: The model's first layer that attends.

    Returns:
        The block size in force, and the page that window layers are padded to; None where pages are equal per token.
    """
    if isinstance(first.cache, LatentCache):
        return _shared_latent_page(first.cache, context, in_model_dtype=first.in_model_dtype)
    heads = layout.num_key_value_heads or first.cache.num_kv_heads
    head_size = layout.head_size or first.cache.head_size
    cache = AttentionCache(name=first.cache.name, num_kv_heads=heads, head_size=head_size, head_size_v=head_size)
    in_model_dtype = key_value_store(cache, dataclasses.replace(context, kv_cache_dtype="auto"))
    quantized = key_value_store(cache, context)
    backend = in_model_dtype.backend if first.in_model_dtype else quantized.backend
    packs = backend.name == quantized.backend.name  # only the backend of a packed format knows its bytes and blocks
    full = in_model_dtype.entry_bytes
    primary = quantized.entry_bytes if packs else quantized.plain_entry_bytes
    if primary == full:
        return context.block_size, None
    return _raised(context, full, primary, (quantized.backend if packs else backend).smallest_block)


def _shared_latent_page(cache: LatentCache, context: StoreContext, *, in_model_dtype: bool) -> tuple[int, int | None]:
    """As :func:`shared_page` for latents, which the engine measures as if they were keys and values of one head."""
    in_model = dataclasses.replace(context, kv_cache_dtype="auto")
    width = 2 * (cache.kv_lora_rank + cache.qk_rope_head_dim)
    full, primary = (width * element_bytes(store.stored_dtype) for store in (in_model, context))
    if full == primary:
        return context.block_size, None
    backend = store_latent(cache, in_model if in_model_dtype else context).backend
    return _raised(context, full, primary, backend.smallest_block if backend is not None else context.block_size)


def _raised(context: StoreContext, full: int, primary: int, smallest: int) -> tuple[int, int]:
    """The block size whose quantized page holds the unquantized one of the smallest kernel block, and that page."""
    step = max(smallest, context.block_size)
    required = max(full * smallest, context.state_page_size_padded or 0)
    block_size = max(context.block_size, step * cdiv(required, step * primary))
    return block_size, block_size * primary


def first_layer(parts: Sequence[tuple[Part, str]]) -> FirstLayer | None:
    """The first layer that attends; None where there is none."""
    for part, kv_cache_dtype in parts:
        if isinstance(part.cache, AttentionCache | LatentCache):
            return FirstLayer(part.cache, kv_cache_dtype == "auto")
    return None
