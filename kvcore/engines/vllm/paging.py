"""Paging: how vLLM stores and groups a layout's caches, whatever the budget.

Deployments that differ only in budget, batch or length page alike, so each paging is worked out once and kept.
"""

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass

from kvcore.engines.vllm.backends import DEFAULT_BLOCK_SIZE, Backend, block_size_in_force
from kvcore.engines.vllm.block_size import Alignment, align_block_size
from kvcore.engines.vllm.cache_dtype import first_layer, parts_by_cache_dtype, shared_page, skip_layers
from kvcore.engines.vllm.capacity import bytes_per_block, project
from kvcore.engines.vllm.checks import check_deployment, check_shared_layers
from kvcore.engines.vllm.given import given_block_bytes, given_groups
from kvcore.engines.vllm.grouping import CacheGroup, PlannedLayer, distinct_specs, group_layers
from kvcore.engines.vllm.latent_block import forced_latent_block
from kvcore.engines.vllm.paging_settings import PagingSettings
from kvcore.engines.vllm.specs import ChunkedLocalAttentionSpec, LayerSpec, SlidingWindowSpec
from kvcore.engines.vllm.stages import layers_per_stage, stage_of_layers
from kvcore.engines.vllm.store import StoreContext, Stored, store
from kvcore.engines.vllm.tensor_layout import BLOCK_OUTERMOST, is_block_outermost, resolve_tensor_layout
from kvcore.layout.layout import Layout, Part
from kvcore.layout.traits import Traits

MOST_KEPT = 64
"""Pagings kept: more than a page of questions about one model needs."""

MOST_LAYERS_KEPT = 2000
"""Layers of a paging that is kept; no published model has as many, and a made-up one must not fill the memory."""


@dataclass(frozen=True, kw_only=True)
class PlannedPart:
    """One part of the layout and how the engine stores it."""

    part: Part
    stored: Stored


@dataclass(frozen=True, kw_only=True)
class Paging:
    """How vLLM pages a layout on a deployment.

    Attributes:
        parts: The layout's parts as stored.
        layers: Every cache of every layer, before pages are unified and windows promoted.
        groups: Cache groups over all pipeline stages.
        stage_groups: The groups as each pipeline stage holds them.
        stage_layers: Layers of each pipeline stage.
        stage_block_bytes: Bytes of one block of the pool on each stage; empty where nothing is cached.
        block_size: Tokens per block vLLM reports.
        backends: Attention backends in use.
        kv_cache_layout: Order of the cache tensor's dimensions.
        alignment: How the block size of a hybrid was raised to the state page.
    """

    parts: tuple[PlannedPart, ...]
    layers: tuple[PlannedLayer, ...]
    groups: tuple[CacheGroup, ...]
    stage_groups: tuple[tuple[CacheGroup, ...], ...]
    stage_layers: tuple[int, ...]
    stage_block_bytes: tuple[int, ...]
    block_size: int
    backends: tuple[Backend, ...]
    kv_cache_layout: str
    alignment: Alignment


def page(layout: Layout, settings: PagingSettings, traits: Traits) -> Paging:
    """Pages a layout, or remembers how it was paged.

    Args:
        layout: What persists.
        settings: The engine's settings after defaults, as far as they decide the paging.
        traits: What the architecture means to the engine.

    Raises:
        EngineRefusal: vLLM refuses this deployment.
    """
    return (_kept if len(layout.layers) <= MOST_LAYERS_KEPT else _page)(layout, settings, traits)


