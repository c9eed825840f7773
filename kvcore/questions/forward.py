"""The forward question: every inverse question is answered by asking this one again and again."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

from kvcore.answer import answer
from kvcore.errors import InputError, KvcoreError, input_error
from kvcore.questions.names import Fields, with_changes
from kvcore.report.report import Report

MOST_REQUESTS = 10_000_000
"""More requests at once than this are not asked about."""

Basis = Literal["engine_log", "held"]
"""Which concurrency counts: the figure the engine logs, or the requests that can run at once."""

Predicate = Callable[[int], bool]

COUNTED = ("capacity",)
"""The section that says how many requests are held: all that a search looks at."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One forward question asked to prove an inverse answer.

    Attributes:
        what: The value asked about, in words.
        concurrency: Requests at once there; None where the engine does not start.
        enough: Whether that serves the wish.
    """

    what: str
    concurrency: float | None
    enough: bool


def ask(fields: Fields, sections: Collection[str] | None = None, **changes: Any) -> Report:
    """Asks one question, with some fields changed; a change to None leaves the field out.

    Args:
        fields: The deployment.
        sections: Sections of the report that are wanted; None: all.
        changes: Fields to set instead.

    Raises:
        InputError: The question itself cannot be answered.
    """
    report = answer(with_changes(fields, changes), sections)
    if report.errors:
        raise InputError(report.errors)
    return report


def ask_or_refused(fields: Fields, sections: Collection[str] | None = None, **changes: Any) -> Report | None:
    """Asks one question; None where the engine refuses the settings."""
    try:
        return ask(fields, sections, **changes)
    except KvcoreError:
        return None


def concurrency(report: Report, basis: Basis) -> float | None:
    """Requests at once in a report; None where nothing fits or no budget is known."""
    if report.capacity is None or not report.capacity.fits:
        return None
    figures = report.capacity.concurrency
    return figures.held if basis == "held" or figures.engine_log is None else figures.engine_log


def no_figure(report: Report | None) -> str:
    """Why nothing can be counted of a deployment that the engine takes; empty where something can, or it is refused."""
    if report is None or report.capacity is None or report.capacity.fits is not None:
        return ""
    return "No budget is known: name the GPU, or give the cache memory."


def serves(report: Report | None, requests: int, basis: Basis) -> bool:
    """Whether a report's deployment holds that many requests at once."""
    if report is None:
        return False
    found = concurrency(report, basis)
    return found is not None and found >= requests


def check(what: str, report: Report | None, requests: int, basis: Basis) -> Check:
    """Records one forward question."""
    found = None if report is None else concurrency(report, basis)
    return Check(what=what, concurrency=found, enough=serves(report, requests, basis))


def whole_number(field: str, value: object, most: int) -> int:
    """Reads a count that comes with a question.

    Raises:
        InputError: It is not a whole number from 1 to ``most``.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise input_error(field, value, f"must be a whole number from 1 to {most:,}", "Give another number.")
    return value


def largest(low: int, high: int, holds: Predicate) -> int | None:
    """The largest whole number of a range for which a predicate holds that is lost only once; None if it never holds."""
    if low > high or not holds(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def smallest(low: int, high: int, holds: Predicate) -> int | None:
    """The smallest whole number of a range for which a predicate holds that is won only once; None if it never holds."""
    if low > high or not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
