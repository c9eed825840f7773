"""What the page offers and how it shows it: only what applies, the compact view, print, keyboard."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from kvcore.answer import answer
from kvcore.catalog import load_models
from kvcore.questions import longest_context
from kvcore.report.json import to_json
from tests.browser.pages import START_TIMEOUT, Calculator

pytestmark = pytest.mark.browser

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
BUDGET = "available_kv_cache_gib=40&max_model_len=8192"


def test_fields_about_states_are_offered_only_for_a_model_that_keeps_states(calculator: Calculator) -> None:
    hybrid = next(entry.id for entry in load_models() if "Nemotron" in entry.id and "-H" in entry.id)
    calculator.open(f"?model={MODEL}&{BUDGET}").wait()
    expect(calculator.field("mamba_cache_mode")).to_be_hidden()
    calculator.open(f"?model={hybrid}&{BUDGET}").wait()
    expect(calculator.field("mamba_cache_mode")).to_be_visible()


def test_experts_are_offered_to_be_split_only_where_there_are_some(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&{BUDGET}").wait()
    expect(calculator.field("enable_expert_parallel")).to_be_hidden()
    calculator.open(f"?model=openai/gpt-oss-120b&{BUDGET}").wait()
    expect(calculator.field("enable_expert_parallel")).to_be_visible()


def test_an_empty_field_shows_the_default_of_the_question_and_its_origin(calculator: Calculator) -> None:
    calculator.open()
    context = calculator.field("max_num_batched_tokens")
    expect(context).to_have_attribute("placeholder", "default: 8,192")
    expect(context).to_have_attribute("title", re.compile("70 GiB"))
    calculator.set(gpu="L4")
    report = answer({"model": MODEL, "max_model_len": 32768, "available_kv_cache_gib": 40, "gpu": "L4"})
    resolved = report.inputs["max_num_batched_tokens"]
    expect(context).to_have_attribute("placeholder", f"default: {resolved.value:,}")
    expect(context).to_have_attribute("title", resolved.note)


def test_sizes_and_context_are_taken_along_to_the_other_engine(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&gpu=H100&max_model_len=8192&tensor_parallel_size=2").wait()
    expect(calculator.page.locator("[data-kv-further]")).to_be_attached()
    calculator.set(engine="sglang")
    report = answer({"engine": "sglang", "model": MODEL, "gpu": "H100", "context_length": 8192, "tp_size": 2})
    assert report.capacity is not None
    assert report.capacity.tokens is not None
    assert int(calculator.figure("capacity.tokens.engine_log")) == report.capacity.tokens.engine_log
    calculator.set(tp_size="4")
    calculator.set(engine="vllm")
    assert calculator.field("tensor_parallel_size").input_value() == "4"


def test_without_a_network_the_window_goes_on_answering(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&{BUDGET}").wait()
    expect(calculator.page.locator("[data-kv-further]")).to_be_attached()
    calculator.page.context.set_offline(True)
    try:
        calculator.set(tensor_parallel_size="2")
        report = answer(
            {"model": MODEL, "max_model_len": 8192, "available_kv_cache_gib": 40, "tensor_parallel_size": 2}
        )
        assert report.capacity is not None
        assert int(calculator.figure("capacity.num_gpu_blocks")) == report.capacity.num_gpu_blocks
        panel = calculator.page.locator("[data-kv-part=solve]")
        panel.evaluate("element => element.open = true")
        panel.get_by_role("button", name="Solve").click()
        expect(calculator.page.locator("[data-kv-part=solve-answer] table")).to_be_visible(timeout=START_TIMEOUT)
    finally:
        calculator.page.context.set_offline(False)


def test_an_answer_is_saved_as_json(calculator: Calculator, tmp_path: Path) -> None:
    calculator.open(f"?model={MODEL}&{BUDGET}").wait()
    with calculator.page.expect_download() as saved:
        calculator.page.get_by_role("button", name="JSON", exact=True).click()
    saved.value.save_as(tmp_path / "report.json")
    asked = {"model": MODEL, "max_model_len": "8192", "available_kv_cache_gib": "40"}
    assert json.loads((tmp_path / "report.json").read_text()) == to_json(answer(asked))


def test_the_way_from_the_model_to_a_solved_question_is_open_to_the_keyboard_alone(calculator: Calculator) -> None:
    calculator.open()
    expect(calculator.page.locator("[data-kv-further]")).to_be_attached()
    tab_until(calculator, "[name=model]")
    calculator.page.keyboard.press("Control+A")
    calculator.page.keyboard.type("Qwen/Qwen3-32B")
    tab_until(calculator, "[name=kv_cache_dtype]")
    calculator.page.keyboard.type("fp8")
    calculator.wait()
    tab_until(calculator, "[data-kv-part=solve] > summary")
    calculator.page.keyboard.press("Enter")
    tab_until(calculator, "[data-kv-part=solve] button[type=submit]")
    calculator.page.keyboard.press("Enter")
    asked = {"model": "Qwen/Qwen3-32B", "kv_cache_dtype": "fp8", "max_model_len": 32768, "available_kv_cache_gib": 40}
    expected = longest_context(asked, 8).value
    expect(calculator.page.locator("[data-kv-part=solve-answer]")).to_contain_text(
        f"{expected:,} tokens", timeout=START_TIMEOUT
    )


def tab_until(calculator: Calculator, selector: str) -> None:
    """Presses Tab until an element has the focus, as often as a page has stops at most."""
    most = 150
    for _ in range(most):
        calculator.page.keyboard.press("Tab")
        if calculator.page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"Tab does not come to {selector}")


def test_a_field_that_is_set_stays_visible_where_it_does_not_apply(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&{BUDGET}&mamba_cache_mode=none").wait()
    expect(calculator.field("mamba_cache_mode")).to_be_visible()


def test_the_compact_view_shows_the_answer_and_a_link_to_the_whole(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&{BUDGET}&embed").wait()
    expect(calculator.page.locator(".kv-headline")).to_be_visible()
    expect(calculator.answer.locator(".kv-layers")).to_be_visible()
    for hidden in ("#capacity", "#evidence", "[data-kv-part=layout]"):
        expect(calculator.page.locator(hidden)).to_be_hidden()
    expect(calculator.page.locator("[data-kv-part=form]")).to_be_hidden()
    expect(calculator.page.locator(".md-header")).to_be_hidden()
    link = calculator.page.get_by_role("link", name="the whole calculator")
    assert "embed" not in str(link.get_attribute("href"))
    calculator.page.goto(f"{calculator.origin}/calculator/")
    expect(calculator.page.locator("[data-kv-part=form]")).to_be_visible()


def test_print_leaves_the_answer_alone(calculator: Calculator) -> None:
    calculator.open()
    calculator.page.emulate_media(media="print")
    expect(calculator.page.locator(".kv-headline")).to_be_visible()
    for hidden in ("[data-kv-part=form]", "[data-kv-part=further]", ".kv-takeaway__buttons"):
        expect(calculator.page.locator(hidden).first).to_be_hidden()
    calculator.page.emulate_media(media="screen")


def test_every_control_has_a_name_for_those_who_do_not_see_it(calculator: Calculator) -> None:
    calculator.open()
    expect(calculator.page.locator("[data-kv-further]")).to_be_attached()
    nameless = calculator.page.evaluate(
        """[...document.querySelectorAll(".kv-calculator :is(input, select, textarea, button)")]
            .filter((item) => !item.labels?.length && !item.ariaLabel && !item.textContent.trim())
            .map((item) => item.outerHTML.slice(0, 120))"""
    )
    assert nameless == []


def test_the_page_says_why_there_is_no_service_worker(calculator: Calculator) -> None:
    calculator.open()
    expect(calculator.page.locator(".kv-calculator__question")).to_contain_text("no service worker")