def _page(layout: Layout, settings: PagingSettings, traits: Traits) -> Paging:
    check_deployment(layout, settings, traits)
    stage_layers = layers_per_stage(
        layout.num_hidden_layers, settings.pipeline_parallel_size, settings.pipeline_layer_partition
    )
    check_shared_layers(layout, stage_of_layers(stage_layers))
    parts, alignment = _store_parts(layout, settings, traits)
    layers = _planned_layers(layout, parts, stage_layers)
    backends = _distinct_backends(parts)
    kv_cache_layout = resolve_tensor_layout(backends, distinct_specs(layers))
    if layout.paging is not None and layout.paging.block_outermost:
        kv_cache_layout = BLOCK_OUTERMOST
    block_outermost = is_block_outermost(kv_cache_layout) and settings.profile.block_outermost
    if layout.paging is not None and layout.paging.groups:
        groups = given_groups(layers, layout.paging)
    else:
        groups = group_layers(
            layers,
            profile=settings.profile,
            disable_hybrid_kv_cache_manager=settings.disable_hybrid_kv_cache_manager
            or _charges_chunks_whole(layers, settings),
            block_outermost=block_outermost,
        )
    stage_groups = tuple(tuple(project(group, stage) for group in groups) for stage in range(len(stage_layers)))
    block_bytes = tuple(bytes_per_block(own, block_outermost=block_outermost) for own in stage_groups) if groups else ()
    if layout.paging is not None:
        block_bytes = given_block_bytes(block_bytes, layout.paging)
    return Paging(
        parts=parts,
        layers=tuple(layers),
        groups=groups,
        stage_groups=stage_groups,
        stage_layers=stage_layers,
        stage_block_bytes=block_bytes,
        block_size=min((group.block_size for group in groups if group.prefix_cacheable), default=alignment.block_size),
        backends=backends,
        kv_cache_layout=kv_cache_layout,
        alignment=alignment,
    )


_kept = functools.lru_cache(maxsize=MOST_KEPT)(_page)


def _charges_chunks_whole(layers: Sequence[PlannedLayer], settings: PagingSettings) -> bool:
    """Whether the release turns the hybrid manager off for chunked local attention (vLLM 0.13.0 `VllmConfig`).

    ``disable_hybrid_kv_cache_manager: false`` stands for the variable that keeps it on there,
    ``VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE=1``.
    """
    if settings.profile.chunked_hybrid_manager or settings.keeps_hybrid_manager:
        return False
    return any(isinstance(spec, ChunkedLocalAttentionSpec) for spec in distinct_specs(layers))


def _store_parts(layout: Layout, settings: PagingSettings, traits: Traits) -> tuple[tuple[PlannedPart, ...], Alignment]:
    """Stores every part at the block size in force: the backends' own, then raised to the state page of hybrids."""
    parts = parts_by_cache_dtype(layout, settings)
    stated = _stated_block_size(layout, settings)
    context = _store_context(layout, settings, traits, stated)

    def stored_at(context: StoreContext) -> tuple[PlannedPart, ...]:
        return tuple(
            PlannedPart(
                part=part, stored=store(part.cache, dataclasses.replace(context, kv_cache_dtype=kv_cache_dtype))
            )
            for part, kv_cache_dtype in parts
        )

    provisional = stored_at(context)
    backends = _distinct_backends(provisional)
    base = dataclasses.replace(context, block_size=block_size_in_force(backends, stated))
    unaligned = provisional if base == context else stored_at(base)
    if layout.paging is not None and layout.paging.block_size is not None:
        return unaligned, Alignment(block_size=base.block_size)
    alignment = align_block_size([item.stored for item in unaligned], base)
    aligned = dataclasses.replace(
        base,
        block_size=alignment.block_size,
        state_block_size=alignment.state_block_size,
        state_page_size_padded=alignment.state_page_size_padded,
    )
    first = first_layer(parts)
    if first is None or not skip_layers(layout, settings):
        return unaligned if aligned == base else stored_at(aligned), alignment
    block_size, shared = shared_page(layout, aligned, first)
    mixed = dataclasses.replace(aligned, block_size=block_size, shared_page_bytes=shared)
    if shared is not None and mixed.state_page_size_padded is not None:
        mixed = dataclasses.replace(mixed, state_page_size_padded=shared)
    return stored_at(mixed), dataclasses.replace(alignment, block_size=block_size)


