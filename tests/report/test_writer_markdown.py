import re

import pytest
from markdown import markdown as to_html

from kvcore.report.document import Code, Column, Document, Paragraph, Row, Strong, Table
from kvcore.report.render import render
from kvcore.report.writers import markdown
from tests.report.reports import HOSTILE, HOSTILE_REPORT, REPORT


def paragraph(*content: str | Code | Strong) -> str:
    return markdown.write(Document((Paragraph(content),)))


def test_right_aligned_columns_get_a_right_aligned_rule() -> None:
    table = Table("Sizes", (Column("Part"), Column("Bytes", "right")), (Row((("keys",), ("1,024",))),))
    assert markdown.write(Document((table,))) == "Sizes\n\n| Part | Bytes |\n| :--- | ---: |\n| keys | 1,024 |\n"


@pytest.mark.parametrize("active", list("\\`*_{}[]<>#|~"))
def test_every_active_character_is_escaped(active: str) -> None:
    assert paragraph(f"a{active}b") == f"a\\{active}b\n"


@pytest.mark.parametrize("start", ["- item", "+ item", "1. item", "=== rule"])
def test_a_paragraph_never_becomes_a_list_or_a_rule(start: str) -> None:
    assert to_html(paragraph(start)).startswith("<p>")


def test_a_code_span_holds_back_ticks() -> None:
    assert paragraph(Code("a `b` c")) == "``a `b` c``\n"


def test_a_pipe_inside_code_does_not_end_the_table_cell() -> None:
    table = Table("t", (Column("a"),), (Row(((Code("x|y"),),)),))
    assert "| `x\\|y` |" in markdown.write(Document((table,)))


def test_a_line_break_in_a_name_does_not_start_a_new_block() -> None:
    assert paragraph("a\n\n# b") == "a \\# b\n"


def test_hostile_text_makes_no_tag_and_no_link() -> None:
    written = to_html(markdown.write(render(HOSTILE_REPORT)), extensions=["tables"])
    assert "<script" not in written
    assert not re.search(r"<a\s", written)


def test_hostile_text_is_still_readable() -> None:
    assert "alert(1)" in HOSTILE
    assert "alert(1)" in markdown.write(render(HOSTILE_REPORT))


def test_the_snippet_states_condition_engine_and_sentence() -> None:
    written = markdown.write(render(REPORT))
    assert written.startswith("**vLLM 0.33.0 · tp 1 · bfloat16 cache · 8,192 tokens of context")
    assert "40.00 requests of 8,192 tokens fit at once" in written
