"""Sections of the report from SGLang's plan: each function fills one contract key."""

from collections.abc import Sequence
from fractions import Fraction

from kvcore.arithmetic import GIB, cdiv
from kvcore.engines.sglang.cells import FULL, STATE, WINDOW
from kvcore.engines.sglang.charge import BilledPart, HeldPart, parts_of, tokens_held, window_tokens_held
from kvcore.engines.sglang.free_memory import FreeMemory
from kvcore.engines.sglang.memory import Memory
from kvcore.engines.sglang.plan import Pools, SglangPlan, request_state_bytes
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.layout.layout import Layout
from kvcore.report.report import (
    BudgetReport,
    Capacity,
    Concurrency,
    GroupReport,
    LayoutReport,
    PartReport,
    PlanReport,
    PoolReport,
    RequestPart,
    RequestReport,
    Reserve,
    Tokens,
)

KINDS = {FULL: "full tokens", WINDOW: "window tokens", STATE: "states"}


def budget_section(memory: Memory | None, free: FreeMemory | None) -> BudgetReport:
    """What the pools share, and what else takes the memory that was free before the load."""
    if memory is None or free is None:
        return BudgetReport(kv_cache_bytes=None, kind="unknown", interval_bytes=None, reserves=())
    reserves = [
        Reserve(
            name="weights and whatever else was loaded",
            bytes=int((memory.before_gib - memory.after_gib) * GIB),
            kind="given" if free.kind == "given" else "derived",
            source="available_before_load_gib − available_after_load_gib"
            if free.kind == "given"
            else "the model's tensors as the engine creates and loads them",
        ),
        Reserve(
            name="activations and CUDA graphs",
            bytes=int(memory.slack_gib * GIB),
            kind="derived",
            source="available_before_load_gib × (1 − mem_fraction_static)",
        ),
    ]
    if memory.vision_gib:
        reserves.append(
            Reserve(
                name="image embeddings",
                bytes=int(memory.vision_gib * GIB),
                kind="derived",
                source="SGLang 0.5.23 `mm_runtime_reservation_gb`",
            )
        )
    interval = None
    if free.interval_gib is not None:
        low, high = (max(0, int((memory.rest_gib + more) * GIB)) for more in free.interval_gib)
        interval = (low, high)
    return BudgetReport(
        kv_cache_bytes=int(memory.rest_gib * GIB),
        kind=free.kind,
        interval_bytes=interval,
        reserves=tuple(reserves),
    )


def layout_section(layout: Layout, plan: SglangPlan, settings: SglangSettings) -> LayoutReport:
    """Every part in the size SGLang stores, and the sums on the stage that binds."""
    parts = parts_of(plan.billed)
    here = plan.binding.layer_range
    copies = _state_copies(settings)
    return LayoutReport(
        attention_kind=layout.attention_kind,
        parts=tuple(_part(part, copies, settings) for part in parts),
        bytes_per_token=_per_token(parts, here),
        bytes_per_request=sum(_on(part, here) * part.cell.bytes for part in parts if part.pool == STATE),
        bytes_per_token_partition=sum(
            cdiv(len(part.layer_indices) * _over_ranks(part, settings), part.cell.tokens_per_entry)
            for part in parts
            if part.pool == FULL
        ),
        bytes_per_request_partition=sum(
            len(part.layer_indices) * _over_ranks(part, settings) for part in parts if part.pool == STATE
        ),
        attention_shards=settings.attn_tp_size,
        num_hidden_layers=layout.num_hidden_layers,
    )


def _per_token(parts: Sequence[BilledPart], here: range) -> int:
    exact = sum(
        (
            Fraction(_on(part, here) * part.cell.bytes, part.cell.tokens_per_entry)
            for part in parts
            if part.pool == FULL
        ),
        Fraction(0),
    )
    return cdiv(exact.numerator, exact.denominator)


def _on(part: BilledPart, here: range) -> int:
    return sum(1 for index in part.layer_indices if index in here)


def _state_copies(settings: SglangSettings) -> int:
    return settings.state_reuse.slots_per_request + settings.num_state_drafts


def _over_ranks(part: BilledPart, settings: SglangSettings) -> int:
    return part.cell.bytes * (1 if part.cell.split == "whole" else settings.attn_tp_size)


def _part(part: BilledPart, copies: int, settings: SglangSettings) -> PartReport:
    return PartReport(
        name=part.name,
        growth=part.growth,
        layers=len(part.layer_indices),
        entry_bytes=part.cell.bytes,
        entry_bytes_partition=_over_ranks(part, settings),
        tokens_per_entry=part.cell.tokens_per_entry,
        window=part.window if part.pool == WINDOW else None,
        copies=copies if part.pool == STATE else 1,
        split=part.cell.split,
        dtype=part.cell.dtype,
        formula=part.cell.formula,
        substituted=part.cell.substituted,
        source=part.cell.source,
        layer_indices=part.layer_indices,
    )


def plan_section(plan: SglangPlan, settings: SglangSettings) -> PlanReport:
    """The pools as groups: layers whose tokens or states are handed out together."""
    stage = plan.binding
    return PlanReport(
        block_size=settings.page_size,
        page_size_bytes=int(settings.page_size * plan.sizing.cell_bytes(stage)),
        groups=tuple(_groups(plan, settings)),
        padding_percent=None,
        in_flight_tokens=settings.chunked_prefill_size,
        copies=1 + settings.num_draft_tokens,
        stage_page_size_bytes=tuple(int(settings.page_size * plan.sizing.cell_bytes(stage)) for stage in plan.stages),
        attention_backends=(settings.attention_backend,),
        stage_layers=tuple(len(stage.layer_range) for stage in plan.stages),
    )


