"""Explain: each recognised line in plain words, once per kind, with the figures it printed."""

from dataclasses import dataclass
from fractions import Fraction

from kvcore.reconcile.readings import READINGS, Reading
from kvcore.reconcile.record import LogFigure, LogRecord

MOST_SHOWN = 4
"""Lines named of one kind; workers repeat each other."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What lines of a kind print for one figure: the least and the most, which workers and restarts may differ in."""

    ends: tuple[LogFigure, LogFigure]


@dataclass(frozen=True, kw_only=True)
class Explained:
    """One kind of line.

    Attributes:
        kind: Its key.
        reading: What it means.
        lines: Where it stood, first lines first.
        figures: What it printed, each figure once.
        count: How often it was seen.
    """

    kind: str
    reading: Reading
    lines: tuple[int, ...]
    figures: tuple[Shown, ...]
    count: int


def explain(record: LogRecord) -> tuple[Explained, ...]:
    """Every kind of line of a log, in the order they first stand."""
    explained = []
    for kind in dict.fromkeys(seen.kind for seen in record.seen):
        lines = tuple(dict.fromkeys(seen.line for seen in record.seen if seen.kind == kind))
        of_kind = set(lines)
        by_name: dict[str, list[LogFigure]] = {}
        for figure in record.figures:
            if figure.line in of_kind:
                by_name.setdefault(figure.name, []).append(figure)
        explained.append(
            Explained(
                kind=kind,
                reading=READINGS[kind],
                lines=lines[:MOST_SHOWN],
                figures=tuple(map(_shown, by_name.values())),
                count=len(lines),
            )
        )
    return tuple(explained)


def _shown(figures: list[LogFigure]) -> Shown:
    return Shown(ends=(min(figures, key=_value), max(figures, key=_value)))


def _value(figure: LogFigure) -> Fraction:
    return Fraction(figure.value)
