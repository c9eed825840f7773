import csv
import io

from kvcore.report.document import Column, Details, Document, Figure, Paragraph, Row, Table
from kvcore.report.render import render
from kvcore.report.writers import csv as writer
from tests.report.reports import HOSTILE_REPORT, REPORT

TABLE = Table(
    "Sizes", (Column("Part"), Column("Bytes", "right", "GPU")), (Row((("keys",), (Figure("p", 2048, "2,048"),))),)
)


def test_a_table_becomes_caption_titles_and_rows_with_exact_values() -> None:
    assert writer.write(Document((TABLE,))) == "Sizes\nPart,Bytes (GPU)\nkeys,2048\n"


def test_tables_are_parted_by_an_empty_line() -> None:
    assert writer.write(Document((TABLE, TABLE))).count("\n\n") == 1


def test_folded_tables_are_written_and_prose_is_not() -> None:
    folded = Document((Paragraph(("prose",)), Details("inputs", lambda: (TABLE,))))
    assert writer.write(folded) == writer.write(Document((TABLE,)))


def test_a_cell_that_a_spreadsheet_would_evaluate_is_made_text() -> None:
    table = Table("t", (Column("a"),), (Row((("=HYPERLINK(1)",),)),))
    assert "'=HYPERLINK(1)" in writer.write(Document((table,)))


def test_a_report_reads_back_with_its_bytes() -> None:
    rows = list(csv.reader(io.StringIO(writer.write(render(REPORT)))))
    assert ["bytes per token, all layers", "131072"] in rows


def test_hostile_names_stay_in_their_cells() -> None:
    rows = list(csv.reader(io.StringIO(writer.write(render(HOSTILE_REPORT)))))
    assert any("<script>" in cell for row in rows for cell in row)
