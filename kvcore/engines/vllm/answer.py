"""From a request to vLLM's report: read, lay out, plan, charge."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from kvcore import __version__
from kvcore.budget import Budget, resolve_budget
from kvcore.budget.start import remedies
from kvcore.budget.weights import ModelWeights
from kvcore.charge import RequestCharge, charge_request, tax_by_cause
from kvcore.engines.vllm.backends import worker_warnings
from kvcore.engines.vllm.checks import check_attention_heads, check_heads_per_kv_head
from kvcore.engines.vllm.config_checks import check_config
from kvcore.engines.vllm.derivation import derive
from kvcore.engines.vllm.first_releases import check_mechanisms, check_release
from kvcore.engines.vllm.memory_sections import capacity_interval, memory_warnings, reported_weights
from kvcore.engines.vllm.plan import Plan, fill, plan
from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.profiles import find_profile, release_notes
from kvcore.engines.vllm.quantization_checks import check_quantization
from kvcore.engines.vllm.reuse import capture_objection, draft_warnings
from kvcore.engines.vllm.sections import budget_section, capacity_section, layout_section, plan_section, request_section
from kvcore.engines.vllm.served import served
from kvcore.engines.vllm.settings import EngineSettings, resolve_settings
from kvcore.engines.vllm.weighing import known_weights
from kvcore.layout import Layout
from kvcore.layout.traits import Traits
from kvcore.report.inputs import all_inputs
from kvcore.report.report import (
    BudgetReport,
    Capacity,
    CapacityInterval,
    Engine,
    Input,
    Report,
    Source,
    Step,
    Tax,
    TaxCause,
    Weights,
)
from kvcore.report.sum_steps import sum_steps
from kvcore.request import Request
from kvcore.subject import Subject, subject_of


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """Every stage's result for one request, for callers that want more than the report."""

    subject: Subject
    settings: EngineSettings
    layout: Layout
    plan: Plan
    budget: Budget
    charge: RequestCharge | None
    request: Request
    weights: ModelWeights | None = None
    weights_reason: str = ""


def work_out(request: Request, profile: Profile | None = None, *, charged: bool = True) -> Answer:
    """Runs the stages one after another.

    Args:
        request: The question.
        profile: The switches to answer by; None: those of the request's ``engine_version``.
        charged: Whether one request's split is wanted; the plan alone says how many fit.

    Raises:
        KvcoreError: The input is wrong, the mechanism unknown, or the engine refuses.
    """
    subject = served(subject_of(request))
    if profile is None:
        profile = find_profile(request.engine_version)
    traits = subject.traits
    settings = resolve_settings(request, subject.config, traits, profile)
    check_attention_heads(subject.num_attention_heads, settings.tensor_parallel_size)
    if subject.config is not None:
        check_release(subject.config.architecture, request.engine_version)
        expert_ranks = 1 if request.enable_expert_parallel else settings.tensor_parallel_size
        check_quantization(subject.config, expert_ranks, settings.kv_cache_dtype, profile.version, settings.dtype)
        check_config(
            subject.config,
            profile.version,
            settings.tensor_parallel_size,
            enable_expert_parallel=bool(request.enable_expert_parallel),
        )
    layout = subject.lay_out(request.speculative_config)
    check_mechanisms(layout, profile)
    check_heads_per_kv_head(subject.num_attention_heads, layout, settings.decode_context_parallel_size)
    weights, reason = known_weights(request, subject.config, settings)
    budget = resolve_budget(request, subject.config, settings, weights)
    planned = _plan(request, layout, settings, traits, budget.stage_bytes)
    return Answer(
        subject=subject,
        settings=settings,
        layout=layout,
        plan=planned,
        budget=budget,
        charge=charge_request(planned) if charged and planned.groups else None,
        request=request,
        weights=weights,
        weights_reason=reason,
    )


def _plan(
    request: Request, layout: Layout, settings: EngineSettings, traits: Traits, stage_bytes: Sequence[int]
) -> Plan:
    return plan(
        layout,
        settings,
        traits,
        stage_bytes or None,
        num_gpu_blocks_override=request.num_gpu_blocks_override,
        pipeline_layer_partition=request.pipeline_layer_partition,
    )


def answer_vllm(request: Request, sections: Collection[str] | None = None) -> Report:
    """The report of one request under vLLM's rules.

    Args:
        request: The question.
        sections: Sections that are wanted, where not all are: the others stay empty, and so does the capacity's interval.
            A name that is not in :data:`SECTIONS` asks for the whole report.

    Raises:
        KvcoreError: The input is wrong, the mechanism unknown, or the engine refuses.
    """
    result = work_out(request)
    is_whole = sections is None or not SECTIONS.keys() >= set(sections)
    made = {name: make(result) for name, make in SECTIONS.items() if is_whole or name in (sections or ())}
    settings = result.settings
    report = Report(
        **{"inputs": {}, **made},
        kvcore_version=__version__,
        engine=Engine(name="vllm", version=settings.engine_version or settings.profile.version),
        model=result.subject.name,
    )
    if not is_whole:
        return report
    return dataclasses.replace(
        report,
        capacity=dataclasses.replace(made["capacity"], interval=_interval(result)),
        derivation=_derivation(result, made),
        warnings=_warnings(result),
        sources=_sources(result),
    )


