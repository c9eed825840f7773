"""Document to escaped HTML: the one renderer of the built pages and of the browser.

Every string is escaped, every shown figure is a ``<data data-kv="report path" value="exact value">``, and nothing
needs an inline style or script, so a strict Content-Security-Policy holds.
"""

from collections.abc import Iterable, Sequence

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
    Row,
    Shares,
    Strong,
    Table,
    Text,
)
from kvcore.report.writers import picture
from kvcore.report.writers.escaping import escape

_NOTE_ROLE = {"info": "note", "warning": "note", "error": "alert"}


def write(document: Document) -> str:
    """Returns the document as an HTML fragment without ``<html>`` or ``<body>``."""
    return blocks(document.blocks)


def blocks(items: Iterable[Block]) -> str:
    """Returns a run of blocks as HTML; neighbouring steps of a derivation share one list."""
    lines: list[str] = []
    in_steps = False
    for item in items:
        is_step = isinstance(item, FormulaLine)
        if is_step != in_steps:
            lines.append('<ol class="kv-steps">' if is_step else "</ol>")
            in_steps = is_step
        lines.append(block(item))
    if in_steps:
        lines.append("</ol>")
    return "\n".join(lines)


def top_blocks(document: Document) -> list[str]:
    """Returns each block of a document as HTML: one element each, so that a page can tell which ones changed."""
    return [block(item) for item in document.blocks]


def unfolded_blocks(document: Document) -> list[str]:
    """As :func:`top_blocks`, but empty where something is folded: marked, so that a page asks for it."""
    return [_details(item, "") if isinstance(item, Details) else block(item) for item in document.blocks]


def block(item: Block) -> str:  # noqa: PLR0911 - one case per kind of block
    """Returns one block as HTML."""
    match item:
        case Heading(level, text, anchor):
            return f'<h{level} id="{escape(anchor)}">{escape(text)}</h{level}>'
        case Paragraph(content):
            return f"<p>{inline(content)}</p>"
        case Table():
            return _table(item)
        case Note(kind, content):
            return f'<div class="kv-note kv-note--{kind}" role="{_NOTE_ROLE[kind]}"><p>{inline(content)}</p></div>'
        case Headline():
            return _headline(item)
        case FormulaLine():
            return _step(item)
        case Shares(title, segments, name):
            figures = [_figure(segment.figure) for segment in segments]
            return picture.shares(title, segments, figures, name, chart_tools() if name else "")
        case Layers(title, cells):
            return picture.layers(title, cells)
        case Details():
            return _details(item, f"\n{blocks(item.blocks)}\n")
        case Chart():
            return chart_figure(item)


def chart_figure(chart: Chart, drawn: str = "", source: str = "") -> str:
    """Returns a chart as a figure: its picture, what can be done with it, and the table that says the same.

    Args:
        chart: The chart.
        drawn: The picture as SVG; empty where the page draws it.
        source: Address of a file with the specification, by the chart's name; empty where the page has it.
    """
    title, name = escape(chart.title), escape(chart.name)
    place = f' data-kv-source="{escape(source)}"' if source else ""
    return (
        f'<figure class="kv-chart" data-kv-chart="{name}"{place}><figcaption>{title}</figcaption>'
        f'<div class="kv-scroll" data-kv-part="picture" tabindex="0" role="region" aria-label="{title}, picture">'
        f"{drawn}</div>{chart_tools()}"
        f'<details class="kv-details"{"" if drawn else " open"}><summary>The same as a table</summary>\n'
        f"{_table(chart.table)}\n</details></figure>"
    )


def chart_tools() -> str:
    """Returns the buttons of a chart; a page without scripts does not show them."""
    buttons = "".join(
        f'<button type="button" class="kv-button" data-kv-draw="{action}">{label}</button> '
        for action, label in (("explore", "Explore"), ("svg", "SVG"), ("png", "PNG"))
    )
    return f'<p class="kv-chart__tools">{buttons}<span role="status"></span></p>'


def inline(content: Text) -> str:
    """Returns inline content as HTML."""
    return _inline(content[0]) if len(content) == 1 else "".join([_inline(item) for item in content])


