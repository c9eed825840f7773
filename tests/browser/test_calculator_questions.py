"""Questions beside the main one, each asked through the page and held against kvcore in this Python."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from kvcore.answer import answer
from kvcore.questions import compare, iso_concurrency, longest_context, request_mix, splits, sweep, to_csv
from tests.browser.pages import START_TIMEOUT, Calculator

pytestmark = pytest.mark.browser

AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"

DEPLOYMENT: Mapping[str, Any] = {
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "max_model_len": 32768,
    "available_kv_cache_gib": 40,
}
"""What the page asks when it opens."""


def submit(calculator: Calculator, name: str, **values: str) -> Locator:
    panel = calculator.page.locator(f"[data-kv-part={name}]")
    panel.evaluate("element => element.open = true")
    for field, value in values.items():
        control = panel.locator(f"[name={field}]")
        if control.evaluate("element => element.localName") == "select":
            control.select_option(value)
        else:
            control.fill(value)
    panel.locator("button[type=submit]").click()
    found = calculator.page.locator(f"[data-kv-part={name}-answer]")
    expect(found.locator("table").first).to_be_visible(timeout=START_TIMEOUT)
    return found


def test_the_longest_context_is_kvcores_comes_with_its_proof_and_can_be_put_into_the_form(
    calculator: Calculator,
) -> None:
    calculator.open()
    expected = longest_context(DEPLOYMENT, 8).value
    found = submit(calculator, "solve", question="longest-context", requests="8")
    expect(found).to_contain_text(f"{expected:,} tokens")
    expect(found.locator("tbody tr")).to_have_count(2)
    panel = calculator.page.locator("[data-kv-part=solve]")
    expect(panel.locator("code", has_text="vllm serve")).to_contain_text(f"--max-model-len {expected}")
    panel.get_by_role("button", name="Put this into the form").click()
    expect(calculator.field("max_model_len")).to_have_value(str(expected))
    calculator.wait()
    assert float(calculator.figure("capacity.concurrency.engine_log")) >= 8


def test_the_best_split_lists_every_split_with_its_refusals(calculator: Calculator) -> None:
    calculator.open()
    found = submit(calculator, "solve", question="best-split", gpus="4")
    ranked = splits(DEPLOYMENT, 4)
    expect(found.locator("table").last.locator("tbody tr")).to_have_count(len(ranked))


def test_a_wrong_number_of_requests_is_refused_beside_the_question(calculator: Calculator) -> None:
    calculator.open()
    panel = calculator.page.locator("[data-kv-part=solve]")
    panel.evaluate("element => element.open = true")
    panel.locator("[name=requests]").fill("many")
    panel.locator("button[type=submit]").click()
    expect(panel.get_by_role("alert")).to_contain_text("requests", timeout=START_TIMEOUT)
    expect(panel.get_by_role("button", name="Put this into the form")).to_be_hidden()


def test_under_sglang_its_own_inputs_are_offered_and_its_flags_answer(calculator: Calculator) -> None:
    deployment = {"engine": "sglang", "model": DEPLOYMENT["model"], "gpu": "H100", "tp_size": 2}
    calculator.open("?" + "&".join(f"{name}={value}" for name, value in deployment.items())).wait()
    swept = calculator.page.locator("[data-kv-part=sweep] [name=field]")
    expect(swept).to_have_value("context_length", timeout=START_TIMEOUT)
    questions = calculator.page.locator("[data-kv-part=solve] [name=question]")
    assert questions.locator("[value=smallest-budget]").is_disabled()
    found = submit(calculator, "solve", question="longest-context", requests="64")
    expected = longest_context(deployment, 64).value
    expect(found).to_contain_text(f"{expected:,} tokens")
    command = calculator.page.locator("[data-kv-part=solve-command]")
    expect(command).to_contain_text(f"--context-length {expected}")
    calculator.set(engine="vllm")
    expect(swept).to_have_value("max_model_len", timeout=START_TIMEOUT)


def test_a_mix_gives_average_percentile_and_longest(calculator: Calculator) -> None:
    calculator.open()
    found = submit(calculator, "mix")
    lengths = [
        {"prompt_tokens": 1000, "output_tokens": 200, "weight": 70},
        {"prompt_tokens": 8000, "output_tokens": 500, "weight": 25},
        {"prompt_tokens": 24000, "output_tokens": 1000, "weight": 5},
    ]
    mix = request_mix(DEPLOYMENT, lengths)
    shown = [float(str(item.get_attribute("value"))) for item in found.locator("td data").all()]
    assert shown == [float(mix.average), float(mix.percentile), float(mix.longest)]


def test_a_row_can_be_added_to_the_mix(calculator: Calculator) -> None:
    calculator.open()
    panel = calculator.page.locator("[data-kv-part=mix]")
    panel.evaluate("element => element.open = true")
    rows = panel.locator(".kv-entry tbody tr")
    before = rows.count()
    panel.get_by_role("button", name="Add a row").click()
    expect(rows).to_have_count(before + 1)
    expect(panel.get_by_label(f"Prompt, row {before + 1}")).to_be_focused()


def test_a_sweep_is_drawn_listed_and_saved_as_kvcore_computes_it(calculator: Calculator, tmp_path: Path) -> None:
    calculator.open()
    found = submit(
        calculator,
        "sweep",
        field="max_model_len",
        values="8192, 32768",
        second="kv_cache_dtype",
        second_values="auto,fp8",
    )
    axes: dict[str, list[Any]] = {"kv_cache_dtype": ["auto", "fp8"], "max_model_len": [8192, 32768]}
    expect(found.locator("tbody tr")).to_have_count(4)
    cells = found.locator("figure[data-kv-chart=sweep] .layer_2_marks text")
    figures = [point.figures["capacity.concurrency.engine_log"] for point in sweep(DEPLOYMENT, axes).points]
    expect(cells).to_have_text([f"{figure:,.2f}" for figure in figures], timeout=START_TIMEOUT)
    with calculator.page.expect_download() as saved:
        calculator.page.locator("[data-kv-part=sweep] [data-kv-do=csv]").click()
    saved.value.save_as(tmp_path / "sweep.csv")
    assert (tmp_path / "sweep.csv").read_text() == to_csv(sweep(DEPLOYMENT, axes))


def test_requests_against_context_are_drawn_and_listed(calculator: Calculator) -> None:
    calculator.open()
    found = submit(calculator, "iso", requests="4,16,64")
    curve = iso_concurrency(DEPLOYMENT, [4, 16, 64])
    assert [int(str(item.get_attribute("value"))) for item in found.locator("td data").all()] == [
        length for _, length in curve
    ]
    expect(found.locator("figure[data-kv-chart=iso] .mark-line path")).to_have_count(1, timeout=START_TIMEOUT)


def test_deployments_are_compared_with_their_differences_named_and_kept_across_a_reload(calculator: Calculator) -> None:
    calculator.open()
    calculator.page.evaluate("sessionStorage.removeItem('kv-compare')")
    calculator.open()
    add = calculator.page.get_by_role("button", name="Add to comparison")
    add.click()
    calculator.set(kv_cache_dtype="fp8")
    add.click()
    found = calculator.page.locator("[data-kv-part=compare-answer]")
    expect(found.locator("thead th")).to_have_count(4, timeout=START_TIMEOUT)
    comparison = compare([DEPLOYMENT, {**DEPLOYMENT, "kv_cache_dtype": "fp8"}])
    tokens = next(row for row in comparison.figures if row.path == "capacity.tokens.engine_log")
    row = found.locator("tr", has_text="tokens, as logged")
    assert [int(str(item.get_attribute("value"))) for item in row.locator("data").all()] == list(tokens.values)
    expect(row).to_contain_text("differs")

    calculator.page.reload()
    expect(calculator.page.locator("[data-kv-part=kept] li")).to_have_count(2, timeout=START_TIMEOUT)
    calculator.page.locator("[data-kv-part=compare]").evaluate("element => element.open = true")
    calculator.page.get_by_role("button", name="Remove deployment 1").click()
    expect(calculator.page.locator("[data-kv-part=kept] li")).to_have_count(1)


def test_the_questions_and_their_answers_have_no_barrier_that_axe_finds(calculator: Calculator) -> None:
    calculator.open()
    calculator.page.evaluate("sessionStorage.removeItem('kv-compare')")
    calculator.open()
    calculator.page.get_by_role("button", name="Add to comparison").click()
    for name in ("solve", "mix", "sweep", "iso"):
        submit(calculator, name)
    drawings = calculator.page.locator(".kv-further figure svg[role=img][aria-label]")
    expect(drawings).to_have_count(3, timeout=START_TIMEOUT)
    calculator.page.locator("[data-kv-part=layout]").evaluate("element => element.open = true")
    calculator.page.get_by_role("button", name="Edit this").click()
    expect(calculator.page.locator("[data-kv-row]").first).to_be_visible(timeout=START_TIMEOUT)
    calculator.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = calculator.page.evaluate("axe.run().then((found) => found.violations.map((item) => item.id))")
    assert found == []
    calculator.page.evaluate("sessionStorage.removeItem('kv-compare')")


def test_a_fifth_deployment_is_refused(calculator: Calculator) -> None:
    calculator.open()
    kept = json.dumps([{name: str(value) for name, value in DEPLOYMENT.items()}] * 4)
    calculator.page.evaluate("kept => sessionStorage.setItem('kv-compare', kept)", kept)
    calculator.open()
    expect(calculator.page.locator("[data-kv-further]")).to_be_attached(timeout=START_TIMEOUT)
    calculator.page.get_by_role("button", name="Add to comparison").click()
    panel = calculator.page.locator("[data-kv-part=compare]")
    expect(panel.get_by_role("alert")).to_contain_text("4 deployments")
    calculator.page.evaluate("sessionStorage.removeItem('kv-compare')")


def test_each_changed_input_says_what_it_does(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(kv_cache_dtype="fp8")
    before = answer(DEPLOYMENT)
    after = answer({**DEPLOYMENT, "kv_cache_dtype": "fp8"})
    assert before.capacity is not None
    assert after.capacity is not None
    chip = calculator.page.locator("[data-kv-change=kv_cache_dtype]")
    expect(chip).to_have_text(
        f"KV cache dtype fp8: {before.capacity.concurrency.engine_log:,.2f} → {after.capacity.concurrency.engine_log:,.2f}",
        timeout=START_TIMEOUT,
    )
    mark = calculator.page.locator("[data-kv-field=kv_cache_dtype] .kv-field__change")
    expect(mark).to_have_text(
        f"{before.capacity.concurrency.engine_log:,.2f} → {after.capacity.concurrency.engine_log:,.2f}"
    )
