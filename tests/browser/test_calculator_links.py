"""Links: what they carry, what an old one says beside today's answer, and the way back through the history."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from kvcore import __version__
from kvcore.answer import answer
from kvcore.permalink import write_link
from tests.browser.pages import START_TIMEOUT, Calculator

pytestmark = pytest.mark.browser

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
QUESTION = {"model": MODEL, "tensor_parallel_size": 2, "max_model_len": 8192, "available_kv_cache_gib": 20}
# 128 KiB per token over 2 GPUs: 20 GiB / (64 KiB × 16 tokens) blocks of 16 tokens each.
BLOCKS = (20 << 30) // (64 * 1024 * 16)


def link() -> str:
    return write_link(QUESTION, answer(QUESTION))


def copied(calculator: Calculator, button: str = "Copy link") -> str:
    calculator.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    calculator.page.get_by_role("button", name=button).click()
    expect(calculator.page.locator("[data-kv-part=takeaway] [role=status]")).to_contain_text("copied")
    return str(calculator.page.evaluate("navigator.clipboard.readText()"))


def test_a_copied_link_carries_the_question_the_versions_and_the_figures(calculator: Calculator) -> None:
    calculator.open(f"?{'&'.join(f'{name}={value}' for name, value in QUESTION.items())}").wait()
    query = parse_qs(urlsplit(copied(calculator)).query)
    assert query["tensor_parallel_size"] == ["2"]
    assert query["engine_version"] == ["0.33.0"]
    assert query["kvcore"] == [__version__]
    assert f"blocks:{BLOCKS}" in query["said"][0]


def test_markdown_is_written_of_the_answer_shown_when_it_is_copied(calculator: Calculator) -> None:
    calculator.open(f"?{'&'.join(f'{name}={value}' for name, value in QUESTION.items())}").wait()
    text = copied(calculator, "Copy for a design review")
    assert f"| {BLOCKS:,} |" in text
    assert "`tensor_parallel_size` | 2 |" in text


def test_a_link_that_is_still_true_shows_the_answer_and_no_notice(calculator: Calculator) -> None:
    calculator.open(link()).wait()
    assert int(calculator.figure("capacity.num_gpu_blocks")) == BLOCKS
    expect(calculator.page.locator("[data-kv-part=notice]")).to_be_empty()
    expect(calculator.status).not_to_contain_text("said")


def test_a_link_that_said_something_else_shows_then_now_and_why(calculator: Calculator) -> None:
    calculator.open(link().replace(f"blocks:{BLOCKS}", f"blocks:{BLOCKS + 7}")).wait()
    notice = calculator.page.locator("[data-kv-part=notice]")
    expect(notice).to_contain_text(f"{BLOCKS + 7:,}", timeout=START_TIMEOUT)
    expect(notice).to_contain_text(f"{BLOCKS:,}")
    expect(notice).to_contain_text("edited by hand")


def test_the_notice_goes_when_the_question_changes(calculator: Calculator) -> None:
    calculator.open(link().replace(f"blocks:{BLOCKS}", f"blocks:{BLOCKS + 7}")).wait()
    notice = calculator.page.locator("[data-kv-part=notice]")
    expect(notice).not_to_be_empty(timeout=START_TIMEOUT)
    calculator.set(tensor_parallel_size="4")
    expect(notice).to_be_empty()
    assert "said" not in calculator.address()


def test_hostile_figures_of_a_link_are_left_aside(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&kvcore=<b>&said=blocks:<img src=x>,requests:{'9' * 400},tokens:-1e9").wait()
    assert calculator.page.locator("article img").count() == 0
    assert calculator.field("model").input_value() == MODEL


def test_a_change_is_one_step_back_and_one_step_forward(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&max_model_len=8192&available_kv_cache_gib=20").wait()
    calculator.set(kv_cache_dtype="fp8")
    calculator.set(tensor_parallel_size="4")
    calculator.go_back()
    expect(calculator.field("tensor_parallel_size")).to_have_value("")
    expect(calculator.field("kv_cache_dtype")).to_have_value("fp8")
    calculator.go_back()
    expect(calculator.field("kv_cache_dtype")).to_have_value("")
    calculator.page.go_forward()
    expect(calculator.field("kv_cache_dtype")).to_have_value("fp8")
    calculator.wait()
    assert int(calculator.figure("layout.bytes_per_token")) == 64 * 1024


def reload_right_after_typing(calculator: Calculator, name: str, text: str) -> None:
    """Types and reloads in one task of the browser, so that nothing that waits gets its turn."""
    with calculator.page.expect_navigation():
        calculator.page.evaluate(
            """([name, text]) => {
                const control = document.querySelector(`[name=${name}]`);
                control.value = text;
                control.dispatchEvent(new Event("input", {bubbles: true}));
                location.reload();
            }""",
            [name, text],
        )
    expect(calculator.page.locator("[data-kv-bound]")).to_be_attached(timeout=START_TIMEOUT)


def test_an_edit_survives_a_reload_in_the_moment_after_it(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&tensor_parallel_size=2")
    reload_right_after_typing(calculator, "tensor_parallel_size", "4")
    expect(calculator.field("tensor_parallel_size")).to_have_value("4")
    assert parse_qs(urlsplit(calculator.address()).query) == {"model": [MODEL], "tensor_parallel_size": ["4"]}


def test_of_two_edits_in_one_moment_a_reload_keeps_the_second(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&tensor_parallel_size=2")
    calculator.set_without_waiting(max_model_len="4096")
    reload_right_after_typing(calculator, "max_model_len", "8192")
    expect(calculator.field("max_model_len")).to_have_value("8192")
    expect(calculator.page).to_have_url(re.compile("max_model_len=8192"))


def test_what_was_kept_for_a_reload_is_not_taken_for_another_address(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&tensor_parallel_size=2")
    reload_right_after_typing(calculator, "tensor_parallel_size", "4")
    calculator.written()
    calculator.page.goto(f"{calculator.origin}/calculator/?model={MODEL}&tensor_parallel_size=8")
    expect(calculator.page.locator("[data-kv-bound]")).to_be_attached(timeout=START_TIMEOUT)
    expect(calculator.field("tensor_parallel_size")).to_have_value("8")


def test_edits_of_two_fields_in_one_moment_are_two_steps(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}&available_kv_cache_gib=20").wait()
    calculator.page.evaluate(
        """() => {
            for (const [name, text] of [["max_model_len", "8192"], ["max_num_seqs", "64"]]) {
                const control = document.querySelector(`[name=${name}]`);
                control.value = text;
                control.dispatchEvent(new Event("input", {bubbles: true}));
            }
        }"""
    )
    calculator.go_back()
    expect(calculator.field("max_num_seqs")).to_have_value("")
    expect(calculator.field("max_model_len")).to_have_value("8192")


def test_of_edits_in_quick_succession_the_address_holds_the_last(calculator: Calculator) -> None:
    calculator.open(f"?model={MODEL}")
    # The window's history may be as long as a browser keeps it.
    calculator.page.evaluate(
        """() => {
            globalThis.steps = 0;
            for (const name of ["pushState", "replaceState"]) {
                const change = history[name].bind(history);
                history[name] = (...entry) => { globalThis.steps += name === "pushState"; change(...entry); };
            }
            const control = document.querySelector("[name=max_model_len]");
            for (const text of ["8", "81", "819", "8192"]) {
                control.value = text;
                control.dispatchEvent(new Event("input", {bubbles: true}));
            }
        }"""
    )
    expect(calculator.page).to_have_url(re.compile("max_model_len=8192$"))
    assert calculator.page.evaluate("globalThis.steps") == 1


def test_a_config_too_long_for_an_address_survives_a_reload_and_leaves_as_a_file(
    calculator: Calculator, tmp_path: Path
) -> None:
    # Random-looking names do not compress: 4,000 of them are far beyond the 32,000 characters of a link.
    ignored = [f"layer.{(number * 2_654_435_761) % 2**32:08x}.{number**3 % 99_991}" for number in range(6000)]
    config = json.dumps(
        {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_size": 4096,
            "num_hidden_layers": 32,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "max_position_embeddings": 131072,
            "vocab_size": 128256,
            "intermediate_size": 14336,
            "torch_dtype": "bfloat16",
            "ignored_names": ignored,
        }
    )
    calculator.open()
    calculator.set(config=config, max_model_len="8192")
    expect(calculator.page).to_have_url(re.compile("max_model_len=8192.*#config-kept"))
    calculator.page.reload()
    calculator.wait()
    assert calculator.field("config").input_value() == config
    with calculator.page.expect_download() as saved:
        address = copied(calculator)
    saved.value.save_as(tmp_path / "config.json")
    assert (tmp_path / "config.json").read_text() == config
    assert parse_qs(urlsplit(address).query)["max_model_len"] == ["8192"]
