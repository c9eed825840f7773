"""What to know before quoting a figure, what is wrong with a question, and where each fact comes from."""

import re

from kvcore.report.document import Block, Code, Column, Link, Note, Row, Strong, Table, Text
from kvcore.report.report import Report
from kvcore.report.sections.wording import prose

_ADDRESS = re.compile(r"(https://[^\s<>\"'`]+)")


def errors(report: Report) -> tuple[Block, ...]:
    """Returns one note per error: field, value, rule, remedy."""
    return tuple(
        Note("error", (Strong(error.field), " = ", Code(error.value), f": {error.rule}. ", *prose(error.remedy)))
        for error in report.errors
    )


def warnings(report: Report) -> tuple[Block, ...]:
    """Returns one note per warning, in the report's order."""
    return tuple(Note("warning", prose(warning)) for warning in report.warnings)


def _reference(text: str) -> Text:
    """A reference with its web addresses as links. References are the catalogue's and kvcore's own, never a user's."""
    pieces = _ADDRESS.split(text)
    return tuple(
        piece
        for index, words in enumerate(pieces)
        for piece in ((Link(words, words),) if index % 2 else prose(words))
        if words
    )


def sources(report: Report) -> tuple[Block, ...]:
    """Returns the table of sources with kind and date; nothing when there are none."""
    if not report.sources:
        return ()
    rows = tuple(
        Row(((source.id,), (source.kind,), _reference(source.ref), (source.checked,))) for source in report.sources
    )
    columns = (Column("Fact"), Column("Kind"), Column("Source"), Column("Checked"))
    return (Table("Where each fact comes from", columns, rows, id="sources-table"),)
