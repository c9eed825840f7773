"""Plan: how vLLM pages a layout, and how much of it fits."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from kvcore.engines.vllm.backends import DEFAULT_BLOCK_SIZE, Backend, block_size_in_force
from kvcore.engines.vllm.block_size import Alignment, align_block_size
from kvcore.engines.vllm.cache_dtype import first_layer, parts_by_cache_dtype, shared_page, skip_layers
from kvcore.engines.vllm.capacity import (
    Stage,
    blocks_held,
    blocks_per_request,
    bytes_per_block,
    logged_concurrency,
    logged_tokens,
    project,
    request_blocks,
    set_aside_blocks,
)
from kvcore.engines.vllm.checks import check_deployment, check_shared_layers
from kvcore.engines.vllm.fit_check import Checked, Fit, check_fit
from kvcore.engines.vllm.given import given_block_bytes, given_groups
from kvcore.engines.vllm.grouping import CacheGroup, PlannedLayer, group_layers
from kvcore.engines.vllm.latent_block import forced_latent_block
from kvcore.engines.vllm.profile import PrintedTokens
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.engines.vllm.specs import ChargeContext, ChunkedLocalAttentionSpec, LayerSpec, SlidingWindowSpec
from kvcore.engines.vllm.stages import layers_per_stage, stage_of_layers
from kvcore.engines.vllm.store import StoreContext, Stored, store
from kvcore.engines.vllm.tensor_layout import BLOCK_OUTERMOST, is_block_outermost, resolve_tensor_layout
from kvcore.errors import refusal
from kvcore.layout.layout import Layout, Part
from kvcore.layout.traits import Traits


@dataclass(frozen=True, kw_only=True)
class PlannedPart:
    """One part of the layout and how the engine stores it."""

    part: Part
    stored: Stored


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How vLLM pages a layout on the request's deployment.

    Attributes:
        parts: The layout's parts as stored.
        groups: Cache groups over all pipeline stages.
        block_size: Tokens per block vLLM reports.
        stage_layers: Layers of each pipeline stage.
        padding_percent: Share by which states are padded to the attention page, in percent; None where none is.
        backends: Attention backends in use.
        kv_cache_layout: Order of the cache tensor's dimensions.
        context: What decides a request's charge.
        max_model_len: Context length in force; the fitted one where it was left to the engine.
        stages: The groups and budgets per stage; empty where nothing is cached or no budget is known.
        fit: Result of the fit check; None without a budget.
        num_gpu_blocks: Blocks of the pool; None without a budget.
        printed_tokens: How the release prints the size of the pool.
        set_aside_blocks: Blocks a decode worker keeps free for caches in transfer.
        alignment: How the block size of a hybrid was raised to the state page; None where it was not worked out.
    """

    parts: tuple[PlannedPart, ...]
    groups: tuple[CacheGroup, ...]
    block_size: int
    stage_layers: tuple[int, ...]
    padding_percent: float | None
    backends: tuple[Backend, ...]
    kv_cache_layout: str
    context: ChargeContext
    max_model_len: int
    stage_block_bytes: tuple[int, ...]
    stages: tuple[Stage, ...]
    fit: Fit | None
    num_gpu_blocks: int | None
    printed_tokens: PrintedTokens
    alignment: Alignment | None = None
    set_aside_blocks: int = 0

    @property
    def charged_blocks(self) -> int:
        """Blocks the engine charges one request of ``max_model_len`` tokens."""
        return request_blocks(self.groups, self.max_model_len, self.context)

    @property
    def held_blocks(self) -> int:
        """Blocks a running request of ``max_model_len`` tokens holds."""
        return sum(blocks_held(group, self.max_model_len, self.context) for group in self.groups)

    @property
    def usable_blocks(self) -> int | None:
        """Blocks requests can hold: without the null block and what is set aside; None without a budget."""
        return None if self.num_gpu_blocks is None else max(0, self.num_gpu_blocks - 1 - self.set_aside_blocks)

    @property
    def concurrency(self) -> float | None:
        """The figure of "Maximum concurrency" as vLLM logs it; None where it does not start or caches nothing."""
        if self.num_gpu_blocks is None or not self.groups or self.fit is None or not self.fit.fits:
            return None
        return logged_concurrency(self.num_gpu_blocks, self.charged_blocks)

    @property
    def tokens(self) -> int | None:
        """The figure of "GPU KV cache size" as vLLM logs it."""
        if self.num_gpu_blocks is None or self.concurrency is None:
            return None
        return logged_tokens(self.printed_tokens, self.groups, self.num_gpu_blocks, self.max_model_len, self.context)

    def group_blocks(self) -> tuple[int, ...]:
        """Blocks each group charges one request."""
        return tuple(blocks_per_request(group, self.max_model_len, self.context) for group in self.groups)