def _groups(plan: SglangPlan, settings: SglangSettings) -> list[GroupReport]:
    stage, page = plan.binding, settings.page_size
    tokens = {FULL: tokens_held(settings)}
    width = {FULL: stage.full_bytes, WINDOW: stage.window_bytes, STATE: plan.slot_bytes}
    if plan.window is not None:
        tokens[WINDOW] = window_tokens_held(plan.window, settings)
    groups = []
    for pool in (FULL, WINDOW, STATE):
        parts = [part for part in parts_of(plan.billed) if part.pool == pool]
        if not parts:
            continue
        layers = {index for part in parts for index in part.layer_indices}
        is_state = pool == STATE
        groups.append(
            GroupReport(
                kind=KINDS[pool],
                layers=len(layers),
                block_size=1 if is_state else page,
                page_size_bytes=int(width[pool] * (1 if is_state else page)),
                blocks_per_request=settings.state_reuse.slots_per_request if is_state else cdiv(tokens[pool], page),
                parts=tuple(part.name for part in parts),
            )
        )
    return groups


def request_section(held: Sequence[HeldPart], settings: SglangSettings) -> RequestReport:
    """One request of the longest context; SGLang makes no estimate, so the estimate is what it holds."""
    parts = tuple(
        RequestPart(
            name=part.name,
            blocks=part.blocks,
            copies=part.copies,
            bytes_estimate=part.bytes_held,
            bytes_held=part.bytes_held,
            bytes_plain=part.bytes_plain,
        )
        for part in held
    )
    total = sum(part.bytes_held for part in parts)
    return RequestReport(
        max_model_len=settings.context_len,
        parts=parts,
        bytes_estimate=total,
        bytes_held=total,
        bytes_plain=sum(part.bytes_plain for part in parts),
    )


def capacity_section(
    plan: SglangPlan, request: RequestReport, settings: SglangSettings, objection: str | None
) -> Capacity:
    """Tokens and requests of the pools; without free memory nothing is known.

    Args:
        plan: How SGLang bills the layout, and what fits.
        request: What one request of the longest context takes.
        settings: SGLang's settings after defaults.
        objection: Why SGLang does not start by an estimate of the free memory; None where it does, or nothing is known.
    """
    pools = plan.pools
    if pools is None:
        nothing = Concurrency(engine_log=None, held=None, plain=None)
        return Capacity(
            num_gpu_blocks=None,
            concurrency=nothing,
            tokens=Tokens(engine_log=None, per_token_pool=None),
            max_model_len_that_fits=None,
            binds=None,
            fits=False if objection else None,
            objection=objection,
        )
    limits = held_limits(plan, pools, settings)
    binds = min(limits, key=lambda name: limits[name])
    tokens = pools.tokens.max_total_num_tokens
    return Capacity(
        num_gpu_blocks=tokens // settings.page_size,
        concurrency=Concurrency(
            engine_log=None,
            held=float(limits[binds]),
            plain=int(pools.memory.rest_gib * GIB) / request.bytes_plain if request.bytes_plain else None,
        ),
        tokens=Tokens(engine_log=tokens, per_token_pool=pools.tokens.full_tokens or None),
        max_model_len_that_fits=min(settings.context_len, tokens),
        binds=binds,
        fits=True,
        max_running_requests=pools.max_running_requests,
        pools=tuple(_pools(plan, pools)),
    )


def held_limits(plan: SglangPlan, pools: Pools, settings: SglangSettings) -> dict[str, Fraction]:
    """Requests of the longest context each pool and the scheduler admit."""
    limits = {"running requests": Fraction(pools.max_running_requests)}
    if pools.tokens.full_tokens:
        limits[KINDS[FULL]] = Fraction(pools.tokens.full_tokens, tokens_held(settings))
    if pools.tokens.window_tokens is not None and plan.window is not None:
        limits[KINDS[WINDOW]] = Fraction(pools.tokens.window_tokens, window_tokens_held(plan.window, settings))
    if pools.state is not None:
        limits[KINDS[STATE]] = Fraction(pools.state.slots, settings.state_reuse.slots_per_request)
    return limits


def _pools(plan: SglangPlan, pools: Pools) -> list[PoolReport]:
    stage = plan.binding
    found = []
    if pools.tokens.full_tokens:
        found.append(_pool(FULL, pools.tokens.full_tokens, "tokens", stage.full_bytes))
    if pools.tokens.window_tokens is not None:
        found.append(_pool(WINDOW, pools.tokens.window_tokens, "tokens", stage.window_bytes))
    if pools.state is not None:
        state = pools.state
        found.append(
            PoolReport(
                name=KINDS[STATE],
                entries=state.slots,
                unit="slots",
                bytes=state.bytes,
                bytes_per_entry=state.slot_bytes,
            )
        )
    fixed = request_state_bytes(plan)
    if fixed:
        requests = pools.max_running_requests
        found.append(
            PoolReport(
                name="compressor states",
                entries=requests,
                unit="requests",
                bytes=fixed,
                bytes_per_entry=fixed // requests,
            )
        )
    return found


def _pool(pool: str, entries: int, unit: str, width: int | Fraction) -> PoolReport:
    return PoolReport(
        name=KINDS[pool], entries=entries, unit=unit, bytes=int(entries * width), bytes_per_entry=int(width)
    )
