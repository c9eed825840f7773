"""What the page builders return: a file's place under ``docs/`` and its content. Nothing here knows MkDocs."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

_MARK = re.compile(r"<!-- kv:(\d+) -->")
_PLAIN_TABLE = re.compile(r"<table>")
_OPENED = '<table class="kv-table kv-table--written">'
_OPENED_TO_END = re.compile(rf"{_OPENED}.*?</table>", re.DOTALL)
_CODE = re.compile(r"(?<=<code>)[^<]+(?=</code>)")
_MARKDOWN_NEVER_ACTS_ON = frozenset(" .,:;/()-+×÷=")


@dataclass(frozen=True)
class Html:
    """A piece of a page that is HTML already, and has nothing to gain from Markdown or from the search index."""

    text: str


@dataclass(frozen=True)
class GeneratedFile:
    """A page or data file that exists only in the built site.

    Attributes:
        src_uri: Place under ``docs/``.
        content: Markdown of a page, with a mark where each fragment belongs; the whole text of a data file.
        fragments: HTML that goes in for the marks once the page is otherwise complete.
    """

    src_uri: str
    content: str
    fragments: tuple[str, ...] = ()


def page(src_uri: str, parts: Iterable[str | Html]) -> GeneratedFile:
    """Returns a page of Markdown and HTML in the order given.

    The HTML is kept aside: Markdown and the search index would each parse every table of every model.
    """
    lines: list[str] = []
    fragments: list[str] = []
    for part in parts:
        if isinstance(part, Html):
            lines.append(f"<!-- kv:{len(fragments)} -->\n")
            fragments.append(part.text)
        else:
            lines.append(part)
    return GeneratedFile(src_uri, "\n".join(lines), tuple(fragments))


def whole(html: str, fragments: Sequence[str]) -> str:
    """Returns a rendered page with its fragments in place of their marks."""
    return _MARK.sub(lambda mark: fragments[int(mark[1])], html) if fragments else html


def boxed(html: str) -> str:
    """Returns what kvcore's writer wrote in the box that gives it its looks; nothing for nothing."""
    return f'<div class="kv-document">\n{html}\n</div>' if html else ""


def anchor_of(words: str) -> str:
    """Returns the anchor of a heading or a row that is called by these words."""
    return "".join(char if char.isalnum() else "-" for char in words.lower())


def json_text(value: object) -> str:
    """Returns the text of a data file that people may read too."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def front_matter(meta: Mapping[str, object]) -> str:
    """Returns a page's meta-data block. JSON is YAML, and quotes every string for us."""
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in meta.items()]
    return "\n".join(["---", *lines, "---", ""])


def as_text(text: str) -> str:
    """Returns text for a line of Markdown: entities instead of every character that might be acted on."""
    return "".join(char if char.isalnum() or char in _MARKDOWN_NEVER_ACTS_ON else f"&#{ord(char)};" for char in text)


def reachable_tables(html: str) -> str:
    """Returns a written page's HTML with its tables as the generated ones are: in a box that scrolls and takes the focus.

    Where a column is narrow an address breaks after its slashes, not within a name.
    """
    numbers = count(1)
    opened = _PLAIN_TABLE.sub(
        lambda _: f'<div class="kv-scroll" tabindex="0" role="region" aria-label="Table {next(numbers)}">{_OPENED}',
        html,
    )
    return _OPENED_TO_END.sub(
        lambda table: _CODE.sub(lambda code: code[0].replace("/", "/<wbr>"), table[0]) + "</div>", opened
    )