def plan(
    layout: Layout,
    settings: EngineSettings,
    traits: Traits,
    budget_bytes: Sequence[int] | None,
    *,
    num_gpu_blocks_override: int | None = None,
    pipeline_layer_partition: Sequence[int] | None = None,
) -> Plan:
    """Plans the cache.

    Args:
        layout: What persists.
        settings: The engine's settings after defaults.
        traits: What the architecture means to the engine.
        budget_bytes: Cache bytes on one GPU of each pipeline stage; None: only the paging is planned.
        num_gpu_blocks_override: Blocks to use instead of the budget's.
        pipeline_layer_partition: Layers per stage, instead of the engine's split.

    Raises:
        EngineRefusal: vLLM refuses this deployment.
    """
    check_deployment(layout, settings, traits)
    stage_layers = layers_per_stage(layout.num_hidden_layers, settings.pipeline_parallel_size, pipeline_layer_partition)
    check_shared_layers(layout, stage_of_layers(stage_layers))
    parts, alignment = _store_parts(layout, settings, traits)
    layers = _planned_layers(layout, parts, stage_layers)
    backends = _distinct_backends(parts)
    kv_cache_layout = resolve_tensor_layout(backends, [layer.spec for layer in layers])
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
    context = ChargeContext(
        max_in_flight_tokens=settings.max_in_flight_tokens,
        decode_context_parallel_size=settings.decode_context_parallel_size,
        max_num_encoder_input_tokens=settings.max_num_batched_tokens,
        mamba_cache_mode=settings.mamba_cache_mode,
        charged_draft_states=settings.profile.charged_draft_states,
    )
    projected = [tuple(project(group, stage) for group in groups) for stage in range(len(stage_layers))]
    block_bytes = tuple(bytes_per_block(own, block_outermost=block_outermost) for own in projected) if groups else ()
    if layout.paging is not None:
        block_bytes = given_block_bytes(block_bytes, layout.paging)
    unfitted = Plan(
        parts=parts,
        groups=groups,
        block_size=min((group.block_size for group in groups if group.prefix_cacheable), default=alignment.block_size),
        stage_layers=stage_layers,
        padding_percent=alignment.padding_percent,
        backends=backends,
        kv_cache_layout=kv_cache_layout,
        context=context,
        max_model_len=settings.max_model_len,
        stage_block_bytes=block_bytes,
        stages=(),
        fit=None,
        num_gpu_blocks=None,
        printed_tokens=settings.profile.printed_tokens,
        alignment=alignment,
    )
    if budget_bytes is None or not groups:
        return dataclasses.replace(unfitted, num_gpu_blocks=None if groups else 1)
    return _fit(unfitted, layers, projected, settings, budget_bytes, num_gpu_blocks_override)


def _charges_chunks_whole(layers: Sequence[PlannedLayer], settings: EngineSettings) -> bool:
    """Whether the release turns the hybrid manager off for chunked local attention (vLLM 0.13.0 `VllmConfig`).

    ``disable_hybrid_kv_cache_manager: false`` stands for the variable that keeps it on there,
    ``VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE=1``.
    """
    has_chunks = any(isinstance(layer.spec, ChunkedLocalAttentionSpec) for layer in layers)
    is_kept = settings.inputs["disable_hybrid_kv_cache_manager"].origin == "given"
    return has_chunks and not settings.profile.chunked_hybrid_manager and not is_kept


