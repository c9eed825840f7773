"""The theme's search, whose index is not built before someone searches."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_the_index_is_built_for_the_first_query_and_finds_a_model(watched: Page, site_url: str) -> None:
    watched.goto(f"{site_url}/")
    box = watched.get_by_role("textbox", name="Search")
    box.click()
    expect(watched.locator(".md-search-result__meta")).to_have_text("Type to start searching")
    (stands_before,) = (worker for worker in watched.workers if "/search.mjs?" in worker.url)
    assert stands_before.evaluate("engine") is None
    box.press_sequentially("DeepSeek-V3.2", delay=20)
    result = watched.locator(".md-search-result__link").filter(has_text="DeepSeek-V3.2").first
    expect(result).to_be_visible()
    assert stands_before.evaluate("hasIndex") is True


def test_a_search_in_the_address_is_made(watched: Page, site_url: str) -> None:
    watched.goto(f"{site_url}/?q=DeepSeek-V3.2")
    expect(watched.locator(".md-search-result__link").filter(has_text="DeepSeek-V3.2").first).to_be_visible()
