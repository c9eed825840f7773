"""Predicted beside logged: every figure of a log next to what kvcore computes under the log's own budget.

A log prints its budget in GiB with two decimals. The figures of the two ends of that range must enclose what the log
prints; the figures of the printed number itself are shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

from kvcore.answer import answer
from kvcore.arithmetic import GIB
from kvcore.errors import FieldError
from kvcore.reconcile.budget_line import logged_budget, logged_pool
from kvcore.reconcile.computed import Computed, of_report, quickly
from kvcore.reconcile.free_memory import AFTER, BEFORE, least_after, least_before
from kvcore.reconcile.record import LogFigure, LogRecord
from kvcore.report.report import Report

BUDGET_FIELDS = frozenset({"available_kv_cache_gib", "kv_cache_memory_bytes"})
COMPARED = (
    ("gpu_kv_cache_tokens", "GPU KV cache size", "tokens"),
    ("max_total_num_tokens", "max_total_num_tokens", "tokens"),
    ("max_concurrency", "Maximum concurrency", "requests"),
    ("num_gpu_blocks", "Blocks of the pool", "blocks"),
    ("attention_block_size", "Attention block size", "tokens"),
)
"""Figures that must be equal: name in the log, label, unit."""


WEIGHTS = ("model_loading_gib", "weights_gib")
"""Figures that are the weights of one GPU, the better one first."""

NEAR_ENOUGH = {"max_total_num_tokens": 1, "pool_tokens": 1}
"""Percent within which a figure agrees although its budget is known: SGLang reads free memory again after printing it."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure of the log beside the computed one.

    Attributes:
        name: Name of the figure in the log, and ``label`` for a reader.
        label: What it is.
        unit: Unit of every number of the row.
        logged: As printed.
        predicted: Computed under the printed budget; None where it cannot be computed.
        low: Computed under the least budget that prints as these digits, and ``high`` under the largest.
        high: See ``low``.
        gap: Logged minus predicted.
        percent: The gap in percent of the predicted figure; None where that is zero.
        matches: Whether the ends enclose what is logged; None for estimates, which are only compared.
        line: Line of the log.
    """

    name: str
    label: str
    unit: str
    logged: float
    predicted: float | None
    low: float | None
    high: float | None
    gap: float | None
    percent: float | None
    matches: bool | None
    line: int


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What kvcore computes for a log, and the rows beside it.

    Attributes:
        report: The report under the printed budget; None for a candidate that was only planned.
        rows: The figures that must be equal, then those that are only compared.
        errors: Why nothing was computed; empty where something was.
    """

    report: Report | None
    rows: tuple[Row, ...]
    errors: tuple[FieldError, ...] = ()

    @property
    def checked(self) -> tuple[Row, ...]:
        """The rows that decide: computed, and to be equal."""
        return tuple(row for row in self.rows if row.matches is not None)

    @property
    def closes(self) -> bool:
        """Whether every row that decides matches, and there is one."""
        return bool(self.checked) and all(row.matches for row in self.checked)

    @property
    def distance(self) -> float:
        """Largest gap of a row that decides, in percent of what is logged or computed, whichever is larger."""
        return max((_distance(row) for row in self.checked), default=float("inf"))


def _distance(row: Row) -> float:
    largest = max(abs(row.logged), abs(row.predicted or 0.0))
    return 0.0 if row.matches or not largest else 100 * abs(row.gap or 0.0) / largest


def predict(record: LogRecord, request: Mapping[str, Any]) -> Prediction:
    """Computes the figures of a log under its own budget, with the whole report.

    Args:
        record: The log.
        request: The question it stands for.
    """
    plain, middle, ends = _budgets(record, request)
    report = answer({**plain, **middle})
    computed = of_report(report)
    if computed is None:
        return Prediction(report=report, rows=(), errors=report.errors)
    # Under an estimated budget figures are near, not equal.
    decides = report.budget is None or report.budget.kind != "estimated"
    least, most = _ends(plain, ends, computed) if decides else (computed, computed)
    compared = _rows(record, computed, least, most, decides=decides)
    if "num_gpu_blocks_override" in middle:
        # What was read off the log proves nothing about it.
        compared = tuple(replace(item, matches=None) if item.name == "num_gpu_blocks" else item for item in compared)
    if not decides and not {"gpu", "gpu_memory_gib"} & set(request):
        # An estimate for a card that was only assumed says nothing about the card that ran.
        compared = ()
    rows = (*compared, *_weights_row(record, report))
    return Prediction(report=report, rows=rows)


def may_close(record: LogRecord, request: Mapping[str, Any]) -> Prediction | None:
    """The rows of a candidate, without its report; None where it has no answer."""
    plain, middle, ends = _budgets(record, request)
    computed = quickly({**plain, **middle})
    if computed is None:
        return None
    rows = _rows(record, computed, computed, computed, decides=True)
    found = Prediction(report=None, rows=rows)
    if found.closes or found.distance > _reach(record, request, computed):
        return found
    return Prediction(report=None, rows=_rows(record, computed, *_ends(plain, ends, computed), decides=True))


def of_tokens(record: LogRecord, tokens: int) -> Prediction:
    """The rows of a pool whose tokens follow from a rule that no field of a request states."""
    computed = Computed(tokens=tokens, concurrency=None, num_gpu_blocks=None, block_size=None)
    return Prediction(report=None, rows=_rows(record, computed, computed, computed, decides=True))


