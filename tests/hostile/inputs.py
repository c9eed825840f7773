"""Hostile inputs, one file for the command line and the browser: what is typed into which field, and which field is wrong.

A value is a text, or ``{"repeat": text, "times": n}`` with an optional ``before``, a ``then`` repeated as often, and a
``then_once``. ``wrong`` names the field whose error is expected; empty: the input is odd, and answered.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("inputs.jsonl")


@dataclass(frozen=True)
class Hostile:
    """One hostile input: its name, the fields as typed, and the field that is wrong."""

    name: str
    written: Mapping[str, Any]
    wrong: str

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """The texts as typed."""
        return {name: _text(value) for name, value in self.written.items()}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    times = value["times"]
    middle = value["repeat"] * times + value.get("then", "") * times
    return str(value.get("before", "") + middle + value.get("then_once", ""))


INPUTS = tuple(
    Hostile(row["name"], row["fields"], row["wrong"])
    for row in map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
)
