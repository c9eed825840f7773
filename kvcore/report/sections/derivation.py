"""The proof: every number's formula, the same with values put in, and the result, step by step (feature F05)."""

import re
from collections import Counter

from kvcore.report.document import Block, Figure, FormulaLine
from kvcore.report.figures import grouped
from kvcore.report.report import Report, Step
from kvcore.report.sections.wording import prose

_NOT_IN_IDS = re.compile(r"[^a-z0-9]+")


def derivation(report: Report) -> tuple[Block, ...]:
    """Returns the steps in order; each has a stable anchor made of the report path it explains."""
    seen: Counter[str] = Counter()
    lines = []
    for step in report.derivation:
        anchor = step_id(step.path)
        seen[anchor] += 1
        lines.append(_line(step, anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor]}"))
    return tuple(lines)


def step_id(path: str) -> str:
    """Returns the anchor of the step that explains a report path."""
    return f"step-{_NOT_IN_IDS.sub('-', path.lower()).strip('-')}"


def _line(step: Step, anchor: str) -> FormulaLine:
    text = grouped(step.result) if isinstance(step.result, int) else str(step.result)
    result = Figure(step.path, step.result, text, step.unit)
    return FormulaLine(anchor, step.label, step.formula, step.substituted, result, prose(step.source), step.kind)
