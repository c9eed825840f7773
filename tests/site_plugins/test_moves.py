"""Two builds side by side become entries of the feed."""

import copy
import json
from pathlib import Path
from typing import Any

from kvcore.report import to_json
from site_plugins.pages.summary import summarise
from site_plugins.published.changes import load_changes
from site_plugins.published.models import models_data
from site_plugins.published.moves import moves
from tests.site_plugins.test_pages_model import ENTRY, SITE_URL, ask, many
from tools.changes import main

DAY, WHY = "2026-12-01", "The block size of this layout was read anew."
BUILT = to_json(models_data([(ENTRY, summarise(ENTRY, ask, many))], SITE_URL))


def changed(**figures: Any) -> Any:
    other = copy.deepcopy(BUILT)
    other["models"][0].update(figures)
    return other


def test_two_equal_builds_change_nothing() -> None:
    assert moves(BUILT, copy.deepcopy(BUILT), DAY, WHY) == ()


def test_a_figure_that_moved_stands_with_its_value_before_and_after() -> None:
    (entry,) = moves(BUILT, changed(bytes_per_token={"tp1": 262_144, "tp8": 131_072}), DAY, WHY)
    assert (entry.figure, entry.before, entry.after) == ("bytes per token, tp1", 131_072, 262_144)
    assert (entry.text, entry.models, entry.date) == (WHY, (ENTRY.id,), DAY)


def test_a_figure_that_is_refused_now_says_so() -> None:
    (entry,) = moves(BUILT, changed(max_model_len=None), DAY, WHY)
    assert entry.after == "refused"


def test_models_that_came_and_went_are_listed() -> None:
    came, went = moves(BUILT, changed(id="example/other"), DAY, WHY)
    assert (came.title, came.models) == ("1 model added", ("example/other",))
    assert (went.title, went.text) == ("1 model removed", f"{ENTRY.id}.")


def test_the_entries_are_added_to_the_list_once(tmp_path: Path) -> None:
    before, after, changes = tmp_path / "old.json", tmp_path / "new.json", tmp_path / "changes.json"
    before.write_text(json.dumps(BUILT))
    after.write_text(json.dumps(changed(max_model_len=16_384)))
    changes.write_text("[]")
    assert [main(before, WHY, after, changes) for _ in range(2)] == [1, 0]
    (entry,) = load_changes(changes)
    assert entry.figure == "longest context"
