"""Each page kind through axe, in both schemes, and at the width of a telephone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

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
    "method/",
    "concepts/sharding/",
    "concepts/log-lines/",
    "concepts/why-calculators-disagree/",
    "accuracy/",
    "gpus/",
    "architectures/",
    "cli-reference/",
    "api/",
    "data/",
    "changes/",
    "versions/",
)
NARROW = 390


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> Literal["light", "dark"]:
    chosen: Literal["light", "dark"] = request.param
    return chosen


@pytest.fixture
def page_of_scheme(browser: Browser, scheme: Literal["light", "dark"]) -> Iterator[Page]:
    # The policy would stop axe itself; that the policy holds is tested elsewhere. Tabs and progress fade in, and
    # half-faded text has too little contrast, so motion is asked to stay off.
    context = browser.new_context(bypass_csp=True, color_scheme=scheme, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_violation(page_of_scheme: Page, site_url: str, kind: str) -> None:
    page = page_of_scheme
    page.goto(f"{site_url}/{kind}")
    page.add_script_tag(path=AXE)
    found: dict[str, Any] = page.evaluate("axe.run({resultTypes: ['violations']})")
    assert [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"][:3]
    ] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_narrow_page_does_not_scroll_sideways(page_of_scheme: Page, site_url: str, kind: str) -> None:
    page = page_of_scheme
    page.set_viewport_size({"width": NARROW, "height": 844})
    page.goto(f"{site_url}/{kind}")
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW
