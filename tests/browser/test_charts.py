"""Charts explored and taken away, on a built page and in the calculator, under the site's own policy."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import START_TIMEOUT, Calculator

pytestmark = pytest.mark.browser

PAGE = "models/meta-llama/Llama-3.1-8B-Instruct/"
PNG = b"\x89PNG\r\n\x1a\n"


def saved(page: Page, figure: Locator, kind: str) -> tuple[str, bytes]:
    """Presses a button of a figure that saves it; the file's name and content."""
    with page.expect_download(timeout=START_TIMEOUT) as download:
        figure.get_by_role("button", name=kind).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_a_chart_of_a_page_is_explored_in_the_pages_colours_and_taken_away(watched: Page, site_url: str) -> None:
    asked: list[str] = []
    watched.on("request", lambda request: asked.append(request.url))
    watched.goto(f"{site_url}/{PAGE}#memory")
    figure = watched.locator("figure[data-kv-chart=memory]")
    picture, drawn = figure.locator("[data-kv-part=picture]"), figure.locator(".kv-chart__drawn svg")
    expect(picture).to_be_visible()
    assert not any("/vega/" in url or url.endswith("charts.json") for url in asked)
    explore = figure.get_by_role("button", name="Explore")
    explore.click()
    expect(drawn).to_be_visible(timeout=START_TIMEOUT)
    expect(picture).to_be_hidden()
    expect(drawn).to_contain_text("H100")
    drawn.locator(".mark-rect path").first.hover(position={"x": 4, "y": 4})
    expect(watched.locator(".kv-chart__tip")).to_contain_text("weights")
    light = drawn.locator(".mark-rect path").first.get_attribute("fill")
    watched.get_by_title("Switch to the dark scheme").click()
    expect(drawn.locator(".mark-rect path").first).not_to_have_attribute("fill", str(light))
    name, content = saved(watched, figure, "PNG")
    assert (name, content[:8]) == ("Llama-3.1-8B-Instruct-memory.png", PNG)
    name, content = saved(watched, figure, "SVG")
    assert (name, content[:4]) == ("Llama-3.1-8B-Instruct-memory.svg", b"<svg")
    explore.click()
    expect(picture).to_be_visible()


def test_the_memory_of_the_asked_deployment_is_explored_and_follows_the_next_answer(calculator: Calculator) -> None:
    calculator.open("?model=meta-llama/Llama-3.1-8B-Instruct&gpu=H100&max_model_len=32768")
    calculator.wait()
    figure = calculator.answer.locator("figure[data-kv-chart=memory]")
    figure.get_by_role("button", name="Explore").click()
    drawn = figure.locator(".kv-chart__drawn svg")
    expect(drawn).to_contain_text("1 × H100", timeout=START_TIMEOUT)
    calculator.set(gpu="H200")
    expect(drawn).to_contain_text("1 × H200", timeout=START_TIMEOUT)
