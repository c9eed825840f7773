"""Sweeps: one or two inputs over lists of values, and the curves of equal load."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kvcore.answer import answer
from kvcore.errors import input_error
from kvcore.permalink.link import figure_at
from kvcore.questions.cells import csv_cell
from kvcore.questions.forward import MOST_REQUESTS, Basis, whole_number
from kvcore.questions.length import longest_context
from kvcore.questions.names import Fields
from kvcore.request_fields import REQUEST_FIELDS

MOST_POINTS = 4096
MOST_AXES = 2
DEFAULT_FIGURES = ("capacity.concurrency.engine_log", "capacity.concurrency.held", "capacity.tokens.engine_log")

_ONLY_WHOLE = "capacity.interval"
"""What only whole reports have of the sections asked for."""

_NAMES = frozenset(field.name for field in REQUEST_FIELDS)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One point of a sweep: the inputs set, the figures found, and the first error where there is one."""

    inputs: Mapping[str, Any]
    figures: Mapping[str, Any]
    fits: bool | None
    error: str


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A sweep: its axes and its points, the last axis varying fastest."""

    axes: Mapping[str, tuple[Any, ...]]
    figures: tuple[str, ...]
    points: tuple[Point, ...]


def sweep(fields: Fields, axes: Mapping[str, Sequence[Any]], figures: Sequence[str] = DEFAULT_FIGURES) -> Sweep:
    """Answers the request at every combination of the axes' values.

    Args:
        fields: The deployment.
        axes: One or two request fields with the values to set.
        figures: Report paths to record.

    Raises:
        InputError: An axis is not a request field, is empty, or there are too many points.
    """
    if not 1 <= len(axes) <= MOST_AXES:
        raise input_error("axes", list(axes), "one or two inputs are swept", "Name one or two request fields.")
    for name, values in axes.items():
        if name not in _NAMES:
            raise input_error("axes", name, "there is no request field of this name", "See `kvcore report --help`.")
        if not isinstance(values, list | tuple) or not values:
            raise input_error(f"axes.{name}", values, "a list of values is expected", "Give at least one value.")
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > MOST_POINTS:
        raise input_error(
            "axes", f"{count:,} points", f"at most {MOST_POINTS:,} points are swept", "Give fewer values."
        )
    sections = None
    if not any(path.startswith(_ONLY_WHOLE) for path in figures):
        sections = {"capacity", *(path.partition(".")[0] for path in figures)}
    points = (
        _point(fields, dict(zip(axes, combination, strict=True)), figures, sections)
        for combination in itertools.product(*axes.values())
    )
    return Sweep(
        axes={name: tuple(values) for name, values in axes.items()}, figures=tuple(figures), points=tuple(points)
    )


def _point(
    fields: Fields, inputs: Mapping[str, Any], figures: Sequence[str], sections: Collection[str] | None
) -> Point:
    report = answer({**fields, **inputs}, sections)
    return Point(
        inputs=inputs,
        figures={path: figure_at(report, path) for path in figures},
        fits=None if report.capacity is None else report.capacity.fits,
        error=report.errors[0].message if report.errors else "",
    )


def iso_concurrency(
    fields: Fields, requests: Sequence[int], basis: Basis = "engine_log"
) -> tuple[tuple[int, int | None], ...]:
    """For each number of requests, the longest context that holds them: the curve of users against context.

    Raises:
        InputError: The deployment cannot be answered, or more than 64 numbers are given.
    """
    most = 64
    if len(requests) > most:
        raise input_error("requests", len(requests), f"at most {most} numbers of requests", "Give fewer.")
    curve = []
    for number in (whole_number("requests", item, MOST_REQUESTS) for item in requests):
        value = longest_context(fields, number, basis).value
        curve.append((number, None if value is None else int(value)))
    return tuple(curve)


def to_csv(result: Sweep) -> str:
    """The sweep as comma-separated values with a header line; text cells are quoted."""
    names = [*result.axes, *result.figures, "fits", "error"]
    lines = [",".join(names)]
    for point in result.points:
        cells = [*point.inputs.values(), *point.figures.values(), point.fits, point.error]
        lines.append(",".join(csv_cell(cell) for cell in cells))
    return "\n".join(lines) + "\n"
