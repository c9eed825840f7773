"""What every model's page must have, whichever model it is, and what the site says of itself to programs."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from kvcore.catalog import load_models

pytestmark = pytest.mark.site

ALWAYS = ("model", "evidence", "related")
WHERE_ANSWERED = ("layout", "one-request", "capacity", "derivation")
BUTTONS = ("Change something", "Copy link", "Copy for a design review", "Copy badge Markdown", "CSV", "JSON")
FILES = ("report.csv", "review.txt", "badge.svg")
PREVIEW = re.compile(r'<meta property="og:description" content="([^"]*)">')


@cache
def pages(site: Path) -> Mapping[str, str]:
    """The page of every model by its id."""
    return {entry.id: (site / "models" / entry.id / "index.html").read_text("utf-8") for entry in load_models()}


@cache
def answered(site: Path) -> frozenset[str]:
    """Models that kvcore has a layout with parts for."""
    layouts = {entry.id: site / "data/v1/models" / entry.id / "layout.json" for entry in load_models()}
    return frozenset(
        model for model, file in layouts.items() if (json.loads(file.read_text("utf-8")) or {}).get("parts")
    )


def test_every_model_page_has_its_sections_at_stable_anchors(site: Path) -> None:
    missing = {
        (model, anchor)
        for model, page in pages(site).items()
        for anchor in (*ALWAYS, *(WHERE_ANSWERED if model in answered(site) else ()))
        if f'id="{anchor}"' not in page
    }
    assert missing == set()


def test_every_model_page_can_be_copied_and_taken_away(site: Path) -> None:
    assert {
        (model, button) for model, page in pages(site).items() for button in BUTTONS if f">{button}</a>" not in page
    } == set()
    assert {
        (model, name) for model in pages(site) for name in FILES if not (site / "models" / model / name).is_file()
    } == set()


def test_every_model_page_names_its_sources_and_how_it_is_proved(site: Path) -> None:
    entries = load_models()
    assert [entry.id for entry in entries if not entry.sources] == []
    proved = [entry for entry in entries if entry.status != "derived"]
    assert [entry.id for entry in proved if "Compared with:" not in pages(site)[entry.id]] == []


def test_a_preview_of_a_model_page_shows_the_headline_figure(site: Path) -> None:
    found = {model: PREVIEW.search(page) for model, page in pages(site).items()}
    assert {model for model, preview in found.items() if preview is None} == set()
    shown = found["deepseek-ai/DeepSeek-V3.2"]
    assert shown is not None
    assert re.search(r"on 8 × H200, tp 8: [\d.]+ requests of 131,072 tokens", shown[1])


def test_every_model_with_deployments_shows_both_engines(site: Path) -> None:
    assert {
        model for model, page in pages(site).items() if 'id="deployments"' in page and 'id="engines-table"' not in page
    } == set()


def test_programs_find_every_model(site: Path) -> None:
    sitemap, text = (site / "sitemap.xml").read_text("utf-8"), (site / "llms.txt").read_text("utf-8")
    listed = {model["id"] for model in json.loads((site / "data/v1/models.json").read_text("utf-8"))["models"]}
    on_cards = json.loads((site / "data/v1/deployments/H200.json").read_text("utf-8"))["models"]
    for entry in load_models():
        assert f"/models/{entry.id}/</loc>" in sitemap
        assert f"/models/{entry.id}/)" in text
        assert entry.id in listed
        assert entry.id in on_cards
