"""The smallest budget that holds so many requests of a length, in bytes or as a share of the GPU's memory."""

from kvcore.questions.forward import COUNTED, Basis, Fields, ask, ask_or_refused, check, serves, smallest
from kvcore.questions.solution import Solution

_BUDGET_FIELDS = ("kv_cache_memory_bytes", "available_kv_cache_gib", "num_gpu_blocks_override")
_UTILIZATION_STEPS = 1000
"""Utilization is looked for in thousandths: finer than anyone sets it."""


def smallest_budget(fields: Fields, requests: int, basis: Basis = "engine_log") -> Solution:
    """Finds the smallest ``kv_cache_memory_bytes`` per GPU that holds ``requests`` requests of the deployment's length.

    Args:
        fields: The deployment; its own budget is not used.
        requests: Requests to serve at once.
        basis: Which concurrency counts.

    Raises:
        InputError: The deployment itself cannot be answered.
    """
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
    """Finds the smallest ``gpu_memory_utilization``, in thousandths, at which the estimated budget holds the requests.

    Raises:
        InputError: The deployment itself cannot be answered.
    """
    bare = {name: value for name, value in fields.items() if name not in _BUDGET_FIELDS}
    ask(bare, COUNTED, gpu_memory_utilization=1.0)
    wish = f"the smallest GPU memory utilization for {requests:,} requests at once"

    def at(step: int) -> float:
        return step / _UTILIZATION_STEPS

    def holds(step: int) -> bool:
        return serves(ask_or_refused(bare, COUNTED, gpu_memory_utilization=at(step)), requests, basis)

    step = smallest(1, _UTILIZATION_STEPS, holds)
    if step is None:
        whole = check("utilization 1", ask_or_refused(bare, COUNTED, gpu_memory_utilization=1.0), requests, basis)
        note = "Not even the whole GPU is enough by the estimate: use more GPUs, or a shorter context."
        return _solution("utilization", wish, bare, None, (whole,), note)
    checks = [
        check(
            f"utilization {at(step)}", ask_or_refused(bare, COUNTED, gpu_memory_utilization=at(step)), requests, basis
        )
    ]
    if step > 1:
        below = ask_or_refused(bare, COUNTED, gpu_memory_utilization=at(step - 1))
        checks.append(check(f"utilization {at(step - 1)}", below, requests, basis))
    note = "By the estimated budget: its interval stands in the report."
    solved = {**bare, "gpu_memory_utilization": at(step)}
    return _solution("utilization", wish, solved, at(step), tuple(checks), note)


def _solution(question: str, wish: str, request: Fields, value: float | None, checks: object, note: str) -> Solution:
    is_share = question == "utilization"
    return Solution(
        question=question,
        wish=wish,
        field="gpu_memory_utilization" if is_share else "kv_cache_memory_bytes",
        value=value,
        unit="" if is_share else "bytes",
        request=dict(request),
        report=ask_or_refused(request) if value is not None else None,
        checks=checks if isinstance(checks, tuple) else (),
        note=note,
    )