def _fit(
    plan: Plan,
    layers: Sequence[PlannedLayer],
    projected: Sequence[tuple[CacheGroup, ...]],
    settings: EngineSettings,
    budget_bytes: Sequence[int],
    override: int | None,
) -> Plan:
    """Counts blocks and checks that one request fits (vLLM 0.33.0 `get_kv_cache_configs`)."""
    budgets = list(budget_bytes) if len(budget_bytes) > 1 else list(budget_bytes) * len(projected)
    if len(budgets) != len(projected):
        rule = f"one value per pipeline stage is expected, that is {len(projected)}"
        raise refusal("kv_cache_memory_bytes", list(budget_bytes), rule, "Give one number, or one per stage.")
    replaced = override is not None and settings.profile.override_replaces_budget
    stages = tuple(
        Stage(
            number=number,
            groups=groups,
            bytes_per_block=block,
            available_bytes=override * block if override is not None and replaced else available,
            overridden_blocks=override,
        )
        for number, (groups, block, available) in enumerate(
            zip(projected, plan.stage_block_bytes, budgets, strict=True)
        )
        if block > 0
    )
    max_model_len = plan.max_model_len
    checked = Checked(stages=stages, groups=plan.groups, layers=layers, context=plan.context)
    fit = check_fit(checked, max_model_len, settings.profile)
    if settings.auto_fit_max_model_len and fit.longest > 0:
        max_model_len = fit.longest
        fit = check_fit(checked, max_model_len, settings.profile)
    num_gpu_blocks = min(stage.raw_num_blocks for stage in stages)
    return dataclasses.replace(
        plan,
        max_model_len=max_model_len,
        stages=stages,
        fit=fit,
        num_gpu_blocks=num_gpu_blocks,
        set_aside_blocks=set_aside_blocks(num_gpu_blocks, settings.decode_set_aside_percent),
    )


def _store_parts(layout: Layout, settings: EngineSettings, traits: Traits) -> tuple[tuple[PlannedPart, ...], Alignment]:
    """Stores every part at the block size in force: the backends' own, then raised to the state page of hybrids."""
    parts = parts_by_cache_dtype(layout, settings)
    stated = settings.block_size or (layout.paging.block_size if layout.paging is not None else None)
    forced = forced_latent_block(
        stated or DEFAULT_BLOCK_SIZE, layout.parts, settings.gpu, settings.attention_backend, settings.profile
    )
    if forced != (stated or DEFAULT_BLOCK_SIZE):
        stated = forced
    context = StoreContext(
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
        max_model_len=settings.max_model_len,
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
    if layout.paging is not None and layout.paging.block_size is not None:
        return stored_at(base), Alignment(block_size=base.block_size)
    alignment = align_block_size([item.stored for item in stored_at(base)], base)
    aligned = dataclasses.replace(
        base,
        block_size=alignment.block_size,
        state_block_size=alignment.state_block_size,
        state_page_size_padded=alignment.state_page_size_padded,
    )
    first = first_layer(parts)
    if first is None or not skip_layers(layout, settings):
        return stored_at(aligned), alignment
    block_size, page = shared_page(layout, aligned, first)
    mixed = dataclasses.replace(aligned, block_size=block_size, shared_page_bytes=page)
    if page is not None and mixed.state_page_size_padded is not None:
        mixed = dataclasses.replace(mixed, state_page_size_padded=page)
    return stored_at(mixed), dataclasses.replace(alignment, block_size=block_size)


def _planned_layers(layout: Layout, parts: Sequence[PlannedPart], stage_layers: Sequence[int]) -> list[PlannedLayer]:
    """Every cache of every layer in the engine's order; drafter layers live on the last stage."""
    stages = stage_of_layers(stage_layers)
    last = len(stage_layers) - 1
    by_layer = {(index, item.part.cache, item.part.draft): item for item in parts for index in item.part.layer_indices}
    specs = {item.part.name: _planned_spec(item, layout.extra_retained_tokens) for item in parts}
    planned = []
    for layer in layout.layers:
        name = by_layer[(layer.layer_index, layer.cache, layer.draft)].part.name
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
