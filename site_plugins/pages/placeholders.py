r"""Figures inside written pages: ``{{ kv NAME PATH [UNIT] }}`` becomes a figure computed when the site is built.

A page names its questions in its front matter and refers to them by name::

    ---
    kv:
      dense: {model: meta-llama/Llama-3.1-8B-Instruct, max_model_len: 8192}
    ---
    One token takes {{ kv dense layout.bytes_per_token KiB }}.

``{{ kv-section NAME ANCHOR }}`` puts in a whole section of the report, ``{{ kv-headline NAME }}`` its headline,
``{{ kv-engine NAME }}`` the engine with its version, ``{{ kv-upgrade NAME OLD NEW }}`` what going from one release of vLLM
to another does, ``{{ kv-table TABLE }}`` a table that needs no question.
A backslash in front keeps a placeholder as it is.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from kvcore.arithmetic import GB, GIB, KIB, MIB
from kvcore.errors import KvcoreError
from kvcore.report import to_json
from kvcore.report.document import Figure, Paragraph, Table
from kvcore.report.figures import grouped, scaled
from kvcore.report.render import SECTIONS, render_section
from kvcore.report.report import Report
from kvcore.report.sections import headline
from kvcore.report.sections.wording import engine_name
from kvcore.report.writers import html
from site_plugins.pages.answers import Ask
from site_plugins.pages.generated import Html, as_text, boxed
from site_plugins.versions.upgrade_blocks import upgrade_blocks

_PLACEHOLDER = re.compile(
    r"(?P<kept>\\?)\{\{\s*(?P<verb>kv(?:-section|-headline|-engine|-upgrade|-table)?)\s+(?P<words>[^{}]+?)\s*\}\}"
)
_UNITS = {"KiB": KIB, "MiB": MIB, "GiB": GIB, "GB": GB}

Tables = Mapping[str, Callable[[], Table | Html]]
"""Tables by name, and charts with theirs, made when a page asks for one."""


class PlaceholderError(ValueError):
    """A placeholder names a question, a path or a unit that does not exist. The message says which and what does."""


def fill(
    markdown: str,
    questions: Mapping[str, Mapping[str, object]],
    ask: Ask,
    tables: Tables = MappingProxyType({}),
) -> str:
    """Returns a page's Markdown with every placeholder replaced.

    Args:
        markdown: The page as written.
        questions: Requests by name, from the page's front matter.
        ask: Answers a request.
        tables: Tables by name, made when a page asks for one.

    Raises:
        PlaceholderError: A placeholder that cannot be filled; a page never shows a gap or a stale figure.
    """

    def replaced(match: re.Match[str]) -> str:
        if match["kept"]:
            return match[0][1:]
        name, *words = match["words"].split()
        if match["verb"] == "kv-table":
            return _table(match, name, tables)
        if name not in questions:
            raise PlaceholderError(f"{match[0]}: no question {name!r}; the page's kv block has {sorted(questions)}")
        if match["verb"] == "kv-upgrade":
            return _upgrade(match, questions[name], words)
        report = ask(questions[name])
        if report.errors:
            raise PlaceholderError(f"{match[0]}: {report.errors[0].message}")
        return _written(match, report, words)

    return _PLACEHOLDER.sub(replaced, markdown)


def _table(match: re.Match[str], name: str, tables: Tables) -> str:
    if name not in tables:
        raise PlaceholderError(f"{match[0]}: no table {name!r}; there are {sorted(tables)}")
    found = tables[name]()
    written = found.text if isinstance(found, Html) else html.block(found)
    return boxed(written)


def _upgrade(match: re.Match[str], question: Mapping[str, object], words: list[str]) -> str:
    if len(words) != 2:
        raise PlaceholderError(f"{match[0]}: expected kv-upgrade NAME OLD NEW")
    try:
        found = upgrade_blocks(question, *words)
    except KvcoreError as error:
        raise PlaceholderError(f"{match[0]}: {error}") from error
    return boxed(html.blocks(found))


def _written(match: re.Match[str], report: Report, words: list[str]) -> str:
    match match["verb"], words:
        case "kv", [path]:
            return _inline(match, report, path, "")
        case "kv", [path, unit] if unit in _UNITS:
            return _inline(match, report, path, unit)
        case "kv-section", [anchor] if anchor in SECTIONS:
            return boxed(html.blocks(render_section(report, anchor)))
        case "kv-headline", []:
            return boxed(html.blocks(headline.headline(report)))
        case "kv-engine", []:
            return as_text(engine_name(report))
        case _:
            units, anchors = "|".join(_UNITS), "|".join(SECTIONS)
            rule = f"kv NAME PATH [{units}], kv-section NAME {anchors}, kv-headline NAME or kv-engine NAME"
            raise PlaceholderError(f"{match[0]}: expected {rule}")


def _inline(match: re.Match[str], report: Report, path: str, unit: str) -> str:
    value = value_at(to_json(report), path)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise PlaceholderError(f"{match[0]}: {path} holds {value!r}, not a number or a text")
    if isinstance(value, str):
        return as_text(value)
    if unit:
        figure = Figure(path, value, scaled(int(value), _UNITS[unit]), unit)
    else:
        figure = Figure(path, value, grouped(value) if isinstance(value, int) else f"{value:,.2f}")
    return html.inline(Paragraph((figure,)).content)


def value_at(report: object, path: str) -> object:
    """Returns the value at a dotted path of a report in JSON form.

    Raises:
        PlaceholderError: The path does not exist; the message lists the keys at the place where it breaks.
    """
    found = report
    for key in path.split("."):
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        else:
            known = sorted(found) if isinstance(found, Mapping) else f"{type(found).__name__}"
            raise PlaceholderError(f"no {key!r} of {path} in the report; there: {known}")
    return found
