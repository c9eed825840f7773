"""Charts as Vega-Lite specifications, made from reports: one request by part, and requests at once, against context.

Nothing is told by colour alone: every line has its own dash and its name at its end, and every chart carries the table
that says the same. Sizes are divided for the axis only; the table keeps whole bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from types import MappingProxyType

from kvcore.arithmetic import MIB
from kvcore.report.document import Chart, Column, Figure, Row, Table, Text, Tone
from kvcore.report.figures import UNKNOWN, byte_count, count, times
from kvcore.report.report import Report
from kvcore.report.sections.wording import engine_name, tones_by_name, value_of

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "token": "#1f3f68",
        "latent": "#8d3572",
        "indexer": "#c4602a",
        "window": "#35a295",
        "state": "#dcb83e",
        "neutral": "#c8cad0",
        "ink": "#1b1e25",
        "quiet": "#5a6070",
        "line": "#dfdfd8",
    }
)
"""The site's colours in its light scheme; the site puts its own variables in their place."""

_DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (4, 4), (1, 3), (10, 4))
_WIDTH, _HEIGHT = 430, 240
_LABEL_PIXELS = 15
_FONT = "Inter, sans-serif"
_MARGIN = 1.25
"""Room above the highest and below the lowest value, as a factor on the logarithmic axis."""

_LENGTH_LABEL = "datum.value >= 1048576 ? datum.value / 1048576 + 'M' : datum.value / 1024 + 'k'"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a chart: its name, its colour kind, and (tokens of context, value) from left to right."""

    name: str
    tone: Tone | str
    points: tuple[tuple[int, float], ...]


def bytes_by_part(reports: Sequence[Report]) -> Chart | None:
    """Returns what one request costs by part as its context grows; ``None`` where fewer than two lengths were answered.

    Args:
        reports: Answers to one deployment at growing ``max_model_len``.
    """
    answered = [report for report in reports if report.request and report.request.bytes_estimate]
    if len({_length(report) for report in answered}) < 2:
        return None
    tones = tones_by_name(answered[-1])
    names = [part.name for part in answered[-1].request.parts] if answered[-1].request else []
    lines = [
        Line(name=name, tone=tones.get(name, "neutral"), points=_part_points(answered, name, MIB)) for name in names
    ]
    lines = [line for line in lines if line.points]
    if len(lines) > 1:
        total = tuple((_length(report), _estimate(report) / MIB) for report in answered)
        lines.insert(0, Line(name="all parts", tone="ink", points=total))
    size = value_of(answered[-1], "tensor_parallel_size") or 1
    title = f"One request by part as its context grows: {engine_name(answered[-1])}'s estimate per GPU, tp {size}"
    return Chart(title, _spec(lines, "MiB per GPU"), _bytes_table(title, answered, names))


def concurrency(series: Mapping[str, Sequence[Report]]) -> Chart | None:
    """Returns requests at once against context, one line per deployment; ``None`` where nothing was answered.

    Deployments with the same figures at every length share a line, and its name says so.

    Args:
        series: Answers at growing ``max_model_len`` by the deployment's name, as "tp 8 · 40 GiB".
    """
    found = {name: _concurrencies(reports) for name, reports in series.items()}
    found = {name: points for name, points in found.items() if points}
    if len({length for points in found.values() for length, _ in points}) < 2:
        return None
    names: dict[tuple[tuple[int, float], ...], list[str]] = {}
    for name, points in found.items():
        names.setdefault(points, []).append(name)
    tones = ("token", "indexer", "latent", "window", "quiet")
    lines = [
        Line(name=_joined(same), tone=tones[index % len(tones)], points=points)
        for index, (points, same) in enumerate(names.items())
    ]
    engine = engine_name(next(report for reports in series.values() for report in reports if report.engine))
    title = f"Requests at once against context, as {engine} logs them"
    return Chart(title, _spec(lines, "requests at once"), _concurrency_table(title, series))


def _joined(names: Sequence[str]) -> str:
    """Names of one line: what they begin or end with in common is said once ("tp 1, 2, 4 · 40 GiB")."""
    split = [tuple(name.split(" · ")) for name in names]
    if len({parts[-1] for parts in split}) > 1 or len(names) == 1:
        return ", ".join(names)
    first = [parts[0].split(" ") for parts in split]
    return f"{first[0][0]} {', '.join(words[-1] for words in first)} · {split[0][-1]}"


def _length(report: Report) -> int:
    return report.request.max_model_len if report.request else 0


def _estimate(report: Report) -> int:
    return report.request.bytes_estimate if report.request else 0


def _part_bytes(report: Report, name: str) -> int:
    parts = report.request.parts if report.request else ()
    return sum(part.bytes_estimate for part in parts if part.name == name)


def _part_points(reports: Sequence[Report], name: str, unit: int) -> tuple[tuple[int, float], ...]:
    sizes = ((_length(report), _part_bytes(report, name)) for report in reports)
    return tuple((length, size / unit) for length, size in sizes if size)


def _concurrencies(reports: Sequence[Report]) -> tuple[tuple[int, float], ...]:
    return tuple(
        (_length(report), report.capacity.concurrency.engine_log)
        for report in reports
        if report.capacity and report.capacity.fits and report.capacity.concurrency.engine_log
    )


def _spec(lines: Sequence[Line], unit: str) -> dict[str, object]:
    values = [{"tokens": tokens, "value": value, "line": line.name} for line in lines for tokens, value in line.points]
    names = [line.name for line in lines]
    low = min(value for line in lines for _, value in line.points) / _MARGIN
    high = max(value for line in lines for _, value in line.points) * _MARGIN
    tokens = [token for line in lines for token, _ in line.points]
    x = {
        "field": "tokens",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "domain": [min(tokens), max(tokens)], "nice": False},
        "axis": {"title": "tokens of context (k = 1,024)", "values": _token_ticks(tokens), "labelExpr": _LENGTH_LABEL},
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"title": unit, "values": _ticks(low, high), "format": ",~f"},
    }
    colour = {
        "field": "line",
        "type": "nominal",
        "scale": {"domain": names, "range": [COLOURS[line.tone] for line in lines]},
        "legend": None,
    }
    dash = {
        "field": "line",
        "type": "nominal",
        "scale": {"domain": names, "range": [list(_DASHES[index % len(_DASHES)]) for index in range(len(lines))]},
        "legend": None,
    }
    return {
        "$schema": SCHEMA,
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": values},
        "config": _config(),
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash},
            },
            {"mark": {"type": "point", "filled": True, "size": 24}, "encoding": {"x": x, "y": y, "color": colour}},
            {
                "data": {"values": _labels(lines, low, high)},
                "mark": {"type": "text", "align": "left", "dx": 9, "fontSize": 12, "color": COLOURS["ink"]},
                "encoding": {"x": x, "y": y, "text": {"field": "line"}},
            },
        ],
    }


def _config() -> dict[str, object]:
    return {
        "background": None,
        "font": _FONT,
        "view": {"stroke": None},
        "axis": {
            "domainColor": COLOURS["quiet"],
            "gridColor": COLOURS["line"],
            "labelColor": COLOURS["quiet"],
            "labelFontSize": 12,
            "tickColor": COLOURS["quiet"],
            "titleColor": COLOURS["quiet"],
            "titleFontSize": 12,
            "titleFontWeight": "normal",
        },
    }


def _labels(lines: Sequence[Line], low: float, high: float) -> list[dict[str, object]]:
    """Places each line's name at its end, pushed apart where two ends would print over each other."""
    gap = log10(high / low) * _LABEL_PIXELS / _HEIGHT
    ends = sorted((log10(line.points[-1][1]), index) for index, line in enumerate(lines))
    placed: list[float] = []
    for end, _ in ends:
        placed.append(max(end, placed[-1] + gap) if placed else end)
    over = placed[-1] - log10(high)
    if over > 0:
        placed = _pushed_down(placed, log10(high), gap)
    return [
        {"tokens": lines[index].points[-1][0], "value": 10**place, "line": lines[index].name}
        for place, (_, index) in zip(placed, ends, strict=True)
    ]