def _inline(item: Inline) -> str:
    match item:
        case str():
            return escape(item)
        case Figure():
            return _figure(item)
        case Code(text):
            return f"<code>{escape(text)}</code>"
        case Strong(text):
            return f"<strong>{escape(text)}</strong>"
        case Link(text, href):
            return f'<a href="{escape(href)}">{escape(text)}</a>'


def _figure(figure: Figure) -> str:
    """A figure with its report path and exact value; the unit stands outside, so the element's text is the number."""
    value = "" if figure.value is None else escape(str(figure.value))
    number = f'<data class="kv-figure" data-kv="{escape(figure.path)}" value="{value}">{escape(figure.text)}</data>'
    if figure.href:
        number = f'<a href="{escape(figure.href)}">{number}</a>'
    # A number and its unit stay on one line.
    return f'{number}&nbsp;<span class="kv-unit">{escape(figure.unit)}</span>' if figure.unit else number


def _details(details: Details, inner: str) -> str:
    anchor = f' id="{escape(details.id)}"' if details.id else ""
    mark = "" if inner else " data-kv-folded"
    return f'<details class="kv-details"{anchor}{mark}><summary>{escape(details.summary)}</summary>{inner}</details>'


def _table(table: Table) -> str:
    head = "".join(
        f'<th scope="col"{_align(column.align)}>{escape(column.title)}'
        + (f' <span class="kv-unit">{escape(column.unit)}</span>' if column.unit else "")
        + "</th>"
        for column in table.columns
    )
    tags = [_tags(index, column) for index, column in enumerate(table.columns)]
    rows = "\n".join([_row(tags, row) for row in table.rows])
    anchor = f' id="{escape(table.id)}"' if table.id else ""
    # The scrolling box takes the focus, so that a keyboard can reach the columns a narrow screen hides.
    return (
        f'<div class="kv-scroll" tabindex="0" role="region" aria-label="{escape(table.caption)}">'
        f'<table class="kv-table"{anchor}><caption><span>{escape(table.caption)}</span></caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _tags(index: int, column: Column) -> tuple[str, str]:
    """What stands around the cells of a column; the first one names the rows."""
    tag, scope = ("th", ' scope="row"') if index == 0 else ("td", "")
    return f"<{tag}{scope}{_align(column.align)}>", f"</{tag}>"


def _row(tags: Sequence[tuple[str, str]], row: Row) -> str:
    kinds = [*(["kv-total"] if row.total else []), *([f"kv-tone kv-tone--{row.tone}"] if row.tone else [])]
    cells = "".join([f"{start}{inline(cell)}{end}" for (start, end), cell in zip(tags, row.cells, strict=True)])
    anchor = f' id="{escape(row.id)}"' if row.id else ""
    mark = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<tr{anchor}{mark}>{cells}</tr>"


def _align(align: str) -> str:
    return ' class="kv-right"' if align == "right" else ""


def _headline(headline: Headline) -> str:
    figures = "".join(
        f'<div class="kv-key"><dd>{_figure(key.figure)}</dd><dt>{escape(key.label)}'
        + (f'<span class="kv-key-note">{escape(key.note)}</span>' if key.note else "")
        + "</dt></div>"
        for key in headline.figures
    )
    listed = f'<dl class="kv-keys">{figures}</dl>' if figures else ""
    return (
        f'<section class="kv-headline kv-headline--{headline.kind}" aria-label="Answer">'
        f'<p class="kv-condition">{escape(headline.condition)}</p>{listed}'
        f'<p class="kv-sentence">{inline(headline.sentence)}</p></section>'
    )


def _step(step: FormulaLine) -> str:
    return (
        f'<li class="kv-step" id="{escape(step.id)}"><span class="kv-step-label">'
        f'<a class="kv-step-link" href="#{escape(step.id)}">{escape(step.label)}</a></span>'
        f'<code class="kv-formula">{escape(step.formula)}</code>'
        f'<code class="kv-substituted">= {escape(step.substituted)}</code>'
        f'<span class="kv-result">= {_figure(step.result)}</span>'
        f'<span class="kv-source">{escape(step.kind)} · {inline(step.source)}</span></li>'
    )
