"""Weights and budgets beside what posted logs printed: two tables for the accuracy page."""

import statistics
from collections.abc import Sequence

from kvcore.arithmetic import GIB
from kvcore.budget.fitted import FIT
from kvcore.report.document import Column, Figure, Link, Row, Table, Text
from site_plugins.accuracy.memory import Comparison, budget_table, weights_table


def weights_summary(rows: Sequence[Comparison]) -> str:
    """How far weights computed from the config lie from "Model loading took", in one sentence."""
    errors = sorted(abs(row.error) for row in rows)
    ninetieth = statistics.quantiles(errors, n=10, method="inclusive")[-1]
    return (
        f"{len(rows)} logs print what loading the model took. The median difference is "
        f"{_percent(statistics.median(errors))}, nine in ten lie within {_percent(ninetieth)}."
    )


def budget_summary(rows: Sequence[Comparison]) -> str:
    """How often the stated interval holds the logged budget, each log judged by all others, in one sentence."""
    held = sum(row.contained for row in rows)
    median = statistics.median(abs(row.computed - row.logged) for row in rows)
    low, high = (end / GIB for end in FIT.interval)
    return (
        f"{len(rows)} logs print the memory left for the cache, the card and its share. The interval of all other logs "
        f"holds {held} of them ({_percent(held / len(rows), 1)}); the median difference is {median:.2f} GiB. The interval stated "
        f"on pages is {low:+.2f} to {high:+.2f} GiB around the estimate."
    )


def weights_rows() -> Table:
    """Weights computed from the config beside "Model loading took", worst first."""
    rows = tuple(
        Row(
            (
                _log(row),
                (row.case.model,),
                _gib("logged", row.logged),
                _gib("computed", row.computed),
                (f"{'+' if row.error > 0 else ''}{_percent(row.error)}",),
                (row.case.reason,),
            )
        )
        for row in reversed(weights_table())
    )
    columns = (
        Column("Log"),
        Column("Model"),
        Column("Logged", "right", "GiB"),
        Column("Computed", "right", "GiB"),
        Column("Difference", "right"),
        Column("Reason"),
    )
    return Table("Model loading took, beside weights computed from the config", columns, rows, id="weights-beside")


def budget_rows() -> Table:
    """Estimated budgets beside "Available KV cache memory", worst first."""
    rows = tuple(
        Row(
            (
                _log(row),
                (row.case.model,),
                _gib("logged", row.logged),
                _gib("estimated", row.computed),
                (_interval(row),),
                ("inside" if row.contained else "outside",),
                (row.case.reason,),
            )
        )
        for row in reversed(budget_table())
    )
    columns = (
        Column("Log"),
        Column("Model"),
        Column("Logged", "right", "GiB"),
        Column("Estimated", "right", "GiB"),
        Column("Interval of the other logs", "right", "GiB"),
        Column("Logged figure"),
        Column("Reason"),
    )
    return Table("Available KV cache memory, beside the estimate", columns, rows, id="budgets-beside")


def _log(row: Comparison) -> Text:
    case = row.case
    return (Link(case.id, case.url),) if case.url.startswith("https://") else (case.id,)


def _gib(path: str, value: float) -> Text:
    return (Figure(f"accuracy.{path}", value, f"{value:,.2f}", "GiB"),)


def _percent(share: float, digits: int = 2) -> str:
    return f"{100 * share:.{digits}f}\u00a0%"


def _interval(row: Comparison) -> str:
    if row.interval is None:
        return ""
    low, high = row.interval
    return f"{low:,.2f} – {high:,.2f}"
