from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kvcore.report.report import Report
from site_plugins.pages.build import catalogue_files
from site_plugins.pages.store import Store, folder_digest
from tests.report.reports import REPORT
from tests.site_plugins.test_pages_model import ENTRY, SITE_URL, ask


def no_answer(_: Mapping[str, object]) -> Report:
    message = "a kept page needs no answer"
    raise AssertionError(message)


def test_the_catalogue_makes_model_pages_an_index_and_an_overview(tmp_path: Path) -> None:
    places = [item.src_uri for item in catalogue_files([ENTRY], ask, SITE_URL, Store(tmp_path, "sources"))[0]]
    assert places[0] == "models/example/dense-8b.md"
    assert places[-2:] == ["models/index.md", "models/kinds.md"]


def test_a_second_build_asks_nothing_and_gives_the_same_pages(tmp_path: Path) -> None:
    first = catalogue_files([ENTRY], ask, SITE_URL, Store(tmp_path, "sources"))
    assert catalogue_files([ENTRY], no_answer, SITE_URL, Store(tmp_path, "sources")) == first


def test_a_changed_entry_is_made_anew(tmp_path: Path) -> None:
    catalogue_files([ENTRY], ask, SITE_URL, Store(tmp_path, "sources"))
    changed, _ = catalogue_files([replace(ENTRY, title="Renamed")], ask, SITE_URL, Store(tmp_path, "sources"))
    assert "# Renamed" in changed[0].content


def test_changed_sources_make_everything_anew(tmp_path: Path) -> None:
    made: list[str] = []
    for sources in ("one", "two", "one"):
        Store(tmp_path, sources).get("page", lambda sources=sources: made.append(sources))
    assert made == ["one", "two"]


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    store = Store(tmp_path, "sources")
    store.get("page", lambda: "whole")
    for file in tmp_path.iterdir():
        file.write_bytes(b"")
    assert store.get("page", lambda: "again") == "again"


def test_the_digest_of_a_folder_follows_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    first = folder_digest([tmp_path])
    (tmp_path / "a.py").write_text("2")
    second = folder_digest([tmp_path])
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len({first, second, folder_digest([tmp_path])}) == 3


def test_the_sample_report_survives_the_store(tmp_path: Path) -> None:
    store = Store(tmp_path, "sources")
    store.get("report", lambda: REPORT)
    assert store.get("report", lambda: None) == REPORT
