"""Plan: how vLLM pages a layout, and how much of it fits."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from kvcore.engines.vllm.backends import Backend
from kvcore.engines.vllm.block_size import Alignment
from kvcore.engines.vllm.capacity import (
    Stage,
    blocks_held,
    blocks_per_request,
    logged_concurrency,
    logged_tokens,
    set_aside_blocks,
)
from kvcore.engines.vllm.fit_check import Checked, Fit, check_fit
from kvcore.engines.vllm.grouping import CacheGroup
from kvcore.engines.vllm.paging import Paging, PlannedPart, page
from kvcore.engines.vllm.paging_settings import paging_settings
from kvcore.engines.vllm.prefix_boundaries import check_prefix_boundaries
from kvcore.engines.vllm.profile import PrintedTokens
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.engines.vllm.specs import ChargeContext
from kvcore.errors import refusal
from kvcore.layout.layout import Layout
from kvcore.layout.traits import Traits


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How vLLM pages a layout on the request's deployment.

    Attributes:
        paging: What of it holds whatever the budget; its figures stand here too.
        parts: The layout's parts as stored.
        groups: Cache groups over all pipeline stages.
        stage_groups: The groups as each pipeline stage holds them.
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

    paging: Paging
    parts: tuple[PlannedPart, ...]
    groups: tuple[CacheGroup, ...]
    stage_groups: tuple[tuple[CacheGroup, ...], ...]
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

    @functools.cached_property
    def charged_blocks(self) -> int:
        """Blocks the engine charges one request of ``max_model_len`` tokens."""
        return sum(self.group_blocks)

    @functools.cached_property
    def held_blocks(self) -> int:
        """Blocks a running request of ``max_model_len`` tokens holds."""
        return sum(self.group_blocks_held)

    @property
    def usable_blocks(self) -> int | None:
        """Blocks requests can hold: without the null block and what is set aside; None without a budget."""
        return None if self.num_gpu_blocks is None else max(0, self.num_gpu_blocks - 1 - self.set_aside_blocks)

    @functools.cached_property
    def concurrency(self) -> float | None:
        """The figure of "Maximum concurrency" as vLLM logs it; None where it does not start or caches nothing."""
        if self.num_gpu_blocks is None or not self.groups or self.fit is None or not self.fit.fits:
            return None
        return logged_concurrency(self.num_gpu_blocks, self.charged_blocks)

    @functools.cached_property
    def tokens(self) -> int | None:
        """The figure of "GPU KV cache size" as vLLM logs it."""
        if self.num_gpu_blocks is None or self.concurrency is None:
            return None
        return logged_tokens(self.printed_tokens, self.groups, self.num_gpu_blocks, self.max_model_len, self.context)

    @functools.cached_property
    def group_blocks(self) -> tuple[int, ...]:
        """Blocks each group charges one request."""
        return tuple(blocks_per_request(group, self.max_model_len, self.context) for group in self.groups)

    @functools.cached_property
    def group_blocks_held(self) -> tuple[int, ...]:
        """Blocks of each group a running request holds."""
        return tuple(blocks_held(group, self.max_model_len, self.context) for group in self.groups)


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
    paging = page(layout, paging_settings(settings, layout, pipeline_layer_partition), traits)
    return fill(paging, settings, budget_bytes, num_gpu_blocks_override)


def fill(
    paging: Paging, settings: EngineSettings, budget_bytes: Sequence[int] | None, num_gpu_blocks_override: int | None
) -> Plan:
    """Plans the cache of a layout that is paged already; arguments as of :func:`plan`."""
    context = ChargeContext(
        max_in_flight_tokens=settings.max_in_flight_tokens,
        decode_context_parallel_size=settings.decode_context_parallel_size,
        max_num_encoder_input_tokens=settings.max_num_batched_tokens,
        mamba_cache_mode=settings.mamba_cache_mode,
        charged_draft_states=settings.profile.charged_draft_states,
    )
    if budget_bytes is None or not paging.groups:
        return _plan(paging, settings, context, settings.max_model_len, (), None, None if paging.groups else 1)
    stages = _stages(paging, settings, budget_bytes, num_gpu_blocks_override)
    max_model_len = settings.max_model_len
    checked = Checked(stages=stages, groups=paging.groups, layers=paging.layers, context=context)
    fit = check_fit(checked, max_model_len, settings.profile)
    if settings.auto_fit_max_model_len and fit.longest > 0:
        max_model_len = fit.longest
        fit = check_fit(checked, max_model_len, settings.profile)
    if fit.fits and settings.enable_prefix_caching:
        check_prefix_boundaries(paging.groups, paging.stage_groups[0], context, settings.block_size)
    num_gpu_blocks = min(stage.raw_num_blocks for stage in stages)
    return _plan(paging, settings, context, max_model_len, stages, fit, num_gpu_blocks)


def _stages(
    paging: Paging, settings: EngineSettings, budget_bytes: Sequence[int], override: int | None
) -> tuple[Stage, ...]:
    """The stages that hold a cache, each with its budget (vLLM 0.33.0 `get_kv_cache_configs`)."""
    count = len(paging.stage_groups)
    budgets = list(budget_bytes) if len(budget_bytes) > 1 else list(budget_bytes) * count
    if len(budgets) != count:
        rule = f"one value per pipeline stage is expected, that is {count}"
        raise refusal("kv_cache_memory_bytes", list(budget_bytes), rule, "Give one number, or one per stage.")
    replaced = override is not None and settings.profile.override_replaces_budget
    return tuple(
        Stage(
            number=number,
            groups=groups,
            bytes_per_block=block,
            available_bytes=override * block if override is not None and replaced else available,
            overridden_blocks=override,
        )
        for number, (groups, block, available) in enumerate(
            zip(paging.stage_groups, paging.stage_block_bytes, budgets, strict=True)
        )
        if block > 0
    )


def _plan(
    paging: Paging,
    settings: EngineSettings,
    context: ChargeContext,
    max_model_len: int,
    stages: tuple[Stage, ...],
    fit: Fit | None,
    num_gpu_blocks: int | None,
) -> Plan:
    return Plan(
        paging=paging,
        parts=paging.parts,
        groups=paging.groups,
        stage_groups=paging.stage_groups,
        block_size=paging.block_size,
        stage_layers=paging.stage_layers,
        padding_percent=paging.alignment.padding_percent,
        backends=paging.backends,
        kv_cache_layout=paging.kv_cache_layout,
        context=context,
        max_model_len=max_model_len,
        stage_block_bytes=paging.stage_block_bytes,
        stages=stages,
        fit=fit,
        num_gpu_blocks=num_gpu_blocks,
        printed_tokens=settings.profile.printed_tokens,
        alignment=paging.alignment,
        set_aside_blocks=0 if fit is None else set_aside_blocks(num_gpu_blocks or 0, settings.decode_set_aside_percent),
    )
