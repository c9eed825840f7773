"""JSON Schemas of the published data, derived from the dataclasses it is written from when the site is built."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from kvcore.report.report import Report
from kvcore.request import Request
from kvcore.request_fields import REQUEST_FIELDS, RequestField
from site_plugins.published.changes import Change
from site_plugins.published.fleet import Fleet
from site_plugins.published.models import PublishedModels
from site_plugins.published.places import (
    CHANGES_SCHEMA,
    FLEET_SCHEMA,
    MODELS_SCHEMA,
    REPORT_SCHEMA,
    REQUEST_SCHEMA,
)

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas(site_url: str) -> dict[str, dict[str, Any]]:
    """Returns every schema by its place.

    Args:
        site_url: Where the site will be published.
    """
    return {
        REQUEST_SCHEMA: request_schema(site_url),
        REPORT_SCHEMA: _written(Report, REPORT_SCHEMA, site_url),
        MODELS_SCHEMA: _written(PublishedModels, MODELS_SCHEMA, site_url),
        FLEET_SCHEMA: _written(Fleet, FLEET_SCHEMA, site_url),
        CHANGES_SCHEMA: _written(tuple[Change, ...], CHANGES_SCHEMA, site_url),
    }


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


def _written(kind: Any, place: str, site_url: str) -> dict[str, Any]:
    """The schema of a type as it is written."""
    return {"$schema": _DIALECT, "$id": f"{site_url}{place}", **TypeAdapter(kind).json_schema(mode="serialization")}


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
