"""The longest context at which a deployment holds so many requests."""

from typing import Any

from kvcore.questions.forward import COUNTED, Basis, ask, ask_or_refused, check, largest, no_figure, serves
from kvcore.questions.names import Fields, names_of, with_changes
from kvcore.questions.solution import Solution
from kvcore.report.report import Report


def longest_context(fields: Fields, requests: int, basis: Basis = "engine_log") -> Solution:
    """Finds the longest ``max_model_len`` (SGLang: ``context_length``) at which so many requests of it are held at once.

    Args:
        fields: The deployment; its own context length is not used.
        requests: Requests to serve at once.
        basis: Which concurrency counts.

    Returns:
        The length in tokens, at most the model's own limit.

    Raises:
        InputError: The deployment itself cannot be answered.
    """
    name, limit = names_of(fields).context, _limit(fields)

    def at(length: int) -> Report | None:
        return ask_or_refused(fields, COUNTED, **{name: length})

    length = largest(1, limit, lambda length: serves(at(length), requests, basis))
    wish = f"the longest context for {requests:,} requests at once"
    if length is None:
        shortest = at(1)
        note = "Not even requests of one token fit that often: raise the budget or lower the number of requests."
        checks = (check("1 token", shortest, requests, basis),)
        return _solution(wish, name, None, fields, checks, no_figure(shortest) or note)
    found = [check(f"{length:,} tokens", at(length), requests, basis)]
    if length < limit:
        found.append(check(f"{length + 1:,} tokens", at(length + 1), requests, basis))
    note = "the model's own limit" if length == limit else ""
    return _solution(wish, name, length, with_changes(fields, {name: length}), tuple(found), note)


def _limit(fields: Fields) -> int:
    name = names_of(fields).context
    report = ask(fields, ("inputs",), **{name: None if "layout" not in fields else fields.get(name)})
    value: Any = report.inputs[name].value
    return int(value)


def _solution(wish: str, name: str, value: int | None, request: Fields, checks: Any, note: str) -> Solution:
    return Solution(
        question="longest-context",
        wish=wish,
        field=name,
        value=value,
        unit="tokens",
        request=dict(request),
        report=ask_or_refused(request) if value is not None else None,
        checks=checks,
        note=note,
    )
