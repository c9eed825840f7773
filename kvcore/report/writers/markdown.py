r"""Document to Markdown for a design review or an issue: pipe tables, escaped text, no HTML.

The text of names and values is backslash-escaped, code spans get a fence longer than any run of back-ticks inside.
"""

import re
from collections.abc import Iterable

from kvcore.report.document import (
    Block,
    Chart,
    Code,
    Column,
    Details,
    Document,
    Figure,
    FormulaLine,
    Heading,
    Headline,
    Inline,
    Layers,
    Link,
    Note,
    Paragraph,
    Shares,
    Strong,
    Table,
    Text,
)

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~!&$@])")
_LINE_BREAKS = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")
# A line that starts with one of these would become a list, a quote or a heading rule.
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))")
_NOTE_LABEL = {"info": "Note", "warning": "Warning", "error": "Error"}


def write(document: Document) -> str:
    """Returns the document as Markdown that ends with one newline."""
    return "\n\n".join(part for part in map(_block, document.blocks) if part) + "\n"


def escaped(text: str) -> str:
    """Returns text that Markdown shows as it is."""
    return _ACTIVE.sub(r"\\\1", _LINE_BREAKS.sub(" ", text))


def code(text: str) -> str:
    """Returns a code span that holds any text, back-ticks included."""
    flat = _LINE_BREAKS.sub(" ", text)
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if flat.startswith("`") or flat.endswith("`") or not flat.strip() else ""
    return f"{fence}{padding}{flat}{padding}{fence}"


def _blocks(items: Iterable[Block]) -> str:
    return "\n\n".join(part for part in map(_block, items) if part)


def _block(item: Block) -> str:  # noqa: PLR0911 - one case per kind of block
    match item:
        case Heading(level, text, _):
            return f"{'#' * level} {escaped(text)}"
        case Paragraph(content):
            return _line(content)
        case Note(kind, content):
            return f"**{_NOTE_LABEL[kind]}:** {_text(content)}"
        case Table():
            return _table(item)
        case Headline():
            return _headline(item)
        case FormulaLine():
            return _step(item)
        case Shares(title, segments):
            listed = "\n".join(f"- {escaped(part.label)}: {_inline(part.figure)}" for part in segments)
            return f"{escaped(title)}\n\n{listed}"
        case Layers():
            return ""
        case Details(summary):
            return f"**{escaped(summary)}**\n\n{_blocks(item.blocks)}"
        case Chart(title, _, table):
            return f"{escaped(title)}\n\n{_table(table)}"


def _line(content: Text) -> str:
    return _LINE_START.sub(r"\1\\\2", _text(content))


def _text(content: Text) -> str:
    return "".join(_inline(item) for item in content)


def _inline(item: Inline) -> str:
    match item:
        case str():
            return escaped(item)
        case Figure():
            return escaped(item.plain)
        case Code(text):
            return code(text)
        case Strong(text):
            return f"**{escaped(text)}**"
        case Link(text, href):
            return f"[{escaped(text)}](<{href.replace('>', '%3E').replace('<', '%3C')}>)"


def _cell(content: Text) -> str:
    # A pipe inside a code span still ends a table cell, so it is escaped there too.
    return "".join(_inline(item).replace("|", "\\|") if isinstance(item, Code) else _inline(item) for item in content)


def _table(table: Table) -> str:
    titles = " | ".join(_title(column) for column in table.columns)
    rules = " | ".join("---:" if column.align == "right" else ":---" for column in table.columns)
    rows = "\n".join(f"| {' | '.join(_cell(cell) for cell in row.cells)} |" for row in table.rows)
    return f"{escaped(table.caption)}\n\n| {titles} |\n| {rules} |\n{rows}"


def _title(column: Column) -> str:
    return escaped(f"{column.title} ({column.unit})" if column.unit else column.title)


def _headline(headline: Headline) -> str:
    figures = "\n".join(
        f"- **{escaped(key.figure.plain)}** {escaped(f'{key.label} ({key.note})' if key.note else key.label)}"
        for key in headline.figures
    )
    parts = [f"**{escaped(headline.condition)}**", figures, _line(headline.sentence)]
    return "\n\n".join(part for part in parts if part)


def _step(step: FormulaLine) -> str:
    return (
        f"- {escaped(step.label)}: {code(step.formula)} = {code(step.substituted)} = "
        f"**{escaped(step.result.plain)}** ({escaped(step.kind)}: {_text(step.source)})"
    )
