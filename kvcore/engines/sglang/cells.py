"""Cells: bytes one token, or one request, takes in each layer as SGLang bills it on one GPU."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kvcore.arithmetic import cdiv
from kvcore.dtypes import ELEMENT_BYTES
from kvcore.engines.sglang.checks import FOUR_BIT
from kvcore.engines.sglang.model import ServedModel
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.engines.sglang.state_cells import state_cell
from kvcore.errors import refusal
from kvcore.layout.cache import AttentionCache, Cache, CrossAttentionCache, LatentCache, StateCache
from kvcore.layout.indexer import IndexerCache
from kvcore.layout.layout import Layout

FULL, WINDOW, STATE = "full", "window", "state"
"""Pools: tokens of the whole request, tokens of windows, slots for states."""

INDEX_BLOCK = 128
"""Elements of an indexer key or latent that share one 32-bit scale (SGLang 0.5.23 `DSATokenToKVPool.quant_block_size`)."""

SCALE_BYTES = 4
ROPE_BYTES = 2
FP4_BLOCK = 16


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Bytes of one entry in one layer on one GPU.

    Attributes:
        bytes: Bytes of the entry.
        dtype: Stored element type.
        split: How tensor parallelism divides it: ``heads``, ``replicated_heads`` or ``whole``.
        formula: The size as a formula, ``substituted`` with values.
        source: The engine's symbol.
        tokens_per_entry: Tokens one entry stands for.
    """

    bytes: int
    dtype: str
    split: str
    formula: str
    substituted: str
    source: str
    tokens_per_entry: int = 1


@dataclass(frozen=True, kw_only=True)
class BilledLayer:
    """One cache of one layer: the pool it is billed to, and its cell."""

    index: int
    pool: str
    name: str
    cell: Cell
    window: int | None = None


def billed_layers(layout: Layout, model: ServedModel, settings: SglangSettings) -> tuple[BilledLayer, ...]:
    """Every layer as SGLang bills it; layers that share another's cache are billed like any other.

    Raises:
        EngineRefusal: The layers differ in a way SGLang's pools do not know, or kvcore does not.
    """
    caches = list(_caches(layout))
    if any(isinstance(cache, LatentCache) for _, cache in caches) != model.latent:
        rule = "SGLang and vLLM store this architecture's attention in different forms, which kvcore has not read"
        raise refusal("architectures", model.architecture, rule, "Ask for engine vllm.")
    full, window = _geometries(caches, model)
    split_windows = model.hybrid_window and not settings.disable_hybrid_swa_memory
    if split_windows and window is None:
        rule = "SGLang's window pool needs at least one layer with a window"
        raise refusal("architectures", model.architecture, rule, "Set disable_hybrid_swa_memory to true.")
    return tuple(_billed(caches, full or window, window if split_windows else None, settings))


def _caches(layout: Layout) -> Iterator[tuple[int, Cache]]:
    own: dict[int, list[Cache]] = {}
    for layer in layout.layers:
        own.setdefault(layer.layer_index, []).append(layer.cache)
    shared: Mapping[int, int] = dict(layout.shared_layers)
    for index in range(layout.num_hidden_layers):
        for cache in own.get(index, ()) or own.get(shared.get(index, -1), ()):
            yield index, cache


def _geometries(
    caches: Iterable[tuple[int, Cache]], model: ServedModel
) -> tuple[AttentionCache | None, AttentionCache | None]:
    """The one shape SGLang takes for all full layers, and the one for all window layers."""
    shapes: dict[bool, AttentionCache] = {}
    for _, cache in caches:
        if isinstance(cache, CrossAttentionCache):
            rule = "kvcore has not read how SGLang stores an encoder's keys and values"
            raise refusal("architectures", model.architecture, rule, "Ask for engine vllm.")
        if not isinstance(cache, AttentionCache):
            continue
        known = shapes.setdefault(cache.window is not None, cache)
        if _shape(known) != _shape(cache):
            rule = "SGLang takes one head count and head size for all layers of a kind, this model has several"
            raise refusal("architectures", model.architecture, rule, "Ask for engine vllm.")
    return shapes.get(False), shapes.get(True)


def _shape(cache: AttentionCache) -> tuple[int, int, int]:
    return cache.num_kv_heads, cache.head_size, cache.head_size_v


def _billed(
    caches: Iterable[tuple[int, Cache]],
    full: AttentionCache | None,
    window: AttentionCache | None,
    settings: SglangSettings,
) -> Iterator[BilledLayer]:
    for index, cache in caches:
        if isinstance(cache, StateCache):
            cell = state_cell(cache, settings.attn_tp_size, settings.temporal_dtype)
            yield BilledLayer(index=index, pool=STATE, name=cache.name, cell=Cell(**vars(cell)))
        elif isinstance(cache, LatentCache):
            yield BilledLayer(index=index, pool=FULL, name=cache.name, cell=latent_cell(cache, settings))
        elif isinstance(cache, IndexerCache):
            yield BilledLayer(index=index, pool=FULL, name=cache.name, cell=indexer_cell(cache))
        elif isinstance(cache, AttentionCache) and window is not None and settings.kv_cache_dtype in FOUR_BIT:
            rule = "kvcore has not read how SGLang bills windows in 4 bits"
            raise refusal("kv_cache_dtype", settings.kv_cache_dtype, rule, "Use auto or fp8_e4m3.")
        elif isinstance(cache, AttentionCache) and window is not None and cache.window is not None:
            cell_of_window = attention_cell(window, settings)
            yield BilledLayer(index=index, pool=WINDOW, name=cache.name, cell=cell_of_window, window=cache.window)
        elif isinstance(cache, AttentionCache) and full is not None:
            yield BilledLayer(index=index, pool=FULL, name=cache.name, cell=attention_cell(full, settings))
        else:
            rule = "kvcore has not read how SGLang stores this kind of cache"
            raise refusal("architectures", cache.name, rule, "Ask for engine vllm.")


