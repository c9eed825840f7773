from pathlib import Path
from typing import NoReturn

import pytest

from kvcore.catalog import load_models
from site_plugins.pages import ahead
from site_plugins.pages.ahead import WORTH_A_POOL, Places, make_ahead
from site_plugins.pages.build import is_kept, kept_pages

ENTRIES = load_models()
SITE_URL = "https://atlas.example/"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "golden", tmp_path / "pages", SITE_URL)


def no_answer(_: object) -> NoReturn:
    message = "what was made ahead needs no answer"
    raise AssertionError(message)


def test_a_page_made_ahead_is_the_one_the_build_takes(places: Places) -> None:
    entry, other = ENTRIES[:2]
    ahead._make(entry, places)
    assert [is_kept(one, SITE_URL, places.pages()) for one in (entry, other)] == [True, False]
    pages, _ = kept_pages(entry, no_answer, SITE_URL, places.pages(), no_answer)
    assert pages[0].src_uri == f"models/{entry.id}.md"


def test_outcomes_measured_ahead_are_the_ones_the_build_takes(places: Places) -> None:
    places.golden.mkdir()
    ahead._measure(places)
    assert len(list(places.cache.iterdir())) == 1


def test_for_a_few_models_no_process_is_started(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "ProcessPoolExecutor", no_answer)
    make_ahead(ENTRIES[: WORTH_A_POOL - 1], places)
    with pytest.raises(TypeError):
        make_ahead(ENTRIES[:WORTH_A_POOL], places)
