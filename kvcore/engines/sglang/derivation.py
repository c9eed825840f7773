"""Derivation: every SGLang figure as formula, substituted values and result, in the order the stages compute them."""

from collections.abc import Iterator

from kvcore.arithmetic import GIB
from kvcore.engines.sglang.charge import parts_of, tokens_held
from kvcore.engines.sglang.memory import StatePool
from kvcore.engines.sglang.memory_fraction import LARGE_GPU_RESERVE_MIB
from kvcore.engines.sglang.model import ServedModel
from kvcore.engines.sglang.plan import Pools, SglangPlan, request_state_bytes
from kvcore.engines.sglang.requests import (
    ESTIMATED_PER_CONTEXT,
    FEWEST_ESTIMATED,
    MOST_ESTIMATED,
    estimated_requests,
)
from kvcore.engines.sglang.sections import held_limits
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.report.report import Step

_CONFIGURATOR = "SGLang 0.5.23 `KVCacheConfigurator"


def derive(model: ServedModel, plan: SglangPlan, settings: SglangSettings) -> tuple[Step, ...]:
    """All steps from the static share to the logged figures."""
    steps = [*_fraction(model, settings), *_entries(plan), *_cell(plan, settings)]
    if plan.pools is not None:
        steps.extend(_memory(plan.pools, settings))
        if plan.pools.state is not None:
            steps.append(_states(plan.pools.state, settings))
        steps.extend(_tokens(plan, plan.pools, settings))
        steps.extend(_requests(plan, plan.pools, settings))
    return tuple(steps)


def _fraction(model: ServedModel, settings: SglangSettings) -> Iterator[Step]:
    headroom = settings.headroom
    if headroom is None:
        return
    terms = list(headroom.terms_mib())
    least = (
        f", at least {LARGE_GPU_RESERVE_MIB:,}" if headroom.reserved_mib > sum(amount for _, _, amount in terms) else ""
    )
    yield Step(
        path="inputs.reserved_mib",
        label="Memory left free for activations and graphs",
        formula=" + ".join(name for name, _, _ in terms),
        substituted=" + ".join(values for _, values, _ in terms) + least,
        result=headroom.reserved_mib,
        unit="MiB",
        source="SGLang 0.5.23 `handle_gpu_memory_settings`",
    )
    vision = "" if model.vision is None or settings.role == "decode" else " × share for a vision tower"
    yield Step(
        path="inputs.mem_fraction_static.value",
        label="Static share of the memory",
        formula=f"round((GPU memory − memory left free) / GPU memory, 3){vision}",
        substituted=f"round(({headroom.gpu_mib:,} − {headroom.reserved_mib:,.1f}) / {headroom.gpu_mib:,}, 3)"
        + (f" × vision tower of {model.vision[0]} layers, {model.vision[1]:,} wide" if vision and model.vision else ""),
        result=settings.mem_fraction_static,
        unit="",
        source="SGLang 0.5.23 `handle_gpu_memory_settings`",
    )


def _entries(plan: SglangPlan) -> Iterator[Step]:
    for number, part in enumerate(parts_of(plan.billed)):
        yield Step(
            path=f"layout.parts.{number}.entry_bytes",
            label=f"{part.name}: bytes of one entry in one layer on one GPU",
            formula=part.cell.formula,
            substituted=part.cell.substituted,
            result=part.cell.bytes,
            unit="bytes",
            source=part.cell.source,
        )


def _cell(plan: SglangPlan, settings: SglangSettings) -> Iterator[Step]:
    stage, mode = plan.binding, plan.sizing.mode
    full, window = float(stage.full_bytes), float(stage.window_bytes)
    formula, values = "bytes of one token over the layers", f"{full:,g}"
    if mode == "ratio":
        formula = "bytes of a full token + swa_full_tokens_ratio × bytes of a window token"
        values = f"{full:,g} + {settings.swa_full_tokens_ratio} × {window:,g}"
    elif mode == "requests":
        formula = "bytes of a full token; windows are set aside for the requests asked for"
    if settings.drafts is not None and settings.drafts.num_layers:
        formula += ", drafter included"
    yield Step(
        path="plan.cell_bytes",
        label="Bytes of one token of max_total_num_tokens",
        formula=formula,
        substituted=values,
        result=plan.sizing.cell_bytes(stage),
        unit="bytes",
        source="SGLang 0.5.23 `pool_configurator.py`",
    )


def _memory(pools: Pools, settings: SglangSettings) -> Iterator[Step]:
    memory = pools.memory
    yield Step(
        path="budget.reserves.1.bytes",
        label="Memory left free for activations and graphs on this GPU",
        formula="free before load × (1 − mem_fraction_static)",
        substituted=f"{memory.before_gib:g} GiB × (1 − {settings.mem_fraction_static:g})",
        result=int(memory.slack_gib * GIB),
        unit="bytes",
        source=f"{_CONFIGURATOR}._profile_available_bytes`",
    )
    yield Step(
        path="budget.kv_cache_bytes",
        label="Memory for the pools",
        formula="free after load − left free − image embeddings",
        substituted=f"{memory.after_gib:g} − {memory.slack_gib:g} − {memory.vision_gib:g} GiB",
        result=int(memory.rest_gib * GIB),
        unit="bytes",
        source=f"{_CONFIGURATOR}._profile_available_bytes`",
    )


