"""Asking kvcore while the site is built: every question once, whichever pages ask it."""

import json
from collections.abc import Callable, Mapping

from kvcore.answer import answer
from kvcore.report.report import Report

Ask = Callable[[Mapping[str, object]], Report]


class Answers:
    """Answers requests and remembers them for one build; the answer depends on nothing but the request."""

    def __init__(self, ask: Ask = answer) -> None:
        self._ask = ask
        self._known: dict[str, Report] = {}

    def __call__(self, request: Mapping[str, object]) -> Report:
        """Returns the report of a request; bad input is in the report's errors, as everywhere."""
        key = json.dumps(request, sort_keys=True)
        if key not in self._known:
            self._known[key] = self._ask(request)
        return self._known[key]
