"""What to know before quoting a figure, what is wrong with a question, and where each fact comes from."""

import re

from kvcore.report.document import Block, Code, Column, Link, Note, Row, Strong, Table, Text
from kvcore.report.report import Report, Source
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


def _fact(source: Source) -> tuple[str, str]:
    """What a source is for and where it is. References of the catalogue begin with the fact; others have a name alone."""
    fact, separator, place = source.ref.partition(": ")
    return (fact, place) if separator and source.id.startswith("model-") else (source.id, source.ref)


def sources(report: Report) -> tuple[Block, ...]:
    """Returns the table of sources with kind and date; nothing when there are none."""
    if not report.sources:
        return ()
    rows = []
    for source in report.sources:
        fact, place = _fact(source)
        rows.append(Row(((fact,), (source.kind,), _reference(place), (source.checked,))))
    columns = (Column("Fact"), Column("Kind"), Column("Source"), Column("Checked"))
    return (Table("Where each fact comes from", columns, tuple(rows), id="sources-table"),)
