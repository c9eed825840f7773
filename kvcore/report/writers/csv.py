"""Document to CSV: every table with its exact values, for a spreadsheet.

Tables follow each other with an empty line between, each under a line with its caption.
"""

import csv
import io
from collections.abc import Iterable, Iterator

from kvcore.report.document import Block, Chart, Details, Document, Figure, Table, Text, plain

# A spreadsheet takes a cell that starts with one of these for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write(document: Document) -> str:
    """Returns the document's tables as CSV; other blocks have no place in it."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for index, table in enumerate(_tables(document.blocks)):
        if index:
            writer.writerow([])
        writer.writerow([_inert(table.caption)])
        writer.writerow(
            [_inert(f"{column.title} ({column.unit})" if column.unit else column.title) for column in table.columns]
        )
        writer.writerows([_cell(cell) for cell in row.cells] for row in table.rows)
    return lines.getvalue()


def _tables(blocks: Iterable[Block]) -> Iterator[Table]:
    for block in blocks:
        match block:
            case Table():
                yield block
            case Chart():
                yield block.table
            case Details():
                yield from _tables(block.blocks)


def _cell(content: Text) -> str | int | float:
    """A lone figure as its exact value, anything else as text that no spreadsheet evaluates."""
    match content:
        case (Figure(value=int() | float() as value),):
            return value
        case _:
            return _inert(plain(content))


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
