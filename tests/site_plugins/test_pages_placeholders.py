from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from kvcore.errors import FieldError
from kvcore.report.report import Report
from site_plugins.pages.answers import Answers
from site_plugins.pages.generated import reachable_tables
from site_plugins.pages.placeholders import PlaceholderError, fill
from tests.report.reports import HOSTILE_REPORT, REPORT

QUESTIONS: Mapping[str, Mapping[str, object]] = {"dense": {"model": "example/dense-8b"}}


def always(report: Report) -> Answers:
    return Answers(lambda _request, _sections=None: report)


def filled(markdown: str, report: Report = REPORT) -> str:
    return fill(markdown, QUESTIONS, always(report))


def test_a_whole_number_is_grouped_and_keeps_its_path() -> None:
    assert filled("{{ kv dense capacity.tokens.engine_log }} tokens") == (
        '<data class="kv-figure" data-kv="capacity.tokens.engine_log" value="327680">327,680</data> tokens'
    )


def test_a_unit_scales_bytes_and_is_shown() -> None:
    assert ">40.00</data>" in filled("{{ kv dense budget.kv_cache_bytes GiB }}")
    assert '<span class="kv-unit">GB</span>' in filled("{{ kv dense budget.kv_cache_bytes GB }}")


def test_a_placeholder_may_be_broken_over_lines() -> None:
    assert ">40.00</data>" in filled("{{ kv dense\nbudget.kv_cache_bytes GiB }}")


def test_a_backslash_keeps_a_placeholder_as_written() -> None:
    assert filled("\\{{ kv dense model }}") == "{{ kv dense model }}"


def test_a_section_is_written_by_kvcores_own_writer() -> None:
    assert '<table class="kv-table" id="request-split">' in filled("{{ kv-section dense one-request }}")


def test_a_headline_is_written_whole() -> None:
    assert 'class="kv-headline kv-headline--answer"' in filled("{{ kv-headline dense }}")


def test_the_engine_is_named_with_its_version() -> None:
    assert filled("{{ kv-engine dense }}") == "vLLM 0.33.0"


def test_text_from_a_report_is_escaped() -> None:
    assert "<script" not in filled("{{ kv dense model }}", replace(HOSTILE_REPORT, errors=()))


@pytest.mark.parametrize(
    ("placeholder", "message"),
    [
        ("{{ kv other model }}", "no question 'other'"),
        ("{{ kv dense capacity.tokens.engine }}", "no 'engine' of capacity.tokens.engine"),
        ("{{ kv dense layout.parts.7.layers }}", "no '7'"),
        ("{{ kv dense budget.kv_cache_bytes TiB }}", "expected kv NAME PATH"),
        ("{{ kv dense capacity.fits }}", "not a number or a text"),
        ("{{ kv-section dense nowhere }}", "expected kv NAME PATH"),
    ],
)
def test_a_placeholder_that_cannot_be_filled_stops_the_build(placeholder: str, message: str) -> None:
    with pytest.raises(PlaceholderError, match=message):
        filled(placeholder)


def test_a_question_that_kvcore_refuses_stops_the_build() -> None:
    refused = replace(REPORT, errors=(FieldError("model", "x", "unknown", "Choose one."),))
    with pytest.raises(PlaceholderError, match="unknown"):
        filled("{{ kv dense model }}", refused)


def test_each_question_is_asked_once() -> None:
    asked: list[object] = []

    def ask(request: Mapping[str, object], _sections: object = None, /) -> Report:
        asked.append(request)
        return REPORT

    fill("{{ kv dense model }} {{ kv dense model }}", QUESTIONS, Answers(ask))
    assert len(asked) == 1


def test_the_tables_of_a_written_page_can_be_scrolled_with_a_keyboard() -> None:
    assert reachable_tables("<table><tr></tr></table> <table class='kv-table'></table>") == (
        '<div class="kv-scroll" tabindex="0" role="region" aria-label="Table 1">'
        "<table class=\"kv-table kv-table--written\"><tr></tr></table></div> <table class='kv-table'></table>"
    )


def test_a_whole_answer_is_kept_for_questions_about_its_sections_and_not_the_other_way_round() -> None:
    asked: list[object] = []

    def ask(_: Mapping[str, object], sections: Collection[str] | None = None, /) -> Report:
        asked.append(sections)
        return REPORT

    answers = Answers(ask)
    for sections in (("capacity",), ("capacity",), None, ("request",), None):
        answers({"model": "example/dense-8b"}, sections)
    assert asked == [("capacity",), None]


def test_an_address_in_a_written_table_breaks_after_its_slashes_alone() -> None:
    written = reachable_tables("<code>a/b</code><table><td><code>data/v1/x.json</code> a/b</td></table>")
    assert "<td><code>data/<wbr>v1/<wbr>x.json</code> a/b</td>" in written
    assert written.startswith("<code>a/b</code>")
