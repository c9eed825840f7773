"""A site is built again when, and only when, something it is made of has changed."""

from pathlib import Path

import pytest

from tools import build_site


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small tree of sources that the builder takes for the repository."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Atlas")
    (tmp_path / "mkdocs.yml").write_text("site_name: Atlas")
    monkeypatch.setattr(build_site, "ROOT", tmp_path)
    monkeypatch.setenv("SITE_URL", "http://127.0.0.1:8000/")
    return tmp_path


def test_the_same_sources_have_the_same_digest(sources: Path) -> None:
    before = build_site.source_digest()
    (sources / "docs/index.md").write_text("# Atlas")

    assert build_site.source_digest() == before


def test_a_changed_page_changes_the_digest(sources: Path) -> None:
    before = build_site.source_digest()
    (sources / "docs/index.md").write_text("# Atlas!")

    assert build_site.source_digest() != before


def test_a_renamed_page_changes_the_digest(sources: Path) -> None:
    before = build_site.source_digest()
    (sources / "docs/index.md").rename(sources / "docs/home.md")

    assert build_site.source_digest() != before


def test_another_address_changes_the_digest(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sources.is_dir()
    before = build_site.source_digest()
    monkeypatch.setenv("SITE_URL", "https://atlas.example/")

    assert build_site.source_digest() != before


def test_no_address_is_the_address_of_a_preview(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sources.is_dir()
    named = build_site.source_digest()
    monkeypatch.delenv("SITE_URL")

    assert build_site.source_digest() == named
    assert f'"{build_site.PREVIEW}"' in (Path(build_site.__file__).parents[1] / "mkdocs.yml").read_text()


def test_compiled_leftovers_do_not_change_the_digest(sources: Path) -> None:
    before = build_site.source_digest()
    (sources / "docs/__pycache__").mkdir()
    (sources / "docs/__pycache__/hooks.pyc").write_bytes(b"\0")

    assert build_site.source_digest() == before