def _states(state: StatePool, settings: SglangSettings) -> Step:
    ratio = settings.mamba_full_memory_ratio
    formula, values = {
        "given": (
            "max_mamba_cache_size / attention groups",
            f"{settings.max_mamba_cache_size} / {settings.attn_dp_size}",
        ),
        "requests": (
            "max_running_requests / attention groups",
            f"{settings.max_running_requests} / {settings.attn_dp_size}",
        ),
        "memory": (
            "floor((memory × ratio / (1 + ratio) − one slot) / one slot)",
            f"memory × {ratio} / {1 + ratio}, slots of {state.slot_bytes:,} bytes",
        ),
    }[state.rule]
    if state.rule == "memory" and settings.num_draft_tokens:
        formula = "floor((memory × ratio / (1 + ratio) − slot × (1 + draft tokens)) / (slot × (1 + draft tokens / slots per request)))"
        values += (
            f", {settings.num_draft_tokens} draft tokens, {settings.state_reuse.slots_per_request} slots per request"
        )
    return Step(
        path="capacity.pools.states.entries",
        label="Slots for states",
        formula=formula,
        substituted=values,
        result=state.slots,
        unit="slots",
        source=f"{_CONFIGURATOR}._handle_max_mamba_cache`",
    )


def _tokens(plan: SglangPlan, pools: Pools, settings: SglangSettings) -> Iterator[Step]:
    fixed = request_state_bytes(plan)
    before = f"({pools.budget_bytes:,} − {fixed:,})" if fixed else f"{pools.budget_bytes:,}"
    if plan.sizing.mode == "requests" and pools.tokens.window_tokens is not None:
        window = int(pools.tokens.window_tokens * plan.binding.window_bytes)
        before = f"({pools.budget_bytes:,} − {window:,} for windows)"
    cap = "" if settings.max_total_tokens is None else f", at most {settings.max_total_tokens:,}"
    yield Step(
        path="capacity.tokens.engine_log",
        label="max_total_num_tokens, as logged",
        formula="memory for tokens / bytes of one token, in whole pages, fewest of any stage",
        substituted=f"{before} / {plan.sizing.cell_bytes(plan.binding):,g}, pages of {settings.page_size}{cap}",
        result=pools.tokens.max_total_num_tokens,
        unit="tokens",
        source="SGLang 0.5.23 `pool_configurator.py`, `_apply_token_constraints`",
    )
    if pools.tokens.window_tokens is not None:
        by_ratio = pools.tokens.mode == "ratio"
        yield Step(
            path="capacity.pools.1.entries",
            label="Tokens of the window pool",
            formula="full tokens × swa_full_tokens_ratio, in whole pages"
            if by_ratio
            else "requests × window tokens of one",
            substituted=f"{pools.tokens.full_tokens:,} × {settings.swa_full_tokens_ratio}"
            if by_ratio
            else f"{settings.requests_per_group or 0:,} requests with a window of {plan.window:,}",
            result=pools.tokens.window_tokens,
            unit="tokens",
            source="SGLang 0.5.23 `HybridSWAPoolConfigurator`, `compute_swa_request_cap`",
        )


def _requests(plan: SglangPlan, pools: Pools, settings: SglangSettings) -> Iterator[Step]:
    tokens = pools.tokens.max_total_num_tokens
    wanted = settings.requests_per_group
    if wanted is None:
        within = f"{FEWEST_ESTIMATED:,}, {MOST_ESTIMATED:,}"
        formula = f"min(clamp(tokens / context × {ESTIMATED_PER_CONTEXT}, {within}), tokens / 2)"
        values = f"min({estimated_requests(tokens, settings.context_len):,}, {tokens:,} / 2)"
    else:
        formula, values = "min(max_running_requests / attention groups, tokens / 2)", f"min({wanted:,}, {tokens:,} / 2)"
    if pools.state is not None:
        formula += ", at most slots / slots per request"
        values += f", at most {pools.state.slots:,} / {settings.state_reuse.slots_per_request}"
    yield Step(
        path="capacity.max_running_requests",
        label="max_running_requests, as logged",
        formula=formula,
        substituted=values,
        result=pools.max_running_requests,
        unit="requests",
        source=f"{_CONFIGURATOR}.resolve_max_num_reqs`",
    )
    limits = held_limits(plan, pools, settings)
    binds = min(limits, key=lambda name: limits[name])
    yield Step(
        path="capacity.concurrency.held",
        label="Requests of the longest context that can run at once",
        formula="fewest of: each pool's entries / what one request holds of it, and max_running_requests",
        substituted=", ".join(f"{name} {float(limit):,.2f}" for name, limit in limits.items())
        + f"; one request holds {tokens_held(settings):,} tokens",
        result=float(limits[binds]),
        unit="requests",
        source="kvcore: SGLang logs no such figure",
    )
