import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from kvcore.arithmetic import GIB
from kvcore.engines.vllm.profile_table import PROFILES, V0_19_0, V0_25_0, V0_26_0, V0_27_0
from kvcore.engines.vllm.switches import SWITCHES
from kvcore.engines.vllm.upgrade import Figures, Upgrade, upgrade
from kvcore.report.document import Code, Details, Figure, Link, Note, Row, Strong, Table, plain
from kvcore.report.writers import html
from kvcore.request import parse_request
from site_plugins.pages.answers import Answers
from site_plugins.pages.placeholders import PlaceholderError, fill
from site_plugins.versions.switch_tables import change_table, meaning_table, release_table
from site_plugins.versions.upgrade_blocks import SAME, upgrade_blocks, upgrade_table

PAGE = Path(__file__).resolve().parents[2] / "docs/versions.md"
BY_FIELD = {switch.field: switch for switch in SWITCHES}
TABLES = {"releases": release_table, "switches": meaning_table, "changes": change_table}

DENSE: Mapping[str, object] = {
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "max_model_len": 32768,
    "kv_cache_memory_bytes": 40 * GIB,
}
WINDOW: Mapping[str, object] = {**DENSE, "model": "google/gemma-3-27b-it"}


def texts(row: Row) -> list[str]:
    return [plain(cell) for cell in row.cells]


def upgrade_of(request: Mapping[str, object]) -> Table:
    return upgrade_table(request, upgrade(parse_request(request), "0.19.1", "0.33.0"))


def test_every_release_has_a_column_and_every_switch_a_row() -> None:
    table = release_table()
    assert [column.title for column in table.columns[1:]] == [profile.version for profile in reversed(PROFILES)]
    assert [plain(row.cells[0]) for row in table.rows] == [switch.label for switch in SWITCHES]


def test_a_value_is_bold_in_the_release_that_changed_it_only() -> None:
    (row,) = release_table((V0_25_0, V0_26_0, V0_27_0), (BY_FIELD["in_flight_window"],)).rows
    assert row.cells[1:] == (("yes",), (Strong("yes"),), ("no",))


def test_numbers_stand_for_themselves_and_sentences_have_letters() -> None:
    switches = (BY_FIELD["gpu_memory_utilization"], BY_FIELD["hybrid_granularity"])
    share, granularity = release_table((V0_19_0, V0_26_0, V0_27_0), switches).rows
    assert texts(share)[1:] == ["0.92", "0.92", "0.9"]
    assert texts(granularity)[1:] == ["c", "b", "a"]


def test_a_meaning_names_its_source_and_the_release_each_value_began_with() -> None:
    (row,) = meaning_table((V0_19_0, V0_25_0, V0_26_0, V0_27_0), (BY_FIELD["in_flight_window"],)).rows
    assert texts(row)[1] == "0.19.0: no · 0.26.0: yes"
    assert row.cells[2] == (Code("SlidingWindowSpec.max_memory_usage_bytes"),)


def test_a_letter_is_explained_where_the_switch_is() -> None:
    (row,) = meaning_table((V0_26_0, V0_27_0), (BY_FIELD["hybrid_granularity"],)).rows
    assert Strong("b") in row.cells[1]
    assert "0.27.0: b the kernel block" in texts(row)[1]


def test_a_release_lists_what_it_changed() -> None:
    (row,) = change_table((V0_25_0, V0_26_0)).rows
    release, changed = texts(row)
    assert release == "0.26.0"
    assert changed.split(" · ") == [
        "Prefix caching is on by default for models with states: no → yes",
        "Windows and chunks keep the tokens of every batch in flight: no → yes",
    ]


def test_the_newest_change_comes_first() -> None:
    assert [plain(row.cells[0]) for row in change_table((V0_25_0, V0_26_0, V0_27_0)).rows] == ["0.27.0", "0.26.0"]


def test_a_release_that_changed_nothing_says_so() -> None:
    (row,) = change_table((V0_26_0, replace(V0_26_0, version="0.26.1"))).rows
    assert texts(row) == ["0.26.1", "nothing that a figure depends on"]


def test_an_upgrade_shows_each_effective_switch_between_the_two_releases() -> None:
    rows = upgrade_of(WINDOW).rows
    assert [texts(row)[0].split(":")[0] for row in rows] == [
        "vLLM 0.19.1",
        BY_FIELD["in_flight_window"].label,
        BY_FIELD["printed_tokens"].label,
        "vLLM 0.33.0",
    ]


