"""A reconciliation as plain JSON values; the log's own texts (paths, names, hosts) are not among them."""

from fractions import Fraction
from typing import Any

from kvcore.commands import kvcore_command
from kvcore.reconcile.explain import explain
from kvcore.reconcile.readings import CHECKLIST, GREP_HINTS
from kvcore.reconcile.reconcile import Reconciliation
from kvcore.report.json import to_json


def as_json(found: Reconciliation) -> dict[str, Any]:
    """The reconciliation by its keys: verdict, rows, causes, request, questions, inversion, lines, next steps."""
    record = found.record
    prediction = found.prediction
    return {
        "engine": record.engine,
        "engine_version": record.engine_version,
        "lines": record.lines,
        "verdict": found.verdict,
        "rows": [] if prediction is None else to_json(prediction.rows),
        "budget": to_json(found.budget),
        "causes": to_json(found.diagnoses),
        "request": dict(found.implied.request),
        "sources": dict(found.implied.sources),
        "questions": to_json(found.implied.questions),
        "command": kvcore_command(found.implied.request),
        "inversion": None if found.inversion is None else _exact(found.inversion.__dict__),
        "figures": [
            {"name": item.name, "value": _exact(item.value), "unit": item.unit, "line": item.line, "run": item.run, "rank": item.rank}
            for item in record.figures
        ],
        "figures_left_out": record.left_out,
        "explained": [
            {"kind": item.kind, "title": item.reading.title, "text": item.reading.text, "page": item.reading.page, "lines": list(item.lines)}
            for item in explain(record)
        ],
        "next_steps": to_json(found.next_steps),
        "checklist": [{"point": point, "question": question} for point, question in CHECKLIST],
        "grep": [{"engine": engine, "command": command} for engine, command in GREP_HINTS],
        "errors": [] if prediction is None else to_json(prediction.errors),
    }  # fmt: skip


def _exact(value: Any) -> Any:
    """Fractions as numbers; everything else as it is."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    if isinstance(value, tuple):
        return [_exact(item) for item in value]
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    return value