def _stated_block_size(layout: Layout, settings: PagingSettings) -> int | None:
    """The block size asked for, by the request or a layout by hand, or forced by the platform; None: the backends choose."""
    stated = settings.block_size or (layout.paging.block_size if layout.paging is not None else None)
    wanted = stated or DEFAULT_BLOCK_SIZE
    forced = forced_latent_block(wanted, layout.parts, settings.gpu, settings.attention_backend, settings.profile)
    return stated if forced == wanted else forced


def _store_context(layout: Layout, settings: PagingSettings, traits: Traits, stated: int | None) -> StoreContext:
    """How parts are stored before the backends have a say in the block size."""
    return StoreContext(
        profile=settings.profile,
        gpu=settings.gpu,
        tensor_parallel_size=settings.tensor_parallel_size,
        block_size=stated or DEFAULT_BLOCK_SIZE,
        dtype=settings.dtype,
        kv_cache_dtype=settings.kv_cache_dtype,
        num_speculative_tokens=settings.num_speculative_tokens,
        mamba_cache_mode=settings.mamba_cache_mode,
        mamba_cache_dtype=settings.mamba_cache_dtype,
        mamba_ssm_cache_dtype=settings.mamba_ssm_cache_dtype,
        mamba_chunk_size=settings.mamba_chunk_size,
        max_model_len=settings.state_tokens,
        enable_prefix_caching=settings.enable_prefix_caching,
        replicates_kv_heads=traits.replicates_kv_heads,
        mm_prefix_lm=traits.mm_prefix_lm,
        num_attention_heads=layout.num_attention_heads,
        num_key_value_heads=layout.num_key_value_heads,
        model_head_size=layout.head_size,
        soft_capping=layout.soft_capping,
        attention_backend=settings.attention_backend,
        given_block_size=None if settings.block_size is None else stated,
        decode_context_parallel_size=settings.decode_context_parallel_size,
    )


def _planned_layers(layout: Layout, parts: Sequence[PlannedPart], stage_layers: Sequence[int]) -> list[PlannedLayer]:
    """Every cache of every layer in the engine's order; drafter layers live on the last stage."""
    stages = stage_of_layers(stage_layers)
    last = len(stage_layers) - 1
    by_layer: dict[tuple[int, bool], list[PlannedPart]] = {}
    for item in parts:
        for index in item.part.layer_indices:
            by_layer.setdefault((index, item.part.draft), []).append(item)
    specs = {item.part.name: _planned_spec(item, layout.extra_retained_tokens) for item in parts}
    planned = []
    for layer in layout.layers:
        items = by_layer[layer.layer_index, layer.draft]
        name = next(item.part.name for item in items if item.part.cache == layer.cache)
        stage = last if layer.draft or layer.layer_index >= len(stages) else stages[layer.layer_index]
        planned.append(PlannedLayer(part=name, layer_index=layer.layer_index, stage=stage, spec=specs[name]))
    return sorted(planned, key=lambda layer: layer.stage)


def _planned_spec(item: PlannedPart, extra_retained_tokens: int) -> LayerSpec:
    """The spec all layers of a part share: one object, so that later steps work on parts and not on layers."""
    spec = dataclasses.replace(item.stored.spec, is_draft=item.part.draft)
    if isinstance(spec, SlidingWindowSpec):
        return dataclasses.replace(spec, extra_retained_tokens=extra_retained_tokens)
    return spec


def _distinct_backends(parts: Sequence[PlannedPart]) -> tuple[Backend, ...]:
    """Every backend once; where layers of two cache dtypes share one, with the blocks the quantized ones need."""
    found: dict[str, Backend] = {}
    for item in parts:
        backend = item.stored.backend
        if backend is not None:
            known = found.setdefault(backend.name, backend)
            found[backend.name] = max(known, backend, key=lambda candidate: candidate.smallest_block)
    return tuple(found.values())
