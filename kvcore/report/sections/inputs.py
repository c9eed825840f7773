"""What was asked: every field with its value, and whether it was given or is the engine's default."""

import json
from collections.abc import Mapping

from kvcore.report.document import Block, Code, Column, Details, Figure, Row, Table
from kvcore.report.figures import grouped
from kvcore.report.report import Input, Report
from kvcore.report.sections.wording import engine_name, prose

_LONGEST_VALUE = 80


def inputs(report: Report) -> tuple[Block, ...]:
    """Returns the table of inputs; given ones first, then defaults in the order of the request."""
    if not report.inputs:
        return ()
    given = [item for item in report.inputs.items() if item[1].origin == "given"]
    others = [item for item in report.inputs.items() if item[1].origin != "given"]

    def table() -> tuple[Block, ...]:
        caption = f"Inputs, and the defaults {engine_name(report)} takes for the rest"
        columns = (Column("Field"), Column("Value"), Column("Origin"), Column("Why"))
        rows = tuple(_row(field, item) for field, item in [*given, *others])
        return (Table(caption, columns, rows, id="inputs-table"),)

    return (Details(f"Inputs: {len(given)} given, {len(others)} by default", table, id="inputs"),)


def given_inputs(report: Report) -> tuple[Block, ...]:
    """Returns the given inputs alone, for a snippet; nothing when every input is a default."""
    rows = tuple(
        Row(((Code(field),), (Figure(f"inputs.{field}.value", _scalar(item.value), shown_value(item.value)),)))
        for field, item in report.inputs.items()
        if item.origin == "given"
    )
    columns = (Column("Field"), Column("Value"))
    return (Table("Asked", columns, rows, id="inputs-given"),) if rows else ()


def _row(field: str, item: Input) -> Row:
    value = Figure(f"inputs.{field}.value", _scalar(item.value), shown_value(item.value))
    return Row(((Code(field),), (value,), (item.origin,), prose(item.note)))


def _scalar(value: object) -> int | float | str | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | None):
        return json.dumps(value, ensure_ascii=False, default=str) if not isinstance(value, Mapping) else None
    return value


def shown_value(value: object) -> str:
    """Returns a request value for reading: grouped numbers, short objects in full, long ones by their size."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return grouped(value)
    if isinstance(value, float | str):
        return str(value)
    text = json.dumps(value, ensure_ascii=False, default=str)
    return (
        text
        if len(text) <= _LONGEST_VALUE
        else f"object with {len(value)} keys"
        if isinstance(value, Mapping)
        else text
    )
