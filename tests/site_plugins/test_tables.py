from dataclasses import replace
from pathlib import Path

import pytest

from kvcore.catalog import load_gpus
from kvcore.report.document import Link, plain
from kvcore.report.figures import UNKNOWN
from site_plugins.pages.fleet import on_every_gpu
from site_plugins.pages.home_table import ASKED_FOR, home_table
from site_plugins.pages.placeholders import PlaceholderError, fill
from site_plugins.pages.scenarios import HEADLINE_CONTEXT
from site_plugins.pages.summary import summarise
from site_plugins.pages.tables import architecture_table, calculator_table, gpu_source_table, gpu_table
from site_plugins.published.places import CALCULATORS
from tests.site_plugins.test_pages_model import ENTRY, ask, many

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_gpu_of_the_catalogue_has_a_row_with_both_units() -> None:
    rows = {plain(row.cells[0]): [plain(cell) for cell in row.cells] for row in gpu_table().rows}
    assert set(rows) == {gpu.name for gpu in load_gpus()}
    # 150,109,106,995 bytes: 139.80 x 2^30, 150.11 x 10^9.
    assert rows["H200"][1:4] == ["141", "139.80", "150.11"]


def test_an_architecture_lists_its_models_with_their_proof() -> None:
    (row,) = architecture_table([(ENTRY, summarise(ENTRY, ask))]).rows
    name, _, *others = map(plain, row.cells)
    assert name == "not stated"
    assert others == ["1", ENTRY.title, "engine code"]


def test_the_home_page_lists_the_known_models_that_are_built_with_links_to_their_pages() -> None:
    known = replace(ENTRY, id=ASKED_FOR[0])
    eight = 8 * 2.0  # of the sample, two requests at once for each card
    summary = replace(summarise(known, ask, many), on_gpus=on_every_gpu(known.id, HEADLINE_CONTEXT, many))
    table = home_table([(ENTRY, summarise(ENTRY, ask, many)), (known, summary)])
    (row,) = table.rows
    assert row.cells[0] == (Link(known.title, f"models/{known.id}/"),)
    assert plain(row.cells[1]) == f"{eight:.2f}"
    assert plain(row.cells[2]) == "128.00"  # 131,072 bytes


def test_every_measured_calculator_has_a_figure_for_every_model() -> None:
    table = calculator_table(DOCS / CALCULATORS)
    assert len(table.rows) == 8
    assert {len(row.cells) for row in table.rows} == {len(table.columns)}


def test_a_page_names_a_table() -> None:
    assert "<table" in fill("{{ kv-table gpus }}", {}, ask, {"gpus": gpu_table})


def test_a_table_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(PlaceholderError, match=r"no table 'cars'; there are \['gpus'\]"):
        fill("{{ kv-table cars }}", {}, ask, {"gpus": gpu_table})


def test_every_total_of_a_gpu_comes_with_its_names_its_spread_and_its_logs() -> None:
    rows = {plain(row.cells[0]): [plain(cell) for cell in row.cells] for row in gpu_source_table().rows}
    assert set(rows) == {gpu.name for gpu in load_gpus()}
    for gpu in load_gpus():
        _, names, _, seen, sources = rows[gpu.name]
        assert names == ", ".join(gpu.aliases)
        assert sources == ("; ".join(gpu.sources) or UNKNOWN)
        if gpu.seen_gib:
            assert seen.split(" – ") == list(dict.fromkeys(f"{end(gpu.seen_gib):.2f}" for end in (min, max)))
