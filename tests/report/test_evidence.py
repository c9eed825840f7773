from dataclasses import replace

from kvcore.report.document import Link, Table
from kvcore.report.report import Source
from kvcore.report.sections.evidence import sources
from tests.report.reports import REPORT


def references(ref: str) -> list[Link]:
    report = replace(REPORT, sources=(Source(id="x", kind="cited", ref=ref, checked="2026-11-29"),))
    (table,) = sources(report)
    assert isinstance(table, Table)
    return [item for item in table.rows[0].cells[2] if isinstance(item, Link)]


def test_a_web_address_in_a_source_is_a_link() -> None:
    assert references("config.json: https://example.org/a/config.json") == [
        Link("https://example.org/a/config.json", "https://example.org/a/config.json")
    ]


def test_a_source_of_the_catalogue_is_shown_by_the_fact_it_is_for() -> None:
    source = Source(id="model-1", kind="cited", ref="config.json: a mirror", checked="2026-11-29")
    (table,) = sources(replace(REPORT, sources=(source,)))
    assert isinstance(table, Table)
    assert table.rows[0].cells == (("config.json",), ("cited",), ("a mirror",), ("2026-11-29",))


def test_no_other_scheme_becomes_a_link() -> None:
    assert references("javascript:alert(1) http://example.org") == []
