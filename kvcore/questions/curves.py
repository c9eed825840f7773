"""Curves of equal load: which context so many requests can have, for one deployment or for several."""

from collections.abc import Mapping, Sequence
from typing import Any

from kvcore.errors import input_error
from kvcore.questions.cells import csv_cell
from kvcore.questions.forward import Basis
from kvcore.questions.labels import shown
from kvcore.questions.names import Fields, names_of
from kvcore.questions.sweep import iso_concurrency
from kvcore.request_fields import REQUEST_FIELDS

MOST_CURVES = 7
_NAMES = frozenset(field.name for field in REQUEST_FIELDS)

Curves = Mapping[str, tuple[tuple[int, int | None], ...]]


def iso_curves(
    fields: Fields, requests: Sequence[int], over: str = "", values: Sequence[Any] = (), basis: Basis = "engine_log"
) -> Curves:
    """Returns for each value of an input the longest context of each number of requests; one curve without an input.

    Args:
        fields: The deployment.
        requests: Numbers of requests at once.
        over: A request field that tells the curves apart; empty for one curve.
        values: Its values.
        basis: Which concurrency counts.

    Raises:
        InputError: The input is no request field or is the context itself, a deployment cannot be answered, or there are too
            many curves or numbers.
    """
    if not over:
        return {"": iso_concurrency(fields, requests, basis)}
    if over not in _NAMES or over == names_of(fields).context:
        rule = "curves are drawn for another request field than the context"
        raise input_error("over", over, rule, "Choose one such as tensor_parallel_size.")
    if not 1 <= len(values) <= MOST_CURVES:
        raise input_error("over_values", len(values), f"1 to {MOST_CURVES} curves are drawn", "Give as many values.")
    return {f"{over} {shown(value)}": iso_concurrency({**fields, over: value}, requests, basis) for value in values}


def curves_csv(curves: Curves) -> str:
    """Returns the curves as comma-separated values, one column of contexts per curve."""
    names = [f"max_model_len {name}".rstrip().replace(" ", "_") for name in curves]
    lines = [
        ",".join(("requests", *(name if name.isascii() and name.isidentifier() else csv_cell(name) for name in names)))
    ]
    rows = zip(*curves.values(), strict=True)
    lines += [",".join(csv_cell(cell) for cell in (row[0][0], *(length for _, length in row))) for row in rows]
    return "\n".join(lines) + "\n"
