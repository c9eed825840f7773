"""Report to plain JSON values: one walk, key order as declared, so that two Pythons give the same bytes."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from kvcore.report.report import Report

_NAMES: dict[type, tuple[str, ...] | None] = {}
"""Fields of the types met so far."""


def to_json(value: Any) -> Any:
    """Turns a report (or any part of it) into dicts, lists and scalars in declared key order."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    names = _names(type(value))
    if names is not None:
        return {name: to_json(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    return value


def _names(kind: type) -> tuple[str, ...] | None:
    """The fields of a dataclass in declared order; None for any other type."""
    if kind not in _NAMES:
        _NAMES[kind] = (
            tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None
        )
    return _NAMES[kind]


def dumps(report: Report) -> str:
    """One line of JSON for a report; refuses NaN and infinity, which JSON does not have."""
    return json.dumps(to_json(report), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
