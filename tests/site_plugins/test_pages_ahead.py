from pathlib import Path
from typing import NoReturn

import pytest

from kvcore.catalog import load_models
from site_plugins.pages import ahead
from site_plugins.pages.ahead import WORTH_A_PROCESS, Places, make_ahead
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


@pytest.mark.parametrize(("processors", "models"), [(1, 2 * WORTH_A_PROCESS), (64, 2 * WORTH_A_PROCESS - 1)])
def test_where_a_second_process_would_not_pay_none_is_started(
    places: Places, monkeypatch: pytest.MonkeyPatch, processors: int, models: int
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    monkeypatch.setattr(ahead, "ProcessPoolExecutor", no_answer)
    make_ahead(ENTRIES[:models], places)


def test_no_more_processes_are_started_than_have_enough_to_do(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Pool:
        def __init__(self, processes: int, **_: object) -> None:
            asked.append(processes)
            raise InterruptedError

    monkeypatch.setattr("os.cpu_count", lambda: 64)
    monkeypatch.setattr(ahead, "ProcessPoolExecutor", Pool)
    with pytest.raises(InterruptedError):
        make_ahead(ENTRIES[: 3 * WORTH_A_PROCESS + 1], places)
    assert asked == [3]
