"""Each page kind through axe, in both schemes, and at the width of a telephone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

pytestmark = [pytest.mark.site, pytest.mark.browser]

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "node_modules/axe-core/axe.min.js"
KINDS = (
    "",
    "models/",
    "models/kinds/",
    "models/meta-llama/Llama-3.1-8B-Instruct/",
    "models/deepseek-ai/DeepSeek-V3/",
    "calculator/",
    "reconcile/",
    "method/",
    "concepts/sharding/",
    "concepts/log-lines/",
    "concepts/why-calculators-disagree/",
    "accuracy/",
    "gpus/",
    "architectures/",
    "cli/",
    "cli-reference/",
    "api/",
    "data/",
    "changes/",
    "versions/",
    "contributing/add-a-model/",
)
WIDE, NARROW = ViewportSize(width=1280, height=720), ViewportSize(width=390, height=844)


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    """One window for all pages: what a test needs of a page is its first paint, not a browser of its own."""
    # The policy would stop axe itself; that the policy holds is tested elsewhere. Tabs and progress fade in, and
    # half-faded text has too little contrast, so motion is asked to stay off.
    context = browser.new_context(bypass_csp=True, color_scheme="light", reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module", params=KINDS)
def page_of_kind(window: Page, site_url: str, request: pytest.FixtureRequest) -> Page:
    """A page as it opens, in the light scheme; loaded once for all that is asked of it."""
    window.set_viewport_size(WIDE)
    window.goto(f"{site_url}/{request.param}")
    window.add_script_tag(path=AXE)
    return window


def violations(page: Page) -> list[str]:
    found: dict[str, Any] = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"][:3]
    ]


def choose(page: Page, scheme: str) -> None:
    """Takes a scheme with the header's switch, unless the page has it already."""
    body = page.locator("body")
    if body.get_attribute("data-md-color-scheme") != scheme:
        page.locator("label[for^=__palette]:visible").click()
    expect(body).to_have_attribute("data-md-color-scheme", scheme)


@pytest.mark.parametrize("scheme", ["default", "slate"], ids=["light", "dark"])
def test_axe_finds_no_violation(page_of_kind: Page, scheme: str) -> None:
    page_of_kind.set_viewport_size(WIDE)
    choose(page_of_kind, scheme)
    assert violations(page_of_kind) == []


def test_axe_finds_no_violation_on_a_narrow_page(page_of_kind: Page) -> None:
    page_of_kind.set_viewport_size(NARROW)
    assert violations(page_of_kind) == []


def test_a_narrow_page_does_not_scroll_sideways(page_of_kind: Page) -> None:
    page_of_kind.set_viewport_size(NARROW)
    assert page_of_kind.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
