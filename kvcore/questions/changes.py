"""What each changed input does: the answer asked again with that input left to the engine's default."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvcore.answer import answer
from kvcore.questions.forward import COUNTED, concurrency
from kvcore.questions.names import Fields
from kvcore.report.report import Report
from kvcore.request_fields import REQUEST_FIELDS

MOST_CHANGES = 6
"""Each change costs one more answer, so a long list is cut."""

_SUBJECT = frozenset({"model", "config", "layout", "engine", "engine_version"})
_GIVEN_BUDGET = frozenset(
    {"kv_cache_memory_bytes", "available_kv_cache_gib", "available_before_load_gib", "available_after_load_gib"}
)
"""Without these it is another question, not the same one at the default."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One input that was given, and the requests at once without and with it.

    Attributes:
        field: Request field.
        label: Its label in the form.
        value: The value given.
        before: Requests at once with the engine's default; None where nothing fits or the default does not go.
        after: Requests at once as asked; None where nothing fits.
    """

    field: str
    label: str
    value: Any
    before: float | None
    after: float | None


def changes(
    fields: Fields, most: int = MOST_CHANGES, layout_before: Mapping[str, Any] | None = None
) -> tuple[Change, ...]:
    """Asks the question again without each of its inputs in turn, at most ``most`` times.

    The model and a given budget are not left out: they are what the question is about. Of a layout by hand, what it was
    before it was edited may be given to be asked in its place.
    """
    after = _requests_at_once(answer(fields, COUNTED))
    edit = () if layout_before is None else _edit(fields, layout_before, after)
    wanted = [
        field
        for field in REQUEST_FIELDS
        if field.name in fields and field.name not in _SUBJECT and field.name not in _GIVEN_BUDGET
    ]
    return edit + tuple(
        Change(
            field=field.name,
            label=field.label,
            value=fields[field.name],
            before=_requests_at_once(answer(_without(fields, field.name), COUNTED)),
            after=after,
        )
        for field in wanted[:most]
    )


def _edit(fields: Fields, before: Mapping[str, Any], after: float | None) -> tuple[Change, ...]:
    """What editing the layout did; nothing where it is as it was."""
    layout = fields.get("layout")
    if not isinstance(layout, Mapping) or layout == before:
        return ()
    was = _requests_at_once(answer({**fields, "layout": before}))
    name = layout.get("name")
    return (Change(field="layout", label="Layout", value=f"{name or ''} edited".strip(), before=was, after=after),)


def _without(fields: Fields, name: str) -> Mapping[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def _requests_at_once(report: Report) -> float | None:
    return None if report.errors else concurrency(report, "engine_log")
