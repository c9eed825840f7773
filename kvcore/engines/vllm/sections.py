"""Sections of the report from vLLM's plan: each function fills one contract key."""

import math
from fractions import Fraction

from kvcore.arithmetic import cdiv
from kvcore.budget import Budget
from kvcore.charge import RequestCharge
from kvcore.charge.request_charge import binding_stage
from kvcore.engines.vllm.export import exported_paging, exported_storage
from kvcore.engines.vllm.grouping import CacheGroup
from kvcore.engines.vllm.paging import PlannedPart
from kvcore.engines.vllm.plan import Plan
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.engines.vllm.specs import AttentionSpec, CircularBufferSpec, MambaSpec
from kvcore.layout.layout import Layout
from kvcore.report.report import (
    BudgetReport,
    Capacity,
    Concurrency,
    GroupReport,
    LayoutReport,
    PartReport,
    PlanReport,
    RequestPart,
    RequestReport,
    Tokens,
)


def budget_section(budget: Budget, remedies: tuple[str, ...] = ()) -> BudgetReport:
    """The budget as reported, with what would make the deployment start."""
    return BudgetReport(
        kv_cache_bytes=budget.kv_cache_bytes,
        kind=budget.kind,
        interval_bytes=budget.interval_bytes,
        reserves=budget.reserves,
        stage_bytes=budget.stage_bytes,
        missing_bytes=budget.missing_bytes,
        remedies=remedies,
    )


def layout_section(layout: Layout, plan: Plan, settings: EngineSettings) -> LayoutReport:
    """Every part in the size the engine stores, and the sums on the fullest pipeline stage."""
    parts = tuple(_part(item, settings) for item in plan.parts)
    stage = binding_stage(plan) if plan.stage_block_bytes else 0
    on_stage = dict.fromkeys((item.part.name for item in plan.parts), 0)
    for group in plan.stage_groups[stage]:
        for name, _, count in group.counted_parts:
            on_stage[name] += count
    per_token = sum(
        (
            Fraction(on_stage[part.name] * part.entry_bytes, part.tokens_per_entry)
            for part in parts
            if part.growth == "per_token"
        ),
        Fraction(0),
    )
    per_token_partition = sum(
        (
            Fraction(part.layers * part.entry_bytes_partition, part.tokens_per_entry)
            for part in parts
            if part.growth == "per_token"
        ),
        Fraction(0),
    )
    return LayoutReport(
        attention_kind=layout.attention_kind,
        parts=parts,
        bytes_per_token=cdiv(per_token.numerator, per_token.denominator),
        bytes_per_request=sum(on_stage[part.name] * part.entry_bytes for part in parts if part.growth == "per_request"),
        bytes_per_token_partition=cdiv(per_token_partition.numerator, per_token_partition.denominator),
        bytes_per_request_partition=sum(
            part.layers * part.entry_bytes_partition for part in parts if part.growth == "per_request"
        ),
        attention_shards=max((item.stored.shards for item in plan.parts), default=1),
        num_hidden_layers=layout.num_hidden_layers,
        engine=exported_paging(layout, plan),
    )


def _part(item: PlannedPart, settings: EngineSettings) -> PartReport:
    spec, part = item.stored.spec, item.part
    is_entry = isinstance(spec, AttentionSpec) and not isinstance(spec, CircularBufferSpec)
    entry = spec.entry_bytes if isinstance(spec, AttentionSpec) and is_entry else spec.unpadded_page_size_bytes
    tokens_per_entry = spec.tokens_per_state if isinstance(spec, AttentionSpec) else 1
    copies = 1 + spec.num_speculative_blocks if isinstance(spec, MambaSpec) else 1
    copies_over_ranks = settings.tensor_parallel_size if item.stored.split != "whole" else 1
    return PartReport(
        name=part.name,
        growth=part.cache.growth,
        layers=len(part.layer_indices),
        entry_bytes=entry,
        entry_bytes_partition=entry * copies_over_ranks,
        tokens_per_entry=tokens_per_entry,
        window=part.cache.window,
        copies=copies,
        split=item.stored.split,
        dtype=item.stored.dtype,
        formula=item.stored.formula,
        substituted=item.stored.substituted,
        source=item.stored.source,
        draft=part.draft,
        layer_indices=part.layer_indices,
        engine=exported_storage(item.stored),
    )


