"""What an inverse question answers: the value, the request that realises it, and the checks that prove it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvcore.questions.forward import Check
from kvcore.report.report import Report


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The answer to an inverse question.

    Attributes:
        question: Name of the question.
        wish: What was asked for, in words.
        field: Request field that was looked for.
        value: Its value; None where none serves.
        unit: Unit of the value.
        request: Request fields that realise the answer.
        report: The forward answer at that request.
        checks: The forward question at the answer and one step beyond it.
        note: Why there is no answer, or what to know about it.
    """

    question: str
    wish: str
    field: str
    value: int | float | None
    unit: str
    request: Mapping[str, Any]
    report: Report | None
    checks: tuple[Check, ...]
    note: str = ""

    @property
    def words(self) -> str:
        """The value and its unit. Requests are cut off and never rounded up; shares stay exact."""
        if self.value is None:
            return "none"
        is_exact = isinstance(self.value, int) or self.value < 1
        number = f"{self.value:,}" if is_exact else f"{math.floor(self.value * 100) / 100:,.2f}"
        unit = self.unit.removesuffix("s") if self.value == 1 else self.unit
        return f"{number} {unit}".rstrip()
