"""Lines: one request by part, and requests at once, against context.

Every line has its own dash and its name at its end.
"""

from collections.abc import Mapping, Sequence

from kvcore.arithmetic import MIB
from kvcore.report.charts.plot import Line, plot
from kvcore.report.document import Chart, Column, Row, Table, Text
from kvcore.report.figures import UNKNOWN, byte_count, count, times
from kvcore.report.report import Report
from kvcore.report.sections.wording import engine_name, tones_by_name, value_of

Served = Sequence[tuple[int, float | None]]

_ACROSS = "tokens of context (k = 1,024)"


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
    return Chart(title, plot(lines, _ACROSS, "MiB per GPU"), _bytes_table(title, answered, names), "one-request")


def concurrency(series: Mapping[str, Sequence[Report]]) -> Chart | None:
    """Returns requests at once against context, one line per deployment; ``None`` where nothing was answered.

    Args:
        series: Answers at growing ``max_model_len`` by the deployment's name, as "tp 8 · 40 GiB".
    """
    engine = next((engine_name(report) for reports in series.values() for report in reports if report.engine), "")
    served = {name: [(_length(report), _logged(report)) for report in reports] for name, reports in series.items()}
    return concurrency_on(served, engine)


def concurrency_on(series: Mapping[str, Served], engine: str, condition: str = "") -> Chart | None:
    """Returns the same from figures alone.

    Deployments with the same figures at every length share a line, and its name says so.

    Args:
        series: For each deployment's name, (context, requests at once; None where it does not fit), the shortest first.
        engine: Engine with its version.
        condition: What else holds for all of them; ends the title.
    """
    found = {name: tuple((length, value) for length, value in served if value) for name, served in series.items()}
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
    title = f"Requests at once against context, as {engine} logs them{condition}"
    return Chart(title, plot(lines, _ACROSS, "requests at once"), _concurrency_table(title, series), "concurrency")


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


def _logged(report: Report) -> float | None:
    return report.capacity.concurrency.engine_log if report.capacity and report.capacity.fits else None


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


def _concurrency_table(title: str, series: Mapping[str, Served]) -> Table:
    lengths = sorted({length for served in series.values() for length, _ in served})
    columns = (Column("Deployment"), *(Column(f"{length:,}", "right", "tokens") for length in lengths))
    rows = []
    for name, served in series.items():
        found = {length: _requests(value) for length, value in served}
        rows.append(Row(((name,), *(found.get(length, (UNKNOWN,)) for length in lengths))))
    return Table(title, columns, tuple(rows))


def _requests(value: float | None) -> Text:
    return ("does not fit",) if value is None else (times("capacity.concurrency.engine_log", value),)