def test_a_switch_shows_figures_before_and_after_it_and_leaves_the_others() -> None:
    # Gemma 3 27B: 52 window layers in 6 groups of at most 10, the 10 layers of full attention in one; blocks of 16 tokens.
    block, window_groups, full = 16, 6, 32768 // 16
    window, batch = 1024, 8192
    # ceil((1,023 + 8,192) / 16) = 576, and ceil((1,023 + 16,384) / 16) = 1,088; one more each.
    one_batch = window_groups * (-(-(window - 1 + batch) // block) + 1) + full
    every_batch = window_groups * (-(-(window - 1 + 2 * batch) // block) + 1) + full
    table = upgrade_of(WINDOW)
    cells = dict(zip([column.title for column in table.columns], texts(table.rows[1]), strict=True))
    assert cells["One request"] == f"{one_batch:,} → {every_batch:,}"
    assert cells["Pool"] == SAME


def test_a_column_without_a_change_is_left_out_unless_it_is_what_the_log_prints() -> None:
    assert [column.title for column in upgrade_of(DENSE).columns[1:]] == [
        "Concurrency",
        "GPU KV cache size",
        "Pool",
    ]


def test_every_figure_has_a_unit_and_says_where_the_command_prints_it() -> None:
    table = upgrade_of(WINDOW)
    assert all(column.unit for column in table.columns[1:])
    paths = [item.path for row in table.rows for cell in row.cells for item in cell if isinstance(item, Figure)]
    assert paths
    assert all(re.fullmatch(r"(changes\.\d+\.)?(before|after)\.[a-z_]+", path) for path in paths)


def test_the_releases_open_the_calculator_with_the_same_question() -> None:
    (link,) = upgrade_of(DENSE).rows[0].cells[0]
    assert isinstance(link, Link)
    assert link.href.startswith("../calculator/?model=meta-llama")
    assert link.href.endswith(f"kv_cache_memory_bytes={40 * GIB}&engine_version=0.19.1")


def test_the_caption_says_what_was_asked() -> None:
    assert upgrade_of(DENSE).caption == (
        "vLLM 0.19.1 → 0.33.0: meta-llama/Llama-3.1-8B-Instruct, max_model_len 32,768, 40.00 GiB of cache on each GPU"
    )


def test_switches_without_effect_are_listed_apart() -> None:
    _, idle = upgrade_blocks(DENSE, "0.25.0", "0.26.0")
    assert isinstance(idle, Details)
    assert idle.summary == "2 of 2 switches that differ between the two change nothing here"


def test_a_release_that_is_newer_than_all_says_whose_figures_these_are() -> None:
    note, *_ = upgrade_blocks(DENSE, "0.33.0", "9.0.0")
    assert isinstance(note, Note)
    assert "newer than kvcore" in plain(note.content)


def test_a_refused_deployment_shows_no_figures() -> None:
    refused = Figures(fits=False, refusal="pages differ")
    found = Upgrade(from_version="1", to_version="2", before=refused, after=refused, changes=(), notes=())
    assert texts(upgrade_table(DENSE, found).rows[0])[1:] == ["–", "–", "–"]


def test_a_page_asks_for_an_upgrade_by_name() -> None:
    written = fill("{{ kv-upgrade dense 0.19.1 0.33.0 }}", {"dense": DENSE}, Answers())
    assert "vLLM 0.19.1 → 0.33.0: meta-llama" in written


@pytest.mark.parametrize(
    ("placeholder", "message"),
    [
        ("{{ kv-upgrade dense 0.19.1 }}", "expected kv-upgrade NAME OLD NEW"),
        ("{{ kv-upgrade dense 0.19.1 new }}", "engine_version"),
        ("{{ kv-upgrade other 0.19.1 0.33.0 }}", "no question 'other'"),
    ],
)
def test_an_upgrade_that_cannot_be_worked_out_stops_the_build(placeholder: str, message: str) -> None:
    with pytest.raises(PlaceholderError, match=message):
        fill(placeholder, {"dense": DENSE}, Answers())


def test_every_link_to_a_switch_on_the_page_has_its_target() -> None:
    markdown = PAGE.read_text("utf-8")
    written = fill(markdown, yaml.safe_load(markdown.split("---")[1])["kv"], Answers(), TABLES)
    targets = set(re.findall(r'id="(switch-\w+)"', written))
    assert targets == {f"switch-{switch.field}" for switch in SWITCHES}
    assert set(re.findall(r'href="#(switch-\w+)"', written)) == targets


def test_the_page_types_no_figure() -> None:
    body = PAGE.read_text("utf-8").split("---", 2)[2]
    prose = re.sub(r"\{\{.*?\}\}|\{ #.*?\}|```.*?```|`[^`]*`", "", body, flags=re.DOTALL)
    assert re.findall(r"\d+", prose.replace("Llama 4", "")) == []


def test_a_row_with_an_anchor_can_be_linked_to() -> None:
    assert '<tr id="switch-log_lines">' in html.block(meaning_table())
