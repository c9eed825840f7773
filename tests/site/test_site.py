"""The built site as a reader gets it: links, anchors, HTML, and nothing asked of another host."""

import gzip
import re
from collections.abc import Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import html5lib
import pytest

from kvcore.catalog import load_models

pytestmark = pytest.mark.site

# Attributes a browser fetches by itself; a link is only followed when someone clicks.
FETCHED = (
    ("script", "src"),
    ("link", "href"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("object", "data"),
)
LINK_RELATIONS_NOT_FETCHED = frozenset({"canonical", "prev", "next", "alternate"})
CSS_ADDRESS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Page(HTMLParser):
    """Addresses and anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if anchor := found.get("id"):
            self.anchors.add(anchor)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        relation = found.get("rel", "")
        for name, attribute in FETCHED:
            if tag == name and attribute in found and relation not in LINK_RELATIONS_NOT_FETCHED:
                self.fetched.append(found[attribute])


@pytest.fixture(scope="session")
def pages(site: Path) -> Mapping[Path, Page]:
    """Every page of the site by its file."""
    return {file: Page(file.read_text("utf-8")) for file in site.rglob("*.html")}


def target(site: Path, page: Path, address: str) -> tuple[Path, str]:
    """The file and the anchor an internal address leads to."""
    parts = urlsplit(address)
    path = unquote(parts.path)
    base = site if path.startswith("/") else page.parent
    file = (base / path.lstrip("/")).resolve() if path else page
    return (file / "index.html" if file.is_dir() else file), unquote(parts.fragment)


def internal(page: Page) -> Iterator[str]:
    return (link for link in page.links if not urlsplit(link).scheme and not urlsplit(link).netloc)


def test_every_internal_link_leads_to_a_file_of_the_site(site: Path, pages: Mapping[Path, Page]) -> None:
    missing = {
        f"{file.relative_to(site)} -> {link}"
        for file, page in pages.items()
        if file.name != "404.html"
        for link in internal(page)
        if not target(site, file, link)[0].is_file()
    }
    assert not missing


def test_every_anchor_in_a_link_exists(site: Path, pages: Mapping[Path, Page]) -> None:
    missing = set()
    for file, page in pages.items():
        for link in internal(page):
            found, anchor = target(site, file, link)
            if anchor and found in pages and anchor not in pages[found].anchors:
                missing.add(f"{file.relative_to(site)} -> {link}")
    assert not missing


def test_no_page_fetches_anything_from_another_host(site: Path, pages: Mapping[Path, Page]) -> None:
    foreign = {
        f"{file.relative_to(site)}: {address}"
        for file, page in pages.items()
        for address in page.fetched
        if urlsplit(address).netloc
    }
    assert not foreign


def test_no_style_sheet_fetches_anything_from_another_host(site: Path) -> None:
    addresses = {
        f"{file.relative_to(site)}: {first or second}"
        for file in site.rglob("*.css")
        for first, second in CSS_ADDRESS.findall(file.read_text("utf-8"))
    }
    assert addresses
    assert not {address for address in addresses if "//" in address.partition(": ")[2]}


@cache
def problems(file: Path) -> tuple[str, ...]:
    parser = html5lib.HTMLParser()
    parser.parse(file.read_text("utf-8"))
    return tuple(sorted({code for _, code, _ in parser.errors}))


def test_every_page_kind_is_valid_html(site: Path) -> None:
    kinds = [
        "index.html",
        "models/index.html",
        "models/kinds/index.html",
        "models/meta-llama/Llama-3.1-8B-Instruct/index.html",
        "method/index.html",
        "models/deepseek-ai/DeepSeek-V3.2/index.html",
        "concepts/blocks-and-pages/index.html",
        "concepts/log-lines/index.html",
        "accuracy/index.html",
        "gpus/index.html",
        "architectures/index.html",
        "cli-reference/index.html",
        "data/index.html",
        "changes/index.html",
        "versions/index.html",
    ]
    assert {kind: problems(site / kind) for kind in kinds} == dict.fromkeys(kinds, ())


def test_no_placeholder_is_left_in_a_page(pages: Mapping[Path, Page]) -> None:
    left = re.compile(r"\{\{\s*kv")
    assert {
        file.parent.name
        for file in pages
        if left.search(file.read_text("utf-8")) and file.parent.name != "architecture"
    } == set()


def test_every_model_page_has_its_data_at_the_versioned_address(site: Path) -> None:
    folders = [file.parent.relative_to(site) for file in (site / "models").glob("*/*/index.html")]
    assert folders
    assert [
        (folder, name)
        for folder in folders
        for name in ("report.json", "layout.json")
        if not (site / "data/v1" / folder / name).is_file()
    ] == []


def test_every_model_of_the_catalogue_has_a_page_and_a_row(site: Path) -> None:
    index = (site / "models/index.html").read_text("utf-8")
    ids = [entry.id for entry in load_models()]
    assert ids
    assert [model for model in ids if not (site / "models" / model / "index.html").is_file()] == []
    assert [model for model in ids if f'href="{model}/"' not in index] == []


def test_a_pages_own_html_stays_small(site: Path) -> None:
    limit = 150_000
    sizes = {file: len(gzip.compress(file.read_bytes())) for file in site.rglob("index.html")}
    assert {str(file.relative_to(site)): size for file, size in sizes.items() if size > limit} == {}