def attention_cell(cache: AttentionCache, settings: SglangSettings) -> Cell:
    """Keys and values of one token: KV heads are divided and rounded down, at least one stays.

    Source: SGLang 0.5.23 `DefaultPoolConfigurator._compute_cell_size`, `ModelConfig.get_num_kv_heads`.
    """
    ranks = settings.attn_tp_size
    heads = max(1, cache.num_kv_heads // ranks)
    elements = heads * (cache.head_size + cache.head_size_v)
    formula = "kv_heads / attention_ranks × (head_dim + v_head_dim)"
    values = f"{cache.num_kv_heads} / {ranks} × ({cache.head_size} + {cache.head_size_v})"
    if cache.num_kv_heads % ranks:
        formula, values = (
            "kv_heads_of_a_rank × (head_dim + v_head_dim)",
            f"{heads} × ({cache.head_size} + {cache.head_size_v})",
        )
    if settings.kv_cache_dtype in FOUR_BIT:
        size = elements // 2 + elements // FP4_BLOCK
        formula, values = f"{formula} × (1/2 + 1/16)", f"{values} × (1/2 + 1/16)"
    else:
        width = ELEMENT_BYTES[settings.kv_cache_dtype]
        size = elements * width
        formula, values = f"{formula} × bytes", f"{values} × {width}"
    return Cell(
        bytes=size,
        dtype=settings.kv_cache_dtype,
        split="heads" if cache.num_kv_heads >= ranks else "replicated_heads",
        formula=formula,
        substituted=values,
        source="SGLang 0.5.23 `DefaultPoolConfigurator._compute_cell_size`",
    )


def latent_cell(cache: LatentCache, settings: SglangSettings) -> Cell:
    """The latent of one token, whole on every rank; sparse fp8 latents carry scales and a 16-bit rotary key.

    Source: SGLang 0.5.23 `calculate_mla_kv_cache_dim`.
    """
    if settings.kv_cache_dtype in FOUR_BIT:
        rule = "kvcore has not read how SGLang stores latents in 4 bits"
        raise refusal("kv_cache_dtype", settings.kv_cache_dtype, rule, "Use auto or fp8_e4m3.")
    rank, rope = cache.kv_lora_rank, cache.qk_rope_head_dim
    width = ELEMENT_BYTES[settings.kv_cache_dtype]
    source = "SGLang 0.5.23 `calculate_mla_kv_cache_dim`"
    if _has_scaled_rows(settings):
        return Cell(
            bytes=rank + rank // INDEX_BLOCK * SCALE_BYTES + rope * ROPE_BYTES,
            dtype="fp8_e4m3 with scales",
            split="whole",
            formula="kv_lora_rank + kv_lora_rank / 128 × 4 + qk_rope_head_dim × 2",
            substituted=f"{rank} + {rank} / 128 × 4 + {rope} × 2",
            source=source,
        )
    return Cell(
        bytes=(rank + rope) * width,
        dtype=settings.kv_cache_dtype,
        split="whole",
        formula="(kv_lora_rank + qk_rope_head_dim) × bytes",
        substituted=f"({rank} + {rope}) × {width}",
        source=source,
    )


def _has_scaled_rows(settings: SglangSettings) -> bool:
    """Sparse fp8 latents, except where a kernel reads plain rows; a server of one role asks its own kernel only."""
    if settings.kv_cache_dtype != "fp8_e4m3" or not any(settings.sparse_backends):
        return False
    prefill, decode = settings.sparse_backends
    asked = {"prefill": (prefill,), "decode": (decode,)}.get(settings.role, (prefill, decode))
    return "trtllm" not in asked and (prefill, decode) != ("tilelang", "tilelang")


def indexer_cell(cache: IndexerCache) -> Cell:
    """An indexer key of one token in 8 bits with its scale (SGLang 0.5.23 `_compute_dsa_indexer_cell_size`)."""
    dim = cache.index_head_dim
    return Cell(
        bytes=cdiv(dim + dim // INDEX_BLOCK * SCALE_BYTES, cache.tokens_per_key),
        dtype="fp8_e4m3 with scale",
        split="whole",
        formula=f"ceil((index_head_dim + index_head_dim / {INDEX_BLOCK} × {SCALE_BYTES}) / tokens per key)",
        substituted=f"ceil(({dim} + {dim} / {INDEX_BLOCK} × {SCALE_BYTES}) / {cache.tokens_per_key})",
        source="SGLang 0.5.23 `_compute_dsa_indexer_cell_size`",
    )
