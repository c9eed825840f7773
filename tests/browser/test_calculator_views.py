"""What the page offers and how it shows it: only what applies, the compact view, print, keyboard."""

import re

import pytest
from playwright.sync_api import expect

from kvcore.answer import answer
from kvcore.catalog import load_models
from tests.browser.pages import Calculator

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
