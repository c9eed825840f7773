"""Document to terminal text: aligned columns, no colour codes, nothing that a terminal would act on."""

from collections.abc import Iterable, Sequence

from kvcore.report.document import (
    Block,
    Chart,
    Details,
    Document,
    FormulaLine,
    Heading,
    Headline,
    Layers,
    Note,
    Paragraph,
    Shares,
    Table,
    plain,
)

_INDENT = "  "
_COLUMN_GAP = "   "
_MARKS = {"info": "note", "warning": "warning", "error": "error"}


def write(document: Document) -> str:
    """Returns the document as text that ends with one newline."""
    return "\n".join(_lines(document.blocks)).strip("\n") + "\n"


def printable(text: str) -> str:
    """Returns text with control characters replaced, so that a pasted name cannot drive the terminal."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def _lines(items: Iterable[Block]) -> list[str]:
    lines: list[str] = []
    for item in items:
        lines.extend(_block(item))
    return lines


def _block(item: Block) -> list[str]:  # noqa: PLR0911 - one case per kind of block
    match item:
        case Heading(level, text, _):
            title = printable(text)
            return ["", title, ("=" if level == 1 else "-") * len(title)]
        case Paragraph(content):
            return [printable(plain(content)), ""]
        case Note(kind, content):
            return [f"{_MARKS[kind]}: {printable(plain(content))}", ""]
        case Table():
            return _table(item)
        case Headline():
            return _headline(item)
        case FormulaLine():
            return _step(item)
        case Shares(title, segments):
            rows = [(printable(segment.label), printable(segment.figure.plain)) for segment in segments]
            return [printable(title), *_aligned(rows, ("left", "right")), ""]
        case Layers():
            # The layout table below the picture says the same; a row of letters would add nothing in a terminal.
            return []
        case Details(summary):
            return ["", printable(summary), *_lines(item.blocks)]
        case Chart(title, _, table):
            return [printable(title), *_table(table)]


def _table(table: Table) -> list[str]:
    columns = [column for column in table.columns if not column.wide]
    titles = tuple(f"{column.title} ({column.unit})" if column.unit else column.title for column in columns)
    body = [
        tuple(printable(plain(cell)) for column, cell in zip(table.columns, row.cells, strict=True) if not column.wide)
        for row in table.rows
    ]
    aligns = tuple(column.align for column in columns)
    lines = _aligned([titles, *body], aligns)
    rule = _INDENT + "-" * max(len(line) - len(_INDENT) for line in lines)
    result = [printable(table.caption), lines[0], rule]
    for row, line in zip(table.rows, lines[1:], strict=True):
        result.extend([rule, line] if row.total and result[-1] != rule else [line])
    return [*result, ""]


def _aligned(rows: Sequence[Sequence[str]], aligns: Sequence[str]) -> list[str]:
    """Returns rows as lines whose columns stand under each other."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(aligns))]
    return [
        _INDENT
        + _COLUMN_GAP.join(
            cell.rjust(width) if align == "right" else cell.ljust(width)
            for cell, width, align in zip(row, widths, aligns, strict=True)
        ).rstrip()
        for row in rows
    ]


def _headline(headline: Headline) -> list[str]:
    rows = [
        (printable(key.figure.plain), printable(f"{key.label} ({key.note})" if key.note else key.label))
        for key in headline.figures
    ]
    figures = _aligned(rows, ("right", "left")) if rows else []
    return [printable(headline.condition), *figures, "", printable(plain(headline.sentence)), ""]


def _step(step: FormulaLine) -> list[str]:
    return [
        f"{_INDENT}{printable(step.label)}",
        f"{_INDENT * 2}{printable(step.formula)}",
        f"{_INDENT * 2}= {printable(step.substituted)}",
        f"{_INDENT * 2}= {printable(step.result.plain)}   [{printable(step.kind)}: {printable(plain(step.source))}]",
    ]
