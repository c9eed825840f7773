"""Asking kvcore while the site is built: every question once, whichever pages ask it."""

import json
from collections.abc import Collection, Mapping
from typing import Protocol

from kvcore.answer import answer
from kvcore.report.report import Report


class Ask(Protocol):
    """Answers a request: with the whole report, or at least with the sections that are wanted."""

    def __call__(self, request: Mapping[str, object], sections: Collection[str] | None = None, /) -> Report:
        """Returns the report of a request; bad input is in the report's errors, as everywhere."""


class Answers:
    """Answers requests and remembers them for one build; the answer depends on nothing but the request."""

    def __init__(self, ask: Ask = answer) -> None:
        self._ask = ask
        self._whole: dict[str, Report] = {}
        self._partial: dict[tuple[str, frozenset[str]], Report] = {}

    def __call__(self, request: Mapping[str, object], sections: Collection[str] | None = None, /) -> Report:
        """Returns the report of a request; bad input is in the report's errors, as everywhere."""
        key = json.dumps(request, sort_keys=True)
        if key in self._whole:
            return self._whole[key]
        if sections is None:
            self._whole[key] = self._ask(request)
            return self._whole[key]
        part = (key, frozenset(sections))
        if part not in self._partial:
            self._partial[part] = self._ask(request, sections)
        return self._partial[part]
