import re
from html.parser import HTMLParser

import html5lib
import pytest

from kvcore.report import to_json
from kvcore.report.document import Column, Document, Figure, Heading, Link, Paragraph, Row, Table
from kvcore.report.render import render
from kvcore.report.report import Report
from kvcore.report.writers import html
from tests.report.reports import BUDGET, HOSTILE_REPORT, REPORT


class Elements(HTMLParser):
    """Collects tags, attributes and the text of every element that shows a figure."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.figures: list[tuple[str, str, str]] = []
        self._open: tuple[str, str] | None = None
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.attributes.update(found)
        if "data-kv" in found:
            self._open = (found["data-kv"], found["value"])

    def handle_data(self, data: str) -> None:
        if self._open:
            self.figures.append((*self._open, data))
            self._open = None


def value_at(report: Report, path: str) -> object:
    found = to_json(report)
    for key in path.split("."):
        found = found[int(key)] if isinstance(found, list) else found[key]
    return found


def test_a_figure_carries_path_exact_value_and_text_apart_from_its_unit() -> None:
    written = html.write(Document((Paragraph((Figure("budget.kv_cache_bytes", BUDGET, "40.00", "GiB"),)),)))
    assert written == (
        '<p><data class="kv-figure" data-kv="budget.kv_cache_bytes" value="42949672960">40.00</data>&nbsp;'
        '<span class="kv-unit">GiB</span></p>'
    )


def test_every_figure_shown_is_the_reports_value_at_its_path() -> None:
    figures = Elements(html.write(render(REPORT))).figures
    assert len(figures) > 40
    for path, value, _ in figures:
        if not path.endswith(".substituted"):
            expected = value_at(REPORT, path)
            assert value == ("" if expected is None else str(expected)), path


def test_the_engines_token_figure_reads_as_a_grouped_number() -> None:
    figures = Elements(html.write(render(REPORT))).figures
    assert ("capacity.tokens.engine_log", "327680", "327,680") in figures


def test_headings_keep_their_anchor() -> None:
    assert html.block(Heading(2, "One request", "one-request")) == '<h2 id="one-request">One request</h2>'


def test_a_table_has_caption_scopes_and_right_aligned_numbers() -> None:
    table = Table("Sizes", (Column("Part"), Column("Bytes", "right")), (Row((("keys",), ("1,024",))),))
    written = html.block(table)
    assert "<caption><span>Sizes</span></caption>" in written
    assert '<th scope="col" class="kv-right">Bytes</th>' in written
    assert '<th scope="row">keys</th><td class="kv-right">1,024</td>' in written


def test_a_row_must_have_one_cell_per_column() -> None:
    table = Table("Sizes", (Column("Part"), Column("Bytes")), (Row((("keys",),)),))
    with pytest.raises(ValueError, match="zip"):
        html.block(table)


def test_hostile_text_becomes_no_tag() -> None:
    elements = Elements(html.write(render(HOSTILE_REPORT)))
    assert elements.tags.isdisjoint({"script", "img", "iframe", "style"})
    assert not any(name.startswith("on") for name in elements.attributes)


def test_hostile_text_cannot_leave_an_attribute() -> None:
    breaking = '"><b onclick=x>'
    table = Table(breaking, (Column("a"),), (), id=breaking)
    figure = Figure(breaking, breaking, breaking, href=breaking)
    document = Document((table, Paragraph((figure, Link("x", breaking)))))
    assert "b" not in Elements(html.write(document)).tags


def test_nothing_needs_an_inline_style_or_script() -> None:
    elements = Elements(html.write(render(REPORT)))
    assert "style" not in elements.attributes
    assert "script" not in elements.tags


def test_the_fragment_is_valid_html() -> None:
    parser = html5lib.HTMLParser(strict=True)
    parser.parse(f"<!doctype html><title>t</title><body>{html.write(render(REPORT))}</body>")


def test_every_id_is_unique() -> None:
    ids = re.findall(r'\bid="([^"]+)"', html.write(render(REPORT)))
    assert len(ids) == len(set(ids))
