"""The page that reads logs, in a browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.reconcile.log_lines import vllm_log

pytestmark = pytest.mark.browser

REQUEST = {"model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "H100", "max_model_len": 4096}
ARGUMENTS = (
    "non-default args: {'model': 'meta-llama/Llama-3.1-8B-Instruct', 'host': 'gpu-box-17', 'max_model_len': 4096}\n"
)
START = 120_000
PASTE = """(box, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""
MOST_BYTES = 200_000_000


def answer_number(page: Page, number: int) -> str:
    answer = page.locator(f'[data-kv-part=answer][data-kv-answered="{number}"]')
    expect(answer).to_be_visible(timeout=START)
    return answer.inner_text()


def test_a_pasted_log_is_read_and_its_names_are_not_shown_again(watched: Page, site_url: str) -> None:
    watched.goto(f"{site_url}/reconcile/")
    watched.get_by_label("Start-up log").fill(ARGUMENTS + vllm_log(REQUEST))

    shown = answer_number(watched, 1)

    assert "Every figure is equal to what kvcore computes." in shown
    assert "gpu-box-17" not in shown
    assert watched.url == f"{site_url}/reconcile/"


@pytest.mark.parametrize("control", ["Start-up log", "or choose a file"])
def test_what_was_pasted_or_chosen_before_the_script_came_is_read(
    watched: Page, site_url: str, tmp_path: Path, control: str
) -> None:
    held: list[Route] = []
    watched.route("**/reconcile.mjs", lambda route: held.append(route))  # noqa: PLW0108 -- Playwright takes no builtin
    log = ARGUMENTS + vllm_log(REQUEST)
    file = tmp_path / "server.log"
    file.write_text(log)
    watched.goto(f"{site_url}/reconcile/", wait_until="commit")
    given = watched.get_by_label(control)
    if control == "Start-up log":
        given.fill(log)
    else:
        given.set_input_files(file)
    with watched.expect_response("**/reconcile.mjs"):
        while not held:
            watched.wait_for_timeout(20)
        held.pop().continue_()
    assert "Every figure is equal to what kvcore computes." in answer_number(watched, 1)


def test_a_file_is_read_in_the_page_and_a_larger_one_is_left_to_the_command(
    watched: Page, site_url: str, tmp_path: Path
) -> None:
    small, large = tmp_path / "small.log", tmp_path / "large.log"
    small.write_text(ARGUMENTS + vllm_log(REQUEST))
    with large.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    watched.goto(f"{site_url}/reconcile/")
    chooser = watched.get_by_label("or choose a file")
    chooser.set_input_files(large)
    expect(watched.get_by_text("the page reads up to 200.")).to_be_visible()

    chooser.set_input_files(small)

    assert "Logged and computed" in answer_number(watched, 1)


def test_an_example_is_read_at_a_click_and_a_long_text_is_not_laid_out_in_the_box(watched: Page, site_url: str) -> None:
    watched.goto(f"{site_url}/reconcile/")
    watched.get_by_role("button", name="Read an example").click()
    assert "Every figure is equal to what kvcore computes." in answer_number(watched, 1)

    long = ARGUMENTS + vllm_log(REQUEST) + "INFO: 200 OK\n" * 20_000
    box = watched.get_by_label("Start-up log")
    box.evaluate(PASTE, long)

    assert "Logged and computed" in answer_number(watched, 2)
    expect(box).to_have_value("")
