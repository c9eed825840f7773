"""Then and now: what a link said, what is true today, and which change made the difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kvcore import __version__
from kvcore.permalink.link import Link, figure_at
from kvcore.report.report import Report


@dataclass(frozen=True, kw_only=True)
class RuleChange:
    """A change of kvcore that moves figures: release, what changed, and which models or settings it touches."""

    version: str
    what: str


RULE_CHANGES: tuple[RuleChange, ...] = ()
"""Changes since the first release, oldest first. A release that moves a figure adds its row here."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One figure of a link that is no longer what is computed."""

    path: str
    then: float | int
    now: float | int | None


@dataclass(frozen=True, kw_only=True)
class ThenAndNow:
    """How an old link stands today.

    Attributes:
        unchanged: Whether every figure the link carries is still what is computed.
        differences: The figures that are not.
        reasons: Changes of kvcore between the link's version and this one, or why none can be named.
    """

    unchanged: bool
    differences: tuple[Difference, ...]
    reasons: tuple[str, ...]


def then_and_now(link: Link, report: Report) -> ThenAndNow:
    """Compares a link's figures with today's answer to its question."""
    differences = tuple(
        Difference(path=path, then=then, now=figure_at(report, path))
        for path, then in link.said.items()
        if figure_at(report, path) != then
    )
    return ThenAndNow(
        unchanged=not differences,
        differences=differences,
        reasons=_reasons(link.kvcore_version, RULE_CHANGES) if differences else (),
    )


def _reasons(then: str, changes: Sequence[RuleChange]) -> tuple[str, ...]:
    if then == __version__:
        return ("The link was written by this version: its figures or its question were edited by hand.",)
    since = [change for change in changes if _order(change.version) > _order(then)]
    if since:
        return tuple(f"kvcore {change.version}: {change.what}" for change in since)
    return (f"kvcore {then or '(unknown)'} wrote the link, {__version__} answers; no change of rules is on record.",)


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def as_json(result: ThenAndNow) -> Mapping[str, Any]:
    """The comparison as plain JSON values."""
    return {
        "unchanged": result.unchanged,
        "differences": [{"path": item.path, "then": item.then, "now": item.now} for item in result.differences],
        "reasons": list(result.reasons),
    }
