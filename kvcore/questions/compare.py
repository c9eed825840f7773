"""Side by side: up to four deployments, what differs in the question and what differs in the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kvcore.answer import answer
from kvcore.errors import input_error
from kvcore.permalink.link import figure_at
from kvcore.questions.cells import csv_cell
from kvcore.questions.names import SAME, Fields
from kvcore.report.json import to_json
from kvcore.report.report import Report

MOST_DEPLOYMENTS = 4

FIGURES: tuple[tuple[str, str, str], ...] = (
    ("capacity.concurrency.engine_log", "requests at once, as logged", "requests"),
    ("capacity.concurrency.held", "requests at once, held", "requests"),
    ("capacity.tokens.engine_log", "tokens, as logged", "tokens"),
    ("capacity.num_gpu_blocks", "cache blocks", "blocks"),
    ("budget.kv_cache_bytes", "cache per GPU", "bytes"),
    ("layout.bytes_per_token", "bytes per token and GPU", "bytes"),
    ("layout.bytes_per_request", "state per request and GPU", "bytes"),
    ("request.bytes_estimate", "one request in the estimate", "bytes"),
    ("request.max_model_len", "context", "tokens"),
    ("plan.block_size", "block size", "tokens"),
    ("weights.bytes_per_gpu", "weights per GPU", "bytes"),
)
"""Figures that are compared: report path, label and unit."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One input or figure over all deployments; ``differs`` marks rows worth reading."""

    path: str
    label: str
    unit: str
    values: tuple[Any, ...]

    @property
    def differs(self) -> bool:
        """Whether the deployments disagree."""
        return any(value != self.values[0] for value in self.values)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Deployments side by side: their reports, the inputs that differ and the figures."""

    reports: tuple[Report, ...]
    inputs: tuple[Row, ...]
    figures: tuple[Row, ...]


def compare(requests: Sequence[Fields]) -> Comparison:
    """Answers up to four requests and lines them up.

    A request that cannot be answered keeps its place: its report carries the errors and its figures are None.

    Raises:
        InputError: There are none, or more than four.
    """
    if not 1 <= len(requests) <= MOST_DEPLOYMENTS:
        rule = f"1 to {MOST_DEPLOYMENTS} deployments are compared"
        raise input_error("requests", len(requests), rule, "Leave some out.")
    reports = tuple(answer(fields) for fields in requests)
    names = dict.fromkeys(("model", "engine", *(_common(name) for report in reports for name in report.inputs)))
    inputs = (
        Row(path=f"inputs.{name}", label=_label(reports, name), unit="", values=_inputs(reports, name))
        for name in names
    )
    return Comparison(
        reports=reports,
        inputs=tuple(row for row in inputs if row.differs),
        figures=tuple(
            Row(path=path, label=label, unit=unit, values=tuple(figure_at(report, path) for report in reports))
            for path, label, unit in FIGURES
        ),
    )


def _common(name: str) -> str:
    """The name under which an input of either engine is lined up."""
    return next((ours for ours, theirs in SAME.items() if theirs == name), name)


def _label(reports: Sequence[Report], name: str) -> str:
    """The input's name; both names where the engines call it differently and both are there."""
    given = {engine_name(report) for report in reports}
    return f"{name}, {SAME[name]}" if name in SAME and len(given) > 1 else name


def engine_name(report: Report) -> str:
    """The engine a report was asked of, also where it refused."""
    asked = report.inputs.get("engine")
    return report.engine.name if report.engine else str(asked.value) if asked else "vllm"


def _inputs(reports: Sequence[Report], name: str) -> tuple[Any, ...]:
    return tuple(_input(report, name) for report in reports)


def _input(report: Report, name: str) -> Any:
    if name == "engine":
        return engine_name(report)
    if name == "model" and report.model is not None:
        return report.model
    found = report.inputs.get(name) or report.inputs.get(SAME.get(name, ""))
    return found.value if found else None


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain JSON values."""
    rows = {
        name: [{**to_json(row), "differs": row.differs} for row in getattr(comparison, name)]
        for name in ("inputs", "figures")
    }
    return {**rows, "reports": [to_json(report) for report in comparison.reports]}


def comparison_csv(comparison: Comparison) -> str:
    """A comparison as comma-separated values: one row per input that differs and per figure, one column per deployment."""
    numbers = [f"deployment_{number}" for number in range(1, len(comparison.reports) + 1)]
    lines = [",".join(("path", "unit", *numbers, "differs"))]
    lines += [
        ",".join(csv_cell(value) for value in (row.path, row.unit, *row.values, row.differs))
        for row in (*comparison.inputs, *comparison.figures)
    ]
    return "\n".join(lines) + "\n"
