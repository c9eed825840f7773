"""The longest context at which a deployment holds so many requests."""

from typing import Any

from kvcore.questions.forward import COUNTED, Basis, Fields, ask, ask_or_refused, check, largest, serves
from kvcore.questions.solution import Solution


def longest_context(fields: Fields, requests: int, basis: Basis = "engine_log") -> Solution:
    """Finds the longest ``max_model_len`` at which ``requests`` requests of that length are held at once.

    Args:
        fields: The deployment; its own ``max_model_len`` is not used.
        requests: Requests to serve at once.
        basis: Which concurrency counts.

    Returns:
        The length in tokens, at most the model's own limit.

    Raises:
        InputError: The deployment itself cannot be answered.
    """
    limit = _limit(fields)

    def holds(length: int) -> bool:
        return serves(ask_or_refused(fields, COUNTED, max_model_len=length), requests, basis)

    length = largest(1, limit, holds)
    wish = f"the longest context for {requests:,} requests at once"
    if length is None:
        nothing = check("1 token", ask_or_refused(fields, COUNTED, max_model_len=1), requests, basis)
        note = "Not even requests of one token fit that often: raise the budget or lower the number of requests."
        return _solution(wish, None, fields, (nothing,), note)
    checks = [check(f"{length:,} tokens", ask_or_refused(fields, COUNTED, max_model_len=length), requests, basis)]
    if length < limit:
        beyond = ask_or_refused(fields, COUNTED, max_model_len=length + 1)
        checks.append(check(f"{length + 1:,} tokens", beyond, requests, basis))
    note = "the model's own limit" if length == limit else ""
    return _solution(wish, length, {**fields, "max_model_len": length}, tuple(checks), note)


def _limit(fields: Fields) -> int:
    report = ask(fields, ("inputs",), max_model_len=None if "layout" not in fields else fields.get("max_model_len"))
    value: Any = report.inputs["max_model_len"].value
    return int(value)


def _solution(wish: str, value: int | None, request: Fields, checks: Any, note: str) -> Solution:
    return Solution(
        question="longest-context",
        wish=wish,
        field="max_model_len",
        value=value,
        unit="tokens",
        request=dict(request),
        report=ask_or_refused(request) if value is not None else None,
        checks=checks,
        note=note,
    )
