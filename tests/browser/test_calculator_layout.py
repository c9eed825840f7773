"""The layout edited part by part: the answer follows, the address carries it, what is wrong is said at its row."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from kvcore.answer import answer
from kvcore.layout.edited import edited, rows_of
from kvcore.questions.layout_by_hand import layout_by_hand
from tests.browser.pages import START_TIMEOUT, Calculator

pytestmark = pytest.mark.browser

MODEL = "openai/gpt-oss-120b"
QUESTION = {"model": MODEL, "max_model_len": 8192, "kv_cache_memory_bytes": 32 << 30}
ADDRESS = "?" + "&".join(f"{name}={value}" for name, value in QUESTION.items())


def by_hand() -> dict[str, Any]:
    return layout_by_hand(QUESTION)


def start(calculator: Calculator) -> Locator:
    """Opens the question and turns its model into rows."""
    calculator.open(ADDRESS).wait()
    panel = calculator.page.locator("[data-kv-part=layout]")
    expect(panel).to_be_visible(timeout=START_TIMEOUT)
    panel.evaluate("element => element.open = true")
    panel.get_by_role("button", name="Edit this").click()
    expect(rows(panel)).to_have_count(len(by_hand()["layout"]["parts"]), timeout=START_TIMEOUT)
    return panel


def rows(panel: Locator) -> Locator:
    return panel.locator("[data-kv-row]")


def shows(calculator: Calculator, request: dict[str, Any]) -> None:
    """Waits until the page shows the capacity of a request."""
    report = answer(request)
    assert report.capacity is not None, report.errors
    figures = {
        "capacity.num_gpu_blocks": report.capacity.num_gpu_blocks,
        "capacity.concurrency.engine_log": report.capacity.concurrency.engine_log,
    }
    for path, value in figures.items():
        shown = calculator.answer.locator(f'[data-kv="{path}"]').first
        expect(shown).to_have_attribute("value", re.compile(rf"^{value}(\.0)?$"), timeout=START_TIMEOUT)
    calculator.wait()


def changed(number: int, **texts: str) -> dict[str, Any]:
    request = by_hand()
    table = rows_of(request["layout"])
    table[number] |= texts
    return {**request, "layout": edited(request["layout"], table)}


def test_a_changed_size_is_answered_marked_and_survives_a_reload_and_a_step_back(calculator: Calculator) -> None:
    panel = start(calculator)
    panel.get_by_label("Entry or state, part 2").fill("1024")
    shows(calculator, changed(1, entry_bytes="1024"))
    expect(calculator.page.locator("[data-kv-change=layout]")).to_contain_text("→", timeout=START_TIMEOUT)
    assert "#layout=" in calculator.address()
    assert "entry_bytes" not in calculator.address()

    calculator.page.reload()
    shows(calculator, changed(1, entry_bytes="1024"))
    expect(panel.get_by_label("Entry or state, part 2")).to_have_value("1024", timeout=START_TIMEOUT)

    calculator.go_back()
    shows(calculator, by_hand())
    expect(panel.get_by_label("Entry or state, part 2")).to_have_value("2048", timeout=START_TIMEOUT)


def test_parts_are_dropped_and_added_with_the_keyboard(calculator: Calculator) -> None:
    panel = start(calculator)
    panel.get_by_role("button", name="Drop part 1").focus()
    calculator.page.keyboard.press("Enter")
    dropped = by_hand()
    dropped["layout"] = edited(dropped["layout"], rows_of(dropped["layout"])[1:])
    shows(calculator, dropped)
    expect(panel.get_by_role("button", name="Drop part 1")).to_be_focused()

    panel.get_by_role("button", name="Add a part").focus()
    calculator.page.keyboard.press("Enter")
    expect(panel.get_by_label("Part, part 2")).to_be_focused()
    calculator.page.keyboard.type("index")
    for key in ("Tab", "Tab"):
        calculator.page.keyboard.press(key)
    calculator.page.keyboard.type("18")
    calculator.page.keyboard.press("Tab")
    calculator.page.keyboard.type("132")
    added = {"part": None, "name": "index", "growth": "per_token", "layers": "18", "entry_bytes": "132"}
    shows(calculator, {**dropped, "layout": edited(dropped["layout"], [*rows_of(dropped["layout"]), added])})


def test_what_is_wrong_with_a_part_is_said_at_its_row_and_stays_as_typed(calculator: Calculator) -> None:
    panel = start(calculator)
    field = panel.get_by_label("Entry or state, part 1")
    field.fill("<b>many</b>")
    line = rows(panel).first.get_by_role("alert")
    expect(line).to_contain_text("entry_bytes", timeout=START_TIMEOUT)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_value("<b>many</b>")
    expect(rows(panel).nth(1).get_by_role("alert")).to_be_hidden()
    assert panel.locator("b").count() == 0
    field.fill("2048")
    shows(calculator, by_hand())
    expect(line).to_be_hidden()


def test_the_way_back_is_to_the_layout_as_it_was_or_to_the_model(calculator: Calculator) -> None:
    panel = start(calculator)
    panel.get_by_label("Layers, part 2").fill("9")
    shows(calculator, changed(1, layers="9"))
    panel.get_by_role("button", name="As it was").click()
    shows(calculator, by_hand())
    panel.get_by_role("button", name="Back to the model").click()
    expect(calculator.field("model")).to_have_value(MODEL)
    expect(rows(panel)).to_have_count(0, timeout=START_TIMEOUT)
    expect(calculator.page).not_to_have_url(re.compile("#layout="))


def test_a_link_to_an_edited_layout_says_the_same(calculator: Calculator) -> None:
    request = changed(0, window="256")
    link = json.loads(calculator.open(ADDRESS).ask("link_json", {"request": request}))["link"]
    calculator.open(link).wait()
    shows(calculator, request)
    expect(calculator.page.locator("[data-kv-part=notice]")).to_be_empty()
    expect(calculator.page.get_by_label("Window, part 1")).to_have_value("256", timeout=START_TIMEOUT)


def test_fields_that_only_a_config_gives_sense_are_not_offered_for_a_layout(calculator: Calculator) -> None:
    start(calculator)
    calculator.wait()
    expect(calculator.field("kv_cache_dtype")).to_be_hidden()
    expect(calculator.field("weights_gib")).to_be_hidden()
