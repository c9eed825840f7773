"""The smallest budget that holds so many requests of a length, in bytes or as a share of the GPU's memory."""

from dataclasses import replace

from kvcore.errors import input_error
from kvcore.questions.forward import COUNTED, Basis, Predicate, ask, ask_or_refused, check, no_figure, serves, smallest
from kvcore.questions.names import SGLANG, Fields, names_of, with_changes
from kvcore.questions.solution import Solution
from kvcore.report.report import Report

_BUDGET_FIELDS = ("kv_cache_memory_bytes", "available_kv_cache_gib", "num_gpu_blocks_override")
_UTILIZATION_STEPS = 1000
"""Utilization is looked for in thousandths: finer than anyone sets it."""

_SLOT_STEPS = 16
"""SGLang's states come in whole slots, so a larger share may leave fewer tokens. A slot is worth no more thousandths."""


def smallest_budget(fields: Fields, requests: int, basis: Basis = "engine_log") -> Solution:
    """Finds the smallest ``kv_cache_memory_bytes`` per GPU that holds ``requests`` requests of the deployment's length.

    Args:
        fields: The deployment; its own budget is not used.
        requests: Requests to serve at once.
        basis: Which concurrency counts.

    Raises:
        InputError: The deployment itself cannot be answered, or its engine has no flag that states the cache in bytes.
    """
    if not names_of(fields).cache_bytes:
        rule = "SGLang has no flag that states the cache in bytes"
        raise input_error("question", "smallest-budget", rule, "Ask for the smallest share of the GPU's memory.")
    bare = {name: value for name, value in fields.items() if name not in _BUDGET_FIELDS}
    report = ask(bare, ("plan", "request"), kv_cache_memory_bytes=1)
    wish = f"the smallest cache per GPU for {requests:,} requests at once"
    plan, request = report.plan, report.request
    if plan is None or request is None or not plan.groups:
        return _solution("smallest-budget", wish, bare, None, (), "This model keeps no cache: no budget is needed.")
    block = max(plan.stage_page_size_bytes or (plan.page_size_bytes,))
    blocks_of_one = sum(group.blocks_per_request for group in plan.groups)
    # One request more and two blocks cover the null block and every rounding of the engine's figures.
    enough = (requests + 1) * (blocks_of_one + 2)

    def holds(blocks: int) -> bool:
        return serves(ask_or_refused(bare, COUNTED, kv_cache_memory_bytes=blocks * block), requests, basis)

    blocks = smallest(1, enough, holds)
    if blocks is None:
        note = "The engine refuses these settings at every budget."
        return _solution("smallest-budget", wish, bare, None, (), note)
    budget = blocks * block
    checks = (
        check(f"{budget:,} bytes", ask_or_refused(bare, COUNTED, kv_cache_memory_bytes=budget), requests, basis),
        check(
            f"{budget - 1:,} bytes", ask_or_refused(bare, COUNTED, kv_cache_memory_bytes=budget - 1), requests, basis
        ),
    )
    return _solution("smallest-budget", wish, {**bare, "kv_cache_memory_bytes": budget}, budget, checks, "")


def smallest_utilization(fields: Fields, requests: int, basis: Basis = "engine_log") -> Solution:
    """Finds the smallest share of the GPU's memory, in thousandths, at which the estimated budget holds the requests.

    The share is ``gpu_memory_utilization``, SGLang's ``mem_fraction_static``.

    Raises:
        InputError: The deployment itself cannot be answered.
    """
    names = names_of(fields)
    bare = {name: value for name, value in fields.items() if name not in _BUDGET_FIELDS}
    whole = ask(bare, COUNTED, **{names.share: 1.0})
    words = names.share if names is SGLANG else "utilization"
    what = names.share if names is SGLANG else "GPU memory utilization"
    wish = f"the smallest {what} for {requests:,} requests at once"

    def asked(step: int) -> Report | None:
        return ask_or_refused(bare, COUNTED, **{names.share: step / _UTILIZATION_STEPS})

    def holds(step: int) -> bool:
        return serves(asked(step), requests, basis)

    step = smallest(1, _UTILIZATION_STEPS, holds)
    if step is None:
        note = "Not even the whole GPU is enough by the estimate: use more GPUs, or a shorter context."
        proof = (check(f"{words} 1", whole, requests, basis),)
        return _solution("utilization", wish, bare, None, proof, no_figure(whole) or note)
    if names is SGLANG:
        step = _without_slots_in_the_way(step, holds)
    at = step / _UTILIZATION_STEPS
    steps = (step, step - 1) if step > 1 else (step,)
    checks = tuple(check(f"{words} {one / _UTILIZATION_STEPS}", asked(one), requests, basis) for one in steps)
    solution = _solution("utilization", wish, with_changes(bare, {names.share: at}), at, checks, "")
    return replace(solution, note=_estimated(solution.report))


def _without_slots_in_the_way(step: int, holds: Predicate) -> int:
    """The smallest share that serves, also where one between it and the share found does not."""
    while lower := next((item for item in range(max(1, step - _SLOT_STEPS), step) if holds(item)), 0):
        step = lower
    return step


def _estimated(report: Report | None) -> str:
    """What to know about a share: how sure the budget is that it gives."""
    if report is None or report.budget is None or report.budget.interval_bytes is None:
        return ""
    return "By the estimated budget: its interval stands in the report."


def _solution(question: str, wish: str, request: Fields, value: float | None, checks: object, note: str) -> Solution:
    is_share = question == "utilization"
    names = names_of(request)
    return Solution(
        question=question,
        wish=wish,
        field=names.share if is_share else names.cache_bytes,
        value=value,
        unit="" if is_share else "bytes",
        request=dict(request),
        report=ask_or_refused(request) if value is not None else None,
        checks=checks if isinstance(checks, tuple) else (),
        note=note,
    )
