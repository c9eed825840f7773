"""The models index and model pages as a reader uses them: cards, filters, copying, printing."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from kvcore.answer import answer
from tests.browser.conftest import Watched

pytestmark = [pytest.mark.site, pytest.mark.browser]

MODEL, DENSE = "deepseek-ai/DeepSeek-V3.2", "meta-llama/Llama-3.1-8B-Instruct"
LONG = 131_072
A4_WITHIN_MARGINS = 703
"""Width in CSS pixels of a sheet of 21 cm less 1.2 cm on either side."""


@pytest.fixture
def reader(shared_page: Watched) -> Iterator[Page]:
    yield shared_page.page
    shared_page.check()


def logged(model: str, gpu: str, size: int, length: int = LONG) -> float:
    capacity = answer({"model": model, "gpu": gpu, "tensor_parallel_size": size, "max_model_len": length}).capacity
    assert capacity is not None
    assert capacity.concurrency.engine_log is not None
    return capacity.concurrency.engine_log


def row(page: Page, model: str) -> Any:
    return page.locator(f'tr[id="{model}"]')


def long_requests(page: Page, model: str) -> float:
    column = page.locator("th").evaluate_all(
        "titles => titles.findIndex(title => title.dataset.name === 'requests-128k')"
    )
    value = row(page, model).locator("th, td").nth(column).locator("data").get_attribute("value")
    assert value is not None
    return float(value)


def visible_rows(page: Page) -> list[str]:
    rows = page.locator("[data-kv-index] tbody tr:not([hidden])")
    ids: list[str] = rows.evaluate_all("rows => rows.map(row => row.id)")
    return ids


def test_a_stranger_finds_128k_requests_on_eight_h200_within_three_clicks(reader: Page, site_url: str) -> None:
    reader.goto(f"{site_url}/")
    reader.get_by_role("link", name="All models").first.click()
    row(reader, MODEL).get_by_role("link").click()
    answer_box = reader.get_by_role("region", name="Answer")
    expect(answer_box).to_contain_text("8 × H200")
    expect(answer_box).to_contain_text("131,072 tokens of context")
    figure = answer_box.locator('[data-kv="capacity.concurrency.engine_log"]').first
    assert float(figure.get_attribute("value") or 0) == logged(MODEL, "H200", 8)


def test_the_index_needs_no_script(browser: Browser, site_url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site_url}/models/")
    expect(page.locator("[data-kv-filter]")).to_be_hidden()
    expect(row(page, MODEL)).to_be_visible()
    expect(row(page, MODEL)).to_contain_text(f"{logged(MODEL, 'H200', 8):,.2f}")
    context.close()


def test_cards_filters_and_order_come_with_the_address(reader: Page, site_url: str) -> None:
    reader.goto(f"{site_url}/models/?gpu=H100&n=1&fits=1&family=Llama+3.1&sort=requests-128k&order=down")
    expect(reader.locator("[data-kv-deployment]")).to_have_text("1 × H100")
    assert DENSE in visible_rows(reader)
    assert "meta-llama/Llama-3.1-70B-Instruct" not in visible_rows(reader)
    assert long_requests(reader, DENSE) == logged(DENSE, "H100", 1)
    expect(reader.locator('th[data-name="requests-128k"]')).to_have_attribute("aria-sort", "descending")


def test_what_a_reader_chooses_is_written_into_the_address(reader: Page, site_url: str) -> None:
    reader.goto(f"{site_url}/models/")
    reader.get_by_label("GPU").select_option("B200")
    expect(reader.locator("[data-kv-deployment]")).to_have_text("8 × B200")
    reader.get_by_label("Family").select_option("DeepSeek V3.2")
    reader.locator('th[data-name="state"] button').click()
    chosen = dict(parse_qsl(urlsplit(reader.url).query))
    assert chosen == {"family": "DeepSeek V3.2", "gpu": "B200", "sort": "state", "order": "down"}
    assert MODEL in visible_rows(reader)
    assert DENSE not in visible_rows(reader)
    assert long_requests(reader, MODEL) == logged(MODEL, "B200", 8)
    reader.get_by_role("button", name="Show all").click()
    expect(reader.locator(".kv-filter-count")).to_have_text(re.compile(r"^\d+ models$"))


def test_an_address_with_unknown_choices_shows_the_whole_index(reader: Page, site_url: str) -> None:
    reader.goto(f"{site_url}/models/?gpu=%3Cimg%3E&n=3&family=none&sort=nothing")
    expect(reader.locator(".kv-filter-count")).to_have_text(re.compile(r"^\d+ models$"))
    expect(reader.locator("[data-kv-deployment]")).to_have_text("8 × H200")


def test_the_badge_and_the_link_are_copied(reader: Page, site_url: str) -> None:
    reader.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.goto(f"{site_url}/models/{DENSE}/")
    copied = []
    for name in ("Copy link", "Copy badge Markdown", "Copy for a design review"):
        reader.locator(".kv-copied").evaluate("status => { status.textContent = '' }")
        reader.get_by_role("link", name=name).click()
        expect(reader.locator(".kv-copied")).to_have_text("Copied.")
        copied.append(reader.evaluate("navigator.clipboard.readText()"))
    link, badge, review = copied
    assert link.endswith(f"/models/{DENSE}/")
    assert badge == f"[![{badge[3:].partition(']')[0]}]({link}badge.svg)]({link})"
    assert f"{DENSE}" in review


def test_a_printed_page_is_opened_and_fits_the_sheet(reader: Page, site_url: str) -> None:
    reader.goto(f"{site_url}/models/{DENSE}/")
    reader.set_viewport_size({"width": A4_WITHIN_MARGINS, "height": 1000})
    reader.emulate_media(media="print")
    expect(reader.locator("#derivation-steps .kv-step").first).to_be_visible()
    expect(reader.locator(".kv-actions")).to_be_hidden()
    assert reader.evaluate("document.documentElement.scrollWidth") == A4_WITHIN_MARGINS
    reader.emulate_media(media="screen")
    reader.set_viewport_size({"width": 1280, "height": 720})