def _pushed_down(placed: Sequence[float], ceiling: float, gap: float) -> list[float]:
    lowered: list[float] = []
    for place in reversed(placed):
        ceiling = min(place, ceiling)
        lowered.append(ceiling)
        ceiling -= gap
    return lowered[::-1]


def _token_ticks(tokens: Sequence[int]) -> list[int]:
    """Powers of four times 1,024 within the axis."""
    return [1024 * 4**power for power in range(8) if min(tokens) <= 1024 * 4**power <= max(tokens)]


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten within the axis; on a short axis twice and five times each as well."""
    steps = (1, 2, 5) if high / low < 1000 else (1,)
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]


def _bytes_table(title: str, reports: Sequence[Report], names: Sequence[str]) -> Table:
    columns = (
        Column("Context", "right", "tokens"),
        *(Column(name, "right", "bytes") for name in names),
        Column("All parts", "right", "bytes"),
    )
    rows = tuple(
        Row(
            (
                (count("request.max_model_len", _length(report)),),
                *(
                    (byte_count(f"request.parts.{index}.bytes_estimate", _part_bytes(report, name)),)
                    for index, name in enumerate(names)
                ),
                (byte_count("request.bytes_estimate", _estimate(report)),),
            )
        )
        for report in reports
    )
    return Table(title, columns, rows)


def _concurrency_table(title: str, series: Mapping[str, Sequence[Report]]) -> Table:
    lengths = sorted({_length(report) for reports in series.values() for report in reports if report.request})
    columns = (Column("Deployment"), *(Column(f"{length:,}", "right", "tokens") for length in lengths))
    rows = []
    for name, reports in series.items():
        found = {_length(report): _requests(report) for report in reports}
        rows.append(Row(((name,), *(found.get(length, (UNKNOWN,)) for length in lengths))))
    return Table(title, columns, tuple(rows))


def _requests(report: Report) -> Text:
    if report.capacity is None or not report.capacity.fits:
        return ("does not fit",)
    figure: Figure = times("capacity.concurrency.engine_log", report.capacity.concurrency.engine_log)
    return (figure,)