def plan_section(plan: Plan, settings: EngineSettings) -> PlanReport:
    """How the engine pages the layout."""
    stage_bytes = plan.stage_block_bytes
    return PlanReport(
        block_size=plan.block_size if plan.groups else None,
        page_size_bytes=stage_bytes[binding_stage(plan)] if stage_bytes else 0,
        groups=tuple(_group(group, blocks) for group, blocks in zip(plan.groups, plan.group_blocks, strict=True)),
        padding_percent=plan.padding_percent,
        in_flight_tokens=settings.max_in_flight_tokens,
        copies=1 + settings.num_speculative_tokens,
        stage_page_size_bytes=stage_bytes,
        kv_cache_layout=plan.kv_cache_layout,
        attention_backends=tuple(backend.name for backend in plan.backends),
        stage_layers=plan.stage_layers,
        context_shards=plan.context.decode_context_parallel_size,
    )


def _group(group: CacheGroup, blocks: int) -> GroupReport:
    return GroupReport(
        kind=group.specs[0].kind,
        layers=len(group.layers),
        block_size=group.block_size,
        page_size_bytes=group.page_size_bytes,
        blocks_per_request=blocks,
        parts=group.part_names,
    )


def request_section(plan: Plan, charge: RequestCharge | None) -> RequestReport:
    """One request at ``max_model_len``."""
    if charge is None:
        return RequestReport(max_model_len=plan.max_model_len, parts=(), bytes_estimate=0, bytes_held=0, bytes_plain=0)
    return RequestReport(
        max_model_len=plan.max_model_len,
        parts=tuple(
            RequestPart(
                name=part.name,
                blocks=part.blocks,
                copies=part.copies,
                bytes_estimate=part.bytes_estimate,
                bytes_held=part.bytes_held,
                bytes_plain=part.bytes_plain,
            )
            for part in charge.parts
        ),
        bytes_estimate=charge.bytes_estimate,
        bytes_held=charge.bytes_held,
        bytes_plain=charge.bytes_plain,
    )


def capacity_section(plan: Plan, charge: RequestCharge | None, budget: Budget, *, ranks: int) -> Capacity:
    """What fits: the engine's figures, what can be held, and plain.

    Args:
        plan: The plan.
        charge: What one request costs; None where nothing is cached.
        budget: The cache budget.
        ranks: Data-parallel ranks, each with a cache of its own.
    """
    if charge is None:
        nothing = Concurrency(engine_log=None, held=None, plain=None)
        return Capacity(
            num_gpu_blocks=plan.num_gpu_blocks,
            concurrency=nothing,
            tokens=Tokens(engine_log=None, per_token_pool=None),
            max_model_len_that_fits=plan.max_model_len,
            binds=None,
            fits=True,
            data_parallel_size=ranks,
        )
    fits = plan.fit is not None and plan.fit.fits
    blocks = plan.num_gpu_blocks if fits else None
    usable = plan.usable_blocks if fits else None
    held = Fraction(usable, plan.held_blocks) if usable is not None else None
    pool_bytes = blocks * charge.block_bytes if blocks is not None else None
    stage_budget = _stage_budget(budget, charge.stage, pool_bytes)
    plain = Fraction(stage_budget, charge.bytes_plain) if fits and stage_budget is not None else None
    fit = plan.fit
    return Capacity(
        num_gpu_blocks=blocks,
        concurrency=Concurrency(
            engine_log=plan.concurrency,
            held=None if held is None else float(held),
            plain=None if plain is None else float(plain),
        ),
        tokens=Tokens(engine_log=plan.tokens, per_token_pool=_token_pool(plan) if fits else None),
        max_model_len_that_fits=None if fit is None else fit.longest,
        binds=max(charge.parts, key=lambda part: part.bytes_estimate).name,
        fits=None if fit is None else fit.fits,
        needed_bytes=None if fit is None else fit.needed_bytes,
        short_bytes=None if fit is None or fit.fits else fit.needed_bytes - fit.available_bytes,
        set_aside_blocks=plan.set_aside_blocks if fits else 0,
        data_parallel_size=ranks,
        tokens_all_ranks=None if plan.tokens is None else plan.tokens * ranks,
    )


def _stage_budget(budget: Budget, stage: int, pool_bytes: int | None) -> int | None:
    if not budget.stage_bytes:
        return pool_bytes
    return budget.stage_bytes[stage] if len(budget.stage_bytes) > 1 else budget.stage_bytes[0]


def _token_pool(plan: Plan) -> int | None:
    """Tokens the usable blocks hold where every part grows with every token, else None."""
    if any(item.part.cache.growth != "per_token" for item in plan.parts) or plan.num_gpu_blocks is None:
        return None
    sizes = [group.specs[0].tokens_per_block(plan.context) for group in plan.groups]
    # Whole blocks of every group for so many tokens: the least common multiple of what their blocks hold.
    tokens = math.lcm(*sizes)
    blocks = sum(tokens // size for size in sizes)
    return (plan.usable_blocks or 0) * tokens // blocks
