"""JSON Schemas of request and report, derived from kvcore's own dataclasses when the site is built."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from kvcore.report.report import Report
from kvcore.request import Request
from kvcore.request_fields import REQUEST_FIELDS, RequestField
from site_plugins.published.places import REPORT_SCHEMA, REQUEST_SCHEMA

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def request_schema(site_url: str) -> dict[str, Any]:
    """Returns the schema of a request: types of the dataclass, meanings and limits of the table of fields.

    Args:
        site_url: Where the site will be published.
    """
    schema = TypeAdapter(Request).json_schema()
    # Kept by the parser for itself: which fields were given.
    schema["properties"].pop("given")
    for field in REQUEST_FIELDS:
        schema["properties"][field.name] = {**_without_default(schema["properties"][field.name]), **_meaning(field)}
    return {"$schema": _DIALECT, "$id": f"{site_url}{REQUEST_SCHEMA}", **schema, "additionalProperties": False}


def report_schema(site_url: str) -> dict[str, Any]:
    """Returns the schema of a report.

    Args:
        site_url: Where the site will be published.
    """
    schema = TypeAdapter(Report).json_schema(mode="serialization")
    return {"$schema": _DIALECT, "$id": f"{site_url}{REPORT_SCHEMA}", **schema}


def _without_default(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Absent means the engine's default at its version, which no schema can state."""
    return {key: value for key, value in schema.items() if key != "default"}


def _meaning(field: RequestField) -> dict[str, Any]:
    meaning: dict[str, Any] = {"title": field.label, "description": field.help}
    if field.choices:
        meaning["enum"] = [*field.choices, None]
    if field.type not in {"integer", "number"} or field.also_allowed:
        return meaning
    if field.minimum is not None:
        meaning["exclusiveMinimum" if field.exclusive_minimum else "minimum"] = field.minimum
    if field.maximum is not None:
        meaning["maximum"] = field.maximum
    return meaning
