"""What a log was taken to ask, and what it leaves open, as blocks of a document."""

import json
from collections.abc import Iterator, Mapping

from kvcore.reconcile.reconcile import Reconciliation
from kvcore.report.document import Block, Code, Column, Details, Row, Table
from kvcore.report.figures import grouped


def open_questions(found: Reconciliation) -> Iterator[Block]:
    """The fields a log does not state, and what is assumed instead."""
    if not found.record.engine:
        return
    rows = tuple(Row(((Code(item.field),), (item.text,))) for item in found.implied.questions)
    if rows:
        columns = (Column("Field"), Column("What is assumed, or missing"))
        yield Table("What the log does not say", columns, rows, id="log-questions")


def implied_fields(found: Reconciliation) -> Iterator[Block]:
    """Every field that was read, with the place it was read at; folded, since most are the engine's defaults."""
    request, sources = found.implied.request, found.implied.sources
    rows = tuple(
        Row(((Code(name),), (value_text(request.get(name)),), (where,)))
        for name, where in sources.items()
        if name not in {"config", "layout"}
    )
    if rows:
        columns = (Column("Field"), Column("Value"), Column("Read from"))
        table = Table("The request this log implies", columns, rows, id="log-request")
        yield Details(f"The request this log implies: {len(rows)} fields", lambda: (table,))


def value_text(value: object) -> str:
    """A value of a request as a person writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return json.dumps(value)
    return grouped(value) if isinstance(value, int) else str(value)
