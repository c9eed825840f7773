"""Why a log and kvcore differ: every candidate cause is tried alone, and those that close the gap exactly are ranked."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kvcore.reconcile.causes import CAUSES, Question, Variant
from kvcore.reconcile.implied import Implied
from kvcore.reconcile.predict import WEIGHTS, Prediction, may_close, of_tokens, predict
from kvcore.reconcile.record import LogRecord

REPRESENTATIVES = ("0.27.0", "0.22.0", "0.19.0", "0.13.0", "0.11.0")
"""One release for each way of counting tokens, windows and states, the newest first."""

FIGURES_FOR_TWO = 2
"""Figures that must agree before two causes at once are believed."""

WEIGHTS_PERCENT = 5.0
"""Estimated weights this near to the logged ones speak for a candidate."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """One candidate that was tried.

    Attributes:
        key: Which kind of cause.
        label: What it is called.
        words: What would have to be true.
        changes: Fields of the request that would differ.
        closes: Whether every figure then matches.
        contradicts: Fields among ``changes`` that the log itself states otherwise.
        distance: Largest gap that is left, in percent.
        weights_match: Whether the logged weights fit too; None where they are not known.
    """

    key: str
    label: str
    words: str
    changes: Mapping[str, Any]
    closes: bool
    contradicts: tuple[str, ...] = ()
    distance: float = field(default=0.0)
    weights_match: bool | None = None


def diagnose(record: LogRecord, implied: Implied, base: Prediction) -> tuple[Diagnosis, ...]:
    """Tries every cause against a log that does not match.

    Returns:
        The candidates that close the gap, the likeliest first. Where none does, the one that comes nearest, which then
        has ``closes`` False.
    """
    inputs = {} if base.report is None else {name: item.value for name, item in base.report.inputs.items()}
    tried = _try_all(record, implied, Question(record=record, request=implied.request, inputs=inputs), {})
    closing = sorted((item for item in tried if item.closes), key=_rank)
    if not closing and _may_be_two(record, implied, base):
        closing = _under_other_releases(record, implied, inputs)
    if closing:
        return tuple(closing)
    nearer = [item for item in tried if item.distance < base.distance]
    return tuple(sorted(nearer, key=lambda item: item.distance)[:1])


def _try_all(record: LogRecord, implied: Implied, question: Question, together: Mapping[str, Any]) -> list[Diagnosis]:
    """The best variant of every cause, each tried with what is changed ``together`` with it."""
    tried: list[Diagnosis] = []
    for cause in CAUSES:
        if cause.engine != record.engine or cause.key in together:
            continue
        found = []
        for variant in cause.variants(question):
            changes = {**together, **variant.changes}
            prediction = _predicted(record, {**implied.request, **changes}, variant)
            if prediction is None or not prediction.rows:
                continue
            found.append(
                Diagnosis(
                    key=cause.key,
                    label=cause.label,
                    words=variant.words,
                    changes={name: value for name, value in changes.items() if value is not None},
                    closes=prediction.closes,
                    contradicts=tuple(name for name in changes if name in implied.sources),
                    distance=prediction.distance,
                    weights_match=None if implied.variant else _weights_match(prediction),
                )
            )
        tried.extend(_best(found))
    return tried


def _predicted(record: LogRecord, request: Mapping[str, Any], variant: Variant) -> Prediction | None:
    """The rows of a variant; only one that closes is asked as a whole."""
    if variant.tokens is not None:
        return of_tokens(record, variant.tokens)
    altered = {name: value for name, value in request.items() if value is not None}
    prediction = may_close(record, altered)
    return predict(record, altered) if prediction is not None and prediction.closes else prediction


def _may_be_two(record: LogRecord, implied: Implied, base: Prediction) -> bool:
    """Whether the release, which the log does not print, may hide another cause; one figure alone would prove nothing."""
    enough = len(base.checked) >= FIGURES_FOR_TWO
    return record.engine == "vllm" and "engine_version" not in implied.request and enough


def _under_other_releases(record: LogRecord, implied: Implied, inputs: Mapping[str, Any]) -> list[Diagnosis]:
    """Causes that close the gap together with a release other than the newest; the newest such release counts."""
    question = Question(record=record, request=implied.request, inputs=inputs)
    for version in REPRESENTATIVES:
        tried = _try_all(record, implied, question, {"engine_version": version})
        closing = sorted((item for item in tried if item.closes), key=_rank)
        if closing:
            return [
                dataclasses.replace(item, words=f"{item.words}, under the rules of vLLM {version}") for item in closing
            ]
    return []


def _best(found: Sequence[Diagnosis]) -> tuple[Diagnosis, ...]:
    """The best variant of one cause: the first that closes and fits the weights, else the nearest."""
    closing = [item for item in found if item.closes]
    if closing:
        return (min(closing, key=lambda item: item.weights_match is False),)
    return (min(found, key=lambda item: item.distance),) if found else ()


def _rank(diagnosis: Diagnosis) -> tuple[bool, bool, int]:
    order = [cause.key for cause in CAUSES].index(diagnosis.key)
    return bool(diagnosis.contradicts), diagnosis.weights_match is False, order


def _weights_match(prediction: Prediction) -> bool | None:
    row = next((row for row in prediction.rows if row.name in WEIGHTS), None)
    return None if row is None or row.percent is None else abs(row.percent) <= WEIGHTS_PERCENT