def _derivation(result: Answer, made: Mapping[str, Any]) -> tuple[Step, ...]:
    steps = derive(result.plan, result.settings, result.charge)
    if result.charge is None:
        return steps
    names = ("layout", "plan", "request", "capacity", "budget", "tax")
    return (*steps, *sum_steps(**{name: made[name] for name in names}))


def _budget(result: Answer) -> BudgetReport:
    return budget_section(result.budget, _remedies(result))


def _tax(result: Answer) -> Tax:
    taxes = tax_by_cause(result.plan, result.charge) if result.charge is not None else {}
    return Tax(
        causes=tuple(TaxCause(name=name, bytes=amount) for name, amount in taxes.items()), bytes=sum(taxes.values())
    )


def _weights(result: Answer) -> Weights:
    return reported_weights(result.weights, result.weights_reason, result.subject, result.settings.dtype)


def _remedies(result: Answer) -> tuple[str, ...]:
    if result.subject.config is None:
        return ()

    def replan(settings: EngineSettings, stage_bytes: Sequence[int]) -> Plan:
        check_attention_heads(result.subject.num_attention_heads, settings.tensor_parallel_size)
        return _plan(result.request, result.layout, settings, result.subject.traits, stage_bytes)

    return remedies(result.request, result.subject.config, result.settings, result.budget, result.plan, replan)


def _capacity(result: Answer) -> Capacity:
    """The capacity, over all data-parallel ranks too, with the first reason why the engine does not come up."""
    found = capacity_section(result.plan, result.charge, result.budget, ranks=result.settings.data_parallel_size)
    return dataclasses.replace(found, objection=next(iter(objections(result)), None))


def objections(result: Answer) -> tuple[str, ...]:
    """Why the engine stops although its cache is planned and a request fits."""
    settings = result.settings
    at_capture = capture_objection(result.plan, settings)
    of_workers = worker_warnings(result.plan.backends, settings.block_size, settings.decode_context_parallel_size)
    return (*((at_capture,) if at_capture else ()), *of_workers)


def _interval(result: Answer) -> CapacityInterval | None:
    """The capacity at both ends of the budget's interval; None where the budget has none."""
    interval = result.budget.interval_bytes
    if interval is None or not result.plan.groups:
        return None
    centre = result.budget.kv_cache_bytes or 0
    ends = [
        fill(
            result.plan.paging,
            result.settings,
            [max(0, stage + end - centre) for stage in result.budget.stage_bytes] or None,
            result.request.num_gpu_blocks_override,
        )
        for end in interval
    ]
    return capacity_interval(*ends)


def _inputs(result: Answer) -> dict[str, Input]:
    return all_inputs(result.request, result.subject.name, {**result.settings.inputs, **result.budget.inputs})


SECTIONS: Mapping[str, Callable[[Answer], Any]] = {
    "inputs": _inputs,
    "budget": _budget,
    "layout": lambda result: layout_section(result.layout, result.plan, result.settings),
    "plan": lambda result: plan_section(result.plan, result.settings),
    "request": lambda result: request_section(result.plan, result.charge),
    "capacity": _capacity,
    "tax": _tax,
    "weights": _weights,
}
"""What fills the sections that need nothing but the stages' results."""


def _warnings(result: Answer) -> tuple[str, ...]:
    warnings = [*release_notes(result.settings.engine_version), *result.layout.notes, *result.subject.notes]
    warnings.extend(
        memory_warnings(result.request, result.settings, result.budget, result.weights, result.weights_reason)
    )
    parts = [item.part for item in result.plan.parts]
    if any(part.cache.growth != "per_token" for part in parts):
        warnings.append(
            "The logged token figure is not a pool of tokens: some parts do not grow with every token, so it holds for "
            "requests of exactly max_model_len tokens."
        )
    if any(item.stored.split == "replicated_heads" for item in result.plan.parts):
        warnings.append("Tensor parallelism exceeds the KV heads: heads are stored on several GPUs.")
    if any(item.stored.split == "whole" for item in result.plan.parts) and result.settings.tensor_parallel_size > 1:
        warnings.append("The latent cache is stored whole on every GPU: tensor parallelism does not divide it.")
    return (*warnings, *objections(result), *draft_warnings(result.settings))


def _sources(result: Answer) -> tuple[Source, ...]:
    engine = Source(
        id="engine",
        kind="pinned",
        ref=f"vLLM {result.settings.profile.version}, its planning code in v1/core and v1/kv_cache_interface.py",
        checked="",
    )
    return (engine, *result.subject.sources)