def _reach(record: LogRecord, request: Mapping[str, Any], computed: Computed) -> float:
    """How far, in percent, the ends of the printed budget can lie from its middle: its last digit and two blocks."""
    figure, gib = logged_budget(record), request.get("available_kv_cache_gib")
    if request.get("engine") == "sglang" or figure is None or not gib:
        return 100.0
    low, high = figure.interval
    blocks = 200 / computed.num_gpu_blocks if computed.num_gpu_blocks else 100.0
    return float(100 * (high - low) / Fraction(str(gib))) + blocks + 0.5


Fields = dict[str, Any]

_ENOUGH = 1 << 44
"""Bytes that no pool of a printed number of blocks needs."""


def _budgets(record: LogRecord, request: Mapping[str, Any]) -> tuple[Fields, Fields, tuple[Fields, Fields] | None]:
    """The request without its budget, the printed budget, and the ends of its range."""
    plain = {name: value for name, value in request.items() if name not in BUDGET_FIELDS}
    if "kv_cache_memory_bytes" in request:
        return plain, {"kv_cache_memory_bytes": request["kv_cache_memory_bytes"]}, None
    if request.get("engine") == "sglang":
        return plain, {}, _sglang_ends(record, request)
    if "available_kv_cache_gib" in request:
        figure = logged_budget(record)
        given = Fraction(str(request["available_kv_cache_gib"]))
        low, high = figure.interval if figure is not None and figure.value == given else (given, given)
        low_bytes, high_bytes = max(1, ceil(low * GIB)), max(1, floor(high * GIB))
        ends = ({"kv_cache_memory_bytes": low_bytes}, {"kv_cache_memory_bytes": high_bytes})
        return plain, {"kv_cache_memory_bytes": max(1, int(given * GIB))}, ends
    blocks = record.first("num_gpu_blocks")
    if blocks is not None and "num_gpu_blocks_override" not in plain:
        # The pool is known without its budget: tokens and concurrency follow from the blocks, whatever room there was.
        return plain, {"num_gpu_blocks_override": int(blocks.value), "kv_cache_memory_bytes": _ENOUGH}, None
    return plain, {}, None


def _sglang_ends(record: LogRecord, request: Mapping[str, Any]) -> tuple[Fields, Fields] | None:
    """The ends of both printed amounts of free memory: least left over and most left over."""
    before, after = least_before(record), least_after(record)
    if before is None or after is None or not {BEFORE, AFTER} <= set(request):
        return None
    if request[AFTER] != float(after.value):
        return None
    least = {BEFORE: float(before.interval[1]), AFTER: float(after.interval[0])}
    most = {BEFORE: float(before.interval[0]), AFTER: float(after.interval[1])}
    return least, most


def _ends(plain: Fields, ends: tuple[Fields, Fields] | None, middle: Computed) -> tuple[Computed, Computed]:
    """The figures of both ends of the printed budget; the middle's where an end has no answer."""
    if ends is None:
        return middle, middle
    least, most = (quickly({**plain, **end}) for end in ends)
    return least or middle, most or middle


def _rows(record: LogRecord, middle: Computed, least: Computed, most: Computed, *, decides: bool) -> tuple[Row, ...]:
    rows = []
    for name, label, unit in COMPARED:
        figure = logged_pool(record, name) or _stand_in(record, name)
        if figure is None:
            continue
        places = len(figure.printed.partition(".")[2])
        values = [_rounded(item.named(name), places) for item in (middle, least, most)]
        rows.append(row(figure, label, unit, *values, decides=decides and values[0] is not None))
    return tuple(rows)


def _stand_in(record: LogRecord, name: str) -> LogFigure | None:
    """The tokens of SGLang's only pool, where a log ends before the line that repeats them."""
    if name != "max_total_num_tokens" or record.first("swa_tokens") is not None:
        return None
    return record.first("pool_tokens")


def _weights_row(record: LogRecord, report: Report) -> tuple[Row, ...]:
    weights, loaded = report.weights, next(filter(None, map(record.first, WEIGHTS)), None)
    if weights is None or weights.bytes_per_gpu is None or loaded is None:
        return ()
    predicted = round(weights.bytes_per_gpu / GIB, 2)
    return (row(loaded, "Weights on one GPU", "GiB", predicted, predicted, predicted, decides=False),)


def _rounded(value: float | None, places: int) -> float | None:
    return value if value is None or isinstance(value, int) else round(value, places)


def row(
    figure: LogFigure,
    label: str,
    unit: str,
    middle: float | None,
    low: float | None,
    high: float | None,
    *,
    decides: bool,
) -> Row:
    """One row; a predicted zero has a gap but no percentage."""
    logged = float(figure.value) if "." in figure.printed else int(figure.value)
    gap = None if middle is None else logged - middle
    matches = None
    if decides:
        matches = low is not None and high is not None and min(low, high) <= logged <= max(low, high)
        if figure.name in NEAR_ENOUGH and low is not None and high is not None:
            beyond = max(min(low, high) - logged, logged - max(low, high))
            matches = matches or beyond * 100 <= NEAR_ENOUGH[figure.name] * max(low, high)
    return Row(
        name=figure.name,
        label=label,
        unit=unit,
        logged=logged,
        predicted=middle,
        low=low,
        high=high,
        gap=None if gap is None else round(gap, 2),
        percent=None if gap is None or not middle else round(100 * gap / middle, 1),
        matches=matches,
        line=figure.line,
    )
