from kvcore.report.document import Column, Document, Figure, FormulaLine, Heading, Note, Row, Table
from kvcore.report.render import render
from kvcore.report.writers import text
from tests.report.reports import HOSTILE_REPORT, REPORT

TABLE = Table(
    "Sizes",
    (Column("Part"), Column("Bytes", "right", "GPU")),
    (Row((("keys",), ("1,024",))), Row((("all parts",), ("2,048,000",)), total=True)),
)


def test_numbers_stand_right_aligned_under_their_title() -> None:
    lines = text.write(Document((TABLE,))).splitlines()
    assert lines == [
        "Sizes",
        "  Part        Bytes (GPU)",
        "  -----------------------",
        "  keys              1,024",
        "  -----------------------",
        "  all parts     2,048,000",
    ]


def test_a_heading_is_underlined() -> None:
    assert text.write(Document((Heading(2, "Layout", "layout"),))) == "Layout\n------\n"


def test_a_warning_says_that_it_is_one() -> None:
    assert text.write(Document((Note("warning", ("too long",)),))) == "warning: too long\n"


def test_a_step_shows_formula_values_and_result_on_lines_of_their_own() -> None:
    step = FormulaLine(
        "step", "entry", "2 × heads", "2 × 8", Figure("p", 16, "16", "bytes"), ("vLLM 0.33.0",), "pinned"
    )
    assert text.write(Document((step,))).splitlines() == [
        "  entry",
        "    2 × heads",
        "    = 2 × 8",
        "    = 16 bytes   [pinned: vLLM 0.33.0]",
    ]


def test_terminal_codes_in_a_name_do_not_reach_the_terminal() -> None:
    written = text.write(render(HOSTILE_REPORT))
    assert "\x1b" not in written
    assert all(character.isprintable() or character == "\n" for character in written)


def test_the_report_gives_gib_and_exact_bytes() -> None:
    written = text.write(render(REPORT))
    assert "40.00 GiB" in written
    assert "42,949,672,960" in written


def test_no_line_ends_in_blanks() -> None:
    assert all(line == line.rstrip() for line in text.write(render(REPORT)).splitlines())


def test_a_wide_column_is_left_out() -> None:
    table = Table("t", (Column("Part"), Column("Rule", wide=True)), (Row((("keys",), ("a long sentence",))),))
    assert "sentence" not in text.write(Document((table,)))
