"""Explain: each recognised line in plain words, once per kind, with the figures it printed."""

from dataclasses import dataclass

from kvcore.reconcile.readings import READINGS, Reading
from kvcore.reconcile.record import LogFigure, LogRecord

MOST_SHOWN = 4
"""Figures shown of one kind; workers repeat each other."""


@dataclass(frozen=True, kw_only=True)
class Explained:
    """One kind of line.

    Attributes:
        kind: Its key.
        reading: What it means.
        lines: Where it stood, first lines first.
        figures: What it printed, without repetitions.
        count: How often it was seen.
    """

    kind: str
    reading: Reading
    lines: tuple[int, ...]
    figures: tuple[LogFigure, ...]
    count: int


def explain(record: LogRecord) -> tuple[Explained, ...]:
    """Every kind of line of a log, in the order they first stand."""
    explained = []
    for kind in dict.fromkeys(seen.kind for seen in record.seen):
        lines = tuple(dict.fromkeys(seen.line for seen in record.seen if seen.kind == kind))
        of_kind = set(lines)
        by_print: dict[tuple[str, str], LogFigure] = {}
        for figure in record.figures:
            if figure.line in of_kind:
                by_print.setdefault((figure.name, figure.printed), figure)
        explained.append(
            Explained(
                kind=kind,
                reading=READINGS[kind],
                lines=lines[:MOST_SHOWN],
                figures=tuple(by_print.values())[: 2 * MOST_SHOWN],
                count=len(lines),
            )
        )
    return tuple(explained)
