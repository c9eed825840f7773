"""The document: what a person reads, as a small frozen tree that three writers turn into text, Markdown or HTML.

Nothing in the tree is markup. A string is always text, so a writer that escapes strings cannot be made to emit a
tag, a link or a terminal code by what a user typed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Align = Literal["left", "right"]
Tone = Literal[
    "token", "latent", "indexer", "window", "state", "neutral", "weights", "activation", "graphs", "outside", "system"
]
"""The five kinds of cached tensor, each with one colour everywhere, ``neutral``, and the terms of a GPU's memory."""


@dataclass(frozen=True)
class Figure:
    """One number as shown, tied to the report value it shows.

    Attributes:
        path: Dotted key of the value in the report (``capacity.tokens.engine_log``); list items by index.
        value: The value itself as the report's JSON has it, whatever the precision shown.
        text: The number as shown, grouped and rounded for reading.
        unit: Unit of ``text``; empty only where the surrounding words name it.
        href: Address of the question this number answers, where it is not the page's own.
    """

    path: str
    value: int | float | str | None
    text: str
    unit: str = ""
    href: str = ""

    @property
    def plain(self) -> str:
        """Number and unit as one string."""
        return f"{self.text} {self.unit}" if self.unit else self.text


@dataclass(frozen=True)
class Code:
    """A formula, flag, symbol or line of a log."""

    text: str


@dataclass(frozen=True)
class Strong:
    """Words that carry the sentence."""

    text: str


@dataclass(frozen=True)
class Link:
    """A link whose address our own code made; never built from a user's text."""

    text: str
    href: str


Inline = str | Figure | Code | Strong | Link
Text = tuple[Inline, ...]


@dataclass(frozen=True)
class Heading:
    """A section title. ``id`` is the stable anchor; it never depends on the title's wording."""

    level: int
    text: str
    id: str


@dataclass(frozen=True)
class Paragraph:
    """One paragraph."""

    content: Text


@dataclass(frozen=True)
class Column:
    """A table column. ``unit`` stands under the title, so cells need not repeat it.

    ``wide`` marks a column that a terminal leaves out, because its text would break every line of the table.
    """

    title: str
    align: Align = "left"
    unit: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Row:
    """A table row; ``tone`` marks the part it belongs to, ``total`` sets it apart as a sum, ``id`` is its anchor."""

    cells: tuple[Text, ...]
    tone: Tone | None = None
    total: bool = False
    id: str = ""


@dataclass(frozen=True)
class Table:
    """A table. The caption says what the numbers are and under which condition they hold."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    id: str = ""


@dataclass(frozen=True)
class Note:
    """A remark set apart from the text: ``info``, ``warning`` or ``error``."""

    kind: Literal["info", "warning", "error"]
    content: Text


@dataclass(frozen=True)
class KeyFigure:
    """One of the few figures of a headline: the number, what it counts, and its condition in small print."""

    figure: Figure
    label: str
    note: str = ""


@dataclass(frozen=True)
class Headline:
    """The answer in one box: the condition first, then the figures that answer, then the sentence to quote."""

    condition: str
    figures: tuple[KeyFigure, ...]
    sentence: Text
    kind: Literal["answer", "refusal"] = "answer"


@dataclass(frozen=True)
class FormulaLine:
    """One step of the derivation: formula, the same with this deployment's values, result."""

    id: str
    label: str
    formula: str
    substituted: str
    result: Figure
    source: Text
    kind: str


@dataclass(frozen=True)
class Segment:
    """One share of a whole: a part's bytes, a term of the budget. ``weight`` sets its length in the picture."""

    label: str
    tone: Tone
    weight: int
    figure: Figure


@dataclass(frozen=True)
class Shares:
    """A bar split into shares, with a legend that says the same in words; ``title`` says of what.

    ``chart`` is the name of the chart that shows more of the same, where there is one.
    """

    title: str
    segments: tuple[Segment, ...]
    chart: str = ""


@dataclass(frozen=True)
class Layers:
    """A picture of a model's layers from first to last, one cell per layer, toned by what the layer caches.

    A layer that caches two parts (a latent and an index key, say) has two tones.
    """

    title: str
    cells: tuple[tuple[Tone, ...], ...]


@dataclass(frozen=True)
class Details:
    """Blocks folded under a summary; writers that cannot fold print them in full.

    ``inside`` makes the blocks when they are wanted: most answers in a browser are read with everything folded.
    """

    summary: str
    inside: Callable[[], tuple["Block", ...]]
    id: str = ""

    @property
    def blocks(self) -> tuple["Block", ...]:
        """What is folded."""
        return self.inside()


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification made by kvcore, always with the table that says the same; ``name`` is its name on a page."""

    title: str
    spec: Mapping[str, object] = field(hash=False)
    table: Table
    name: str = ""


Block = Heading | Paragraph | Table | Note | Headline | FormulaLine | Shares | Layers | Details | Chart


@dataclass(frozen=True)
class Document:
    """A complete answer in reading order."""

    blocks: tuple[Block, ...]


def plain(content: Text) -> str:
    """Returns inline content as bare text."""
    return "".join(_plain_inline(item) for item in content)


def _plain_inline(item: Inline) -> str:
    match item:
        case str():
            return item
        case Figure():
            return item.plain
        case Code() | Strong() | Link():
            return item.text
