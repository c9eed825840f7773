"""Charts of the further questions, from the same answers as their tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from kvcore.questions.compare import Comparison, Row, engine_name
from kvcore.questions.labels import figure_label, shown
from kvcore.questions.sweep import Sweep
from kvcore.report.charts.bars import bars
from kvcore.report.charts.heat import Cell, heat_map
from kvcore.report.charts.memory import memory_bars
from kvcore.report.charts.plot import DASHES, Line, plot
from kvcore.report.document import Chart, Table
from kvcore.report.report import Report
from kvcore.report.sections.wording import num_gpus, value_of

Curve = Sequence[tuple[int, int | None]]

MOST_LINES = len(DASHES)
_TONES = ("token", "indexer", "latent", "window", "state", "quiet", "ink")
_MOST_BARS = 40
_LONGEST_NAME = 72
_SHORT_NAME = 30


def sweep_chart(result: Sweep, table: Table) -> Chart | None:
    """Returns the first figure over the inputs: a line or bars over one, a heat map over two; ``None`` without numbers.

    Args:
        result: The sweep.
        table: The table that says the same.
    """
    path = result.figures[0]
    what = figure_label(path)
    title = f"{what[:1].upper()}{what[1:]} against {' and '.join(list(result.axes)[::-1])}"
    spec = _heat(result, path, what) if len(result.axes) > 1 else _one_input(result, path, what)
    return None if spec is None else Chart(title, spec, table, "sweep")


def _heat(result: Sweep, path: str, what: str) -> dict[str, object] | None:
    up, across = result.axes
    rows, columns = _places(result.axes[up]), _places(result.axes[across])
    points = sorted(
        result.points, key=lambda point: (rows[shown(point.inputs[up])], columns[shown(point.inputs[across])])
    )
    cells = [
        Cell(
            column=shown(point.inputs[across]),
            row=shown(point.inputs[up]),
            value=_number(point.figures[path]),
            text=_text(point.figures[path], fits=point.fits),
        )
        for point in points
    ]
    return heat_map(cells, across, up, what)


def _places(values: Sequence[Any]) -> dict[str, int]:
    """Where each value of an axis stands: numbers by size, words as they were given."""
    are_numbers = all(_number(value) is not None for value in values)
    ordered = sorted(values) if are_numbers else values
    return {text: place for place, text in enumerate(dict.fromkeys(shown(value) for value in ordered))}


def _one_input(result: Sweep, path: str, what: str) -> dict[str, object] | None:
    (across,) = result.axes
    found = [(point.inputs[across], _number(point.figures[path]), point.fits) for point in result.points]
    if not any(value is not None for _, value, _ in found):
        return None
    numbers = sorted((float(x), y) for x, y, _ in found if _number(x) is not None and y is not None)
    if len({x for x, _ in numbers}) < 2 or any(_number(x) is None for x, _, _ in found):
        items = [(f"{across} {shown(x)}", y, _text(y, fits=fits)) for x, y, fits in found]
        named = {item[0]: item for item in items}
        return bars(list(named.values()), what) if len(named) <= _MOST_BARS else None
    return plot([Line(name="", tone="token", points=tuple(numbers))], across, what, lengths=_counts_tokens(across))


def iso_chart(curves: Mapping[str, Curve], table: Table) -> Chart | None:
    """Returns which contexts so many requests can have, one curve per deployment; ``None`` without a curve.

    Args:
        curves: For each deployment's name, (requests, longest context) as asked.
        table: The table that says the same.
    """
    points = {name: _frontier(curve) for name, curve in curves.items()}
    lines = [
        Line(name=name, tone=_TONES[index % len(_TONES)], points=found)
        for index, (name, found) in enumerate(points.items())
        if found
    ][:MOST_LINES]
    if len({x for line in lines for x, _ in line.points}) < 2:
        return None
    spec = plot(lines, "longest context, tokens (k = 1,024)", "requests at once")
    return Chart("Requests at once against the longest context they can have", spec, table, "iso")


def _frontier(curve: Curve) -> tuple[tuple[float, float], ...]:
    """Of each context the most requests that can have it: fewer have it too, at the model's own limit."""
    most: dict[int, int] = {}
    for number, length in curve:
        if length is not None:
            most[length] = max(number, most.get(length, 0))
    return tuple((float(length), float(number)) for length, number in sorted(most.items()))


def comparison_chart(comparison: Comparison, table: Table) -> Chart | None:
    """Returns requests at once of the deployments side by side; ``None`` where none has a figure.

    Args:
        comparison: The deployments.
        table: The table that says the same and more.
    """
    names = deployment_names(comparison)
    is_logged = all(engine_name(report) == "vllm" for report in comparison.reports)
    found = [_logged(report) if is_logged else _held(report) for report in comparison.reports]
    if not any(value is not None for value in found):
        return None
    fits = [report.capacity.fits if report.capacity else None for report in comparison.reports]
    items = [(name, value, _text(value, fits=fit)) for name, value, fit in zip(names, found, fits, strict=True)]
    # SGLang logs no requests at once: beside it, what is held is counted for all.
    what = "requests at once, as logged" if is_logged else "requests at once, held"
    return Chart(f"{what[:1].upper()}{what[1:]}", bars(items, what), table, "compare")


def comparison_memory(comparison: Comparison) -> Chart | None:
    """Returns where the memory goes in deployments side by side; ``None`` where no budget divides a card."""
    names = deployment_names(comparison, _SHORT_NAME)
    return memory_bars(dict(zip(names, comparison.reports, strict=True)), "compare-memory")


def deployment_names(comparison: Comparison, longest: int = _LONGEST_NAME) -> tuple[str, ...]:
    """Returns a name for each deployment: its number, and what it differs in, cut where that is long."""
    names = []
    for index, report in enumerate(comparison.reports):
        words = ", ".join(
            _difference(_input(row), row.values[index]) for row in comparison.inputs if _tells(row, index, report)
        )
        name = f"({index + 1}) {words}".rstrip()
        names.append(name if len(name) <= longest else f"{name[: longest - 1]}…")
    return tuple(names)


def _input(row: Row) -> str:
    return row.path.partition(".")[2]


def _tells(row: Row, index: int, report: Report) -> bool:
    """Whether an input tells a deployment from the others; what its engine alone has, and was not asked for, does not."""
    if row.values[index] is None:
        return _input(row) == "model"
    given = report.inputs.get(_input(row))
    others = {str(value) for value in row.values if value is not None}
    return len(others) > 1 or (given is not None and given.origin == "given")


def _difference(name: str, value: Any) -> str:
    if name in {"model", "engine"}:
        return "config" if value is None else str(value)
    return f"{name} {shown(value)}"


def memory_of(report: Report) -> Chart | None:
    """Returns where the memory of one deployment goes; ``None`` where its budget divides no card."""
    return memory_bars({_cards(report): report})


def _cards(report: Report) -> str:
    gpu = value_of(report, "gpu")
    return f"{num_gpus(report)} × {gpu if isinstance(gpu, str) and gpu else 'the GPU'}"


def _held(report: Report) -> float | None:
    return report.capacity.concurrency.held if report.capacity and report.capacity.fits else None


def _logged(report: Report) -> float | None:
    return report.capacity.concurrency.engine_log if report.capacity and report.capacity.fits else None


def _counts_tokens(name: str) -> bool:
    return "model_len" in name or "tokens" in name


def _number(value: Any) -> float | None:
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


def _text(value: Any, *, fits: bool | None) -> str:
    if _number(value) is None:
        return "no fit" if fits is False else "none"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
