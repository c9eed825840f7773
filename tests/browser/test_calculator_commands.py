"""Engine commands: pasted ones fill the form, and every answer is given back as one."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.pages import START_TIMEOUT, Calculator

pytestmark = pytest.mark.browser

MODEL = "Qwen/Qwen3-32B"


def paste(calculator: Calculator, command: str) -> None:
    calculator.page.locator("[data-kv-part=command]").evaluate("element => element.open = true")
    calculator.page.locator("#kv-command").fill(command)
    calculator.page.get_by_role("button", name="Fill the form").click()


def test_a_command_in_a_container_fills_the_form_and_says_what_it_left_out(calculator: Calculator) -> None:
    calculator.open()
    paste(
        calculator,
        f"docker run --gpus all vllm/vllm-openai vllm serve {MODEL} \\\n  -tp 4 --kv-cache-dtype=fp8 "
        "--port 8001 --cpu-offload-gb 4 --made-up 3",
    )
    notes = calculator.page.locator("[data-kv-part=command-notes]")
    expect(notes).to_contain_text("--made-up", timeout=START_TIMEOUT)
    expect(notes).to_contain_text("--port")
    expect(notes).to_contain_text("--cpu-offload-gb")
    expect(calculator.field("model")).to_have_value(MODEL)
    expect(calculator.field("tensor_parallel_size")).to_have_value("4")
    expect(calculator.field("kv_cache_dtype")).to_have_value("fp8")
    calculator.wait()
    assert parse_qs(urlsplit(calculator.address()).query)["tensor_parallel_size"] == ["4"]


def test_the_card_stays_as_it_was_chosen_because_no_command_names_one(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(gpu="L40S", kv_cache_dtype="fp8")
    paste(calculator, f"vllm serve {MODEL} -tp 4")
    expect(calculator.field("tensor_parallel_size")).to_have_value("4", timeout=START_TIMEOUT)
    assert calculator.field("gpu").input_value() == "L40S"
    assert calculator.field("kv_cache_dtype").input_value() == ""


def test_an_sglang_command_chooses_its_engine_and_its_fields(calculator: Calculator) -> None:
    calculator.open()
    paste(calculator, f"python -m sglang.launch_server --model-path {MODEL} --tp-size 2 --context-length 8192")
    expect(calculator.field("engine")).to_have_value("sglang", timeout=START_TIMEOUT)
    expect(calculator.field("tp_size")).to_have_value("2")
    expect(calculator.field("tp_size")).to_be_visible()
    expect(calculator.field("tensor_parallel_size")).to_be_hidden()


def test_what_is_no_command_is_refused_beside_the_box_and_changes_nothing(calculator: Calculator) -> None:
    calculator.open()
    before = calculator.field("model").input_value()
    paste(calculator, "rm -rf '")
    error = calculator.page.locator("#kv-command-error")
    expect(error).to_be_visible(timeout=START_TIMEOUT)
    expect(calculator.page.locator("#kv-command")).to_have_attribute("aria-invalid", "true")
    assert calculator.field("model").input_value() == before
    assert calculator.page.locator("#kv-command").input_value() == "rm -rf '"


def test_hostile_flags_are_listed_as_text(calculator: Calculator) -> None:
    calculator.open()
    paste(calculator, f"vllm serve {MODEL} '--<img/src/onerror>' 1")
    expect(calculator.page.locator("[data-kv-part=command-notes]")).to_contain_text(
        "--<img/src/onerror>", timeout=START_TIMEOUT
    )
    assert calculator.page.locator("article img").count() == 0


def test_every_answer_comes_with_the_engines_own_command(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(model=MODEL, tensor_parallel_size="4", enable_prefix_caching="false")
    command = calculator.page.locator("[data-kv-part=engine] code")
    expect(command).to_contain_text(f"vllm serve {MODEL}")
    expect(command).to_contain_text("--tensor-parallel-size 4")
    expect(command).to_contain_text("--no-enable-prefix-caching")
