"""What to know before quoting a figure, what is wrong with a question, and where each fact comes from."""

from kvcore.report.document import Block, Code, Column, Note, Row, Strong, Table
from kvcore.report.report import Report
from kvcore.report.sections.wording import prose


def errors(report: Report) -> tuple[Block, ...]:
    """Returns one note per error: field, value, rule, remedy."""
    return tuple(
        Note("error", (Strong(error.field), " = ", Code(error.value), f": {error.rule}. ", *prose(error.remedy)))
        for error in report.errors
    )


def warnings(report: Report) -> tuple[Block, ...]:
    """Returns one note per warning, in the report's order."""
    return tuple(Note("warning", prose(warning)) for warning in report.warnings)


def sources(report: Report) -> tuple[Block, ...]:
    """Returns the table of sources with kind and date; nothing when there are none."""
    if not report.sources:
        return ()
    rows = tuple(Row(((source.id,), (source.kind,), prose(source.ref), (source.checked,))) for source in report.sources)
    columns = (Column("Fact"), Column("Kind"), Column("Source"), Column("Checked"))
    return (Table("Where each fact comes from", columns, rows, id="sources-table"),)
