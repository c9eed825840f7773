"""Reconcile: what the log says, what kvcore computes, whether both agree, and if not, why."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from kvcore.answer import answer
from kvcore.arithmetic import GIB
from kvcore.reconcile.budget_line import logged_budget
from kvcore.reconcile.diagnose import Diagnosis, diagnose
from kvcore.reconcile.implied import Implied, implied_request
from kvcore.reconcile.invert import Inversion, invert
from kvcore.reconcile.next_steps import NextStep, next_steps
from kvcore.reconcile.predict import WEIGHTS, Prediction, Row, predict, row
from kvcore.reconcile.record import UNITS, LogFigure, LogRecord

Verdict = Literal["equal", "within_rounding", "explained", "unexplained", "not_compared"]

ANSWERED_ENGINES = frozenset({"vllm", "sglang"})


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """Everything there is to say about a log.

    Attributes:
        record: The log as read.
        implied: The request it stands for, and what it leaves open.
        verdict: ``equal``: every figure is; ``within_rounding``: under another budget that prints the same; ``explained``:
            one cause closes the gap; ``unexplained``: the layout is wrong or misses a part; ``not_compared``: a figure or
            the model is missing, or the engine is only read.
        prediction: Computed figures beside logged ones; None where nothing could be computed.
        budget: The estimated budget beside the logged one; None where it cannot be estimated.
        diagnoses: Causes, the likeliest first.
        inversion: Blocks and bytes the figures imply.
        next_steps: Flags worth trying, with their computed effect.
    """

    record: LogRecord
    implied: Implied
    verdict: Verdict
    prediction: Prediction | None
    budget: Row | None
    diagnoses: tuple[Diagnosis, ...]
    inversion: Inversion | None
    next_steps: tuple[NextStep, ...]


def reconcile(record: LogRecord, given: Mapping[str, Any], reported_tokens: int | None = None) -> Reconciliation:
    """Compares a log with what kvcore computes.

    Args:
        record: The log; it may hold no figure at all.
        given: Request fields the person states, which win over the log's.
        reported_tokens: A token figure the person read elsewhere; it stands for the log's where that has none.
    """
    if reported_tokens is not None:
        record = _with_tokens(record, reported_tokens, given)
    implied = implied_request(record, given)
    known = bool({"model", "config", "layout"} & set(implied.request))
    if record.engine not in ANSWERED_ENGINES or not known:
        inversion = invert(record) if record.engine == "vllm" else None
        return _only_read(record, implied, inversion)
    prediction = predict(record, implied.request)
    if implied.variant:
        prediction = dataclasses.replace(
            prediction, rows=tuple(item for item in prediction.rows if item.name not in WEIGHTS)
        )
    verdict, diagnoses = _judge(record, implied, prediction)
    right = {**implied.request, **diagnoses[0].changes} if verdict == "explained" else implied.request
    return Reconciliation(
        record=record,
        implied=implied,
        verdict=verdict,
        prediction=prediction,
        budget=None if implied.variant else _budget(record, implied.request),
        diagnoses=diagnoses,
        inversion=_inversion(record, predict(record, right) if verdict == "explained" else prediction),
        next_steps=next_steps(record, right),
    )


def _judge(record: LogRecord, implied: Implied, prediction: Prediction) -> tuple[Verdict, tuple[Diagnosis, ...]]:
    """The verdict, and the causes that led to it."""
    if prediction.closes:
        exact = all(item.predicted == item.logged for item in prediction.checked)
        return ("equal", ()) if exact else ("within_rounding", (_rounding(),) if record.engine == "vllm" else ())
    if not prediction.checked and not prediction.errors:
        return "not_compared", ()
    diagnoses = diagnose(record, implied, prediction)
    closing = tuple(item for item in diagnoses if item.closes)
    if closing:
        return "explained", closing
    # Without its static fraction an SGLang log cannot be compared; a refused request cannot either.
    unknown = record.engine == "sglang" and "mem_fraction_static" not in implied.request
    if prediction.errors or unknown:
        return "not_compared", ()
    return "unexplained", diagnoses


def _only_read(record: LogRecord, implied: Implied, inversion: Inversion | None) -> Reconciliation:
    return Reconciliation(
        record=record,
        implied=implied,
        verdict="not_compared",
        prediction=None,
        budget=None,
        diagnoses=(),
        inversion=inversion,
        next_steps=(),
    )


def _with_tokens(record: LogRecord, tokens: int, given: Mapping[str, Any]) -> LogRecord:
    """The record with a reported figure in the place of the log's first line."""
    engine = record.engine or str(given.get("engine", "vllm"))
    name = "max_total_num_tokens" if engine == "sglang" else "gpu_kv_cache_tokens"
    reported = LogFigure(name=name, printed=str(tokens), unit=UNITS[name], line=0, run=record.run)
    return LogRecord(
        engine=engine,
        engine_version=record.engine_version,
        figures=(reported, *record.figures),
        seen=record.seen,
        flags=record.flags,
        flags_complete=record.flags_complete,
        flags_line=record.flags_line,
        lines=record.lines,
        left_out=record.left_out,
    )


def _rounding() -> Diagnosis:
    words = "the printed budget is rounded; another one that prints the same gives exactly these figures"
    return Diagnosis(key="rounding", label="Rounding of the printed GiB", words=words, changes={}, closes=True)


def _inversion(record: LogRecord, prediction: Prediction) -> Inversion | None:
    """The inversion by the plan's own groups and charge where there is a plan."""
    if record.engine != "vllm":
        return None
    plan = None if prediction.report is None else prediction.report.plan
    if plan is None or not plan.groups:
        return invert(record)
    charged = sum(group.blocks_per_request for group in plan.groups)
    return invert(record, block_size=plan.block_size, groups=len(plan.groups), request_blocks=charged)


def _budget(record: LogRecord, request: Mapping[str, Any]) -> Row | None:
    """The budget kvcore estimates from GPU and utilization beside the logged one."""
    figure = logged_budget(record)
    if figure is None or "gpu" not in request or record.engine != "vllm":
        return None
    without = {
        name: value
        for name, value in request.items()
        if name not in {"available_kv_cache_gib", "kv_cache_memory_bytes", "num_gpu_blocks_override"}
    }
    # A release whose default the log does not print still has one; the estimate needs it stated.
    utilization = record.first("gpu_memory_utilization")
    if utilization is not None and "gpu_memory_utilization" not in without:
        without["gpu_memory_utilization"] = float(utilization.value)
    budget = answer(without).budget
    if budget is None or budget.kv_cache_bytes is None or budget.kind != "estimated":
        return None
    low, high = budget.interval_bytes or (budget.kv_cache_bytes,) * 2
    shown = [round(float(Fraction(value, GIB)), 2) for value in (budget.kv_cache_bytes, low, high)]
    return row(figure, "Cache memory (estimate)", "GiB", *shown, decides=False)
