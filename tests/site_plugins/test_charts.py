import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from kvcore.report.charts import COLOURS, concurrency
from kvcore.report.document import Chart
from site_plugins.charts.drawn import draw, themed
from site_plugins.charts.figure import chart_figure, chart_file, kept_drawings
from site_plugins.charts.library import FILES, LibraryError, chart_library
from site_plugins.csp import inline_scripts, inline_styles, style_attributes
from tests.report.test_charts import LONG, SHORT, at_length

ROOT = Path(__file__).resolve().parents[2]


def sample() -> Chart:
    chart = concurrency({"tp 1": [at_length(SHORT, requests=8.0), at_length(LONG)]})
    assert chart is not None
    return chart


def test_a_drawn_chart_takes_its_colours_from_the_page() -> None:
    svg = themed(draw(sample().spec), "Requests")
    assert 'stroke="var(--kv-tone-token)"' in svg
    assert not re.search(r"#[0-9a-f]{6}", svg)


def test_a_drawn_chart_has_a_name_and_needs_no_exception_of_the_policy() -> None:
    figure = chart_figure(sample(), draw)
    assert 'role="img" aria-label="Requests at once' in figure
    assert [*inline_scripts(figure), *inline_styles(figure), *style_attributes(figure)] == []


def test_the_table_stands_beneath_the_picture() -> None:
    assert "<summary>The same as a table</summary>" in chart_figure(sample(), draw)


def test_a_specification_is_drawn_once(tmp_path: Path) -> None:
    first = kept_drawings(tmp_path)(sample().spec)

    def unused(_: Mapping[str, object]) -> str:
        raise AssertionError

    assert kept_drawings(tmp_path)(sample().spec) == first
    assert len(list(tmp_path.iterdir())) == 1


def test_the_colours_of_charts_are_the_sites_light_ones() -> None:
    light = (ROOT / "docs/assets/css/tokens.css").read_text("utf-8").partition("@media screen")[0]
    tones = dict(re.findall(r"--kv-(?:tone-)?(\w+): (#\w+);", light))
    assert {name: tones[name] for name in COLOURS} == dict(COLOURS)


def test_a_figure_names_the_file_that_holds_its_specification() -> None:
    figure = chart_figure(sample(), draw)
    assert 'data-kv-chart="concurrency" data-kv-source="charts.json"' in figure
    assert json.loads(chart_file([sample()]))["concurrency"]["usermeta"]["variables"]


def test_the_library_is_served_from_a_folder_named_by_its_content_and_imports_nothing() -> None:
    library = chart_library(ROOT / "node_modules")
    assert re.fullmatch("[0-9a-f]{16}", library.folder)
    assert set(library.files) == {"vega.js", "vega-lite.js", "interpreter.mjs", "LICENSE.txt"}
    assert not re.search(r"^import |sourceMappingURL", library.files["interpreter.mjs"], re.MULTILINE)


def test_a_missing_library_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="npm ci"):
        chart_library(tmp_path)


def test_an_interpreter_that_imports_something_else_is_refused(tmp_path: Path) -> None:
    for place in FILES.values():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("import { other } from 'd3-array';\n")
    with pytest.raises(LibraryError, match="something else"):
        chart_library(tmp_path)
