"""Report to plain JSON values: one walk, key order as declared, so that two Pythons give the same bytes."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from kvcore.report.report import Report


def to_json(value: Any) -> Any:
    """Turns a report (or any part of it) into dicts, lists and scalars in declared key order."""
    if value is None or isinstance(value, str | int | float):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value


def dumps(report: Report) -> str:
    """One line of JSON for a report; refuses NaN and infinity, which JSON does not have."""
    return json.dumps(to_json(report), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
