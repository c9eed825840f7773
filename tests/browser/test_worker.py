"""The worker's life: one per window, replaced when it dies, honest when it cannot start."""

import gzip
import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from kvcore.browser import answer_json
from tests.browser.pages import START_TIMEOUT, Calculator
from tests.golden.points import config_of, points_by_config

pytestmark = pytest.mark.browser

SLOW_CONNECTION = "Object.defineProperty(WorkerNavigator.prototype, 'connection', {value: {effectiveType: '3g'}})"
MEMORY = "**/snapshot.bin.gz"
DATA_SAVER = "Object.defineProperty(navigator, 'connection', {value: {saveData: true}})"


def test_without_scripts_the_page_shows_a_complete_answer(browser: Browser, site_url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site_url}/calculator/")
    expect(page.locator('[data-kv-part=answer] [data-kv="capacity.tokens.engine_log"]').first).to_be_visible()
    context.close()


def test_the_answer_built_into_the_page_is_the_one_the_worker_gives(calculator: Calculator, site: Path) -> None:
    calculator.open()
    form = calculator.page.locator("[data-kv-part=form]")
    fields = form.evaluate("form => Object.fromEntries(new FormData(form))")
    calculator.set(tensor_parallel_size="2")
    blocks = json.loads(calculator.ask("answer_form", fields))["blocks"]
    assert "\n".join(blocks) in (site / "calculator" / "index.html").read_text(encoding="utf-8")


def test_progress_says_what_is_loading_and_how_much(own_calculator: Calculator) -> None:
    held: list[Route] = []
    own_calculator.page.route("**/*.wasm", lambda route: held.append(route))  # noqa: PLW0108 -- Playwright takes no builtin
    own_calculator.open()
    expect(own_calculator.status).to_contain_text("Loading Python", timeout=START_TIMEOUT)
    expect(own_calculator.status).to_contain_text("MB")
    expect(own_calculator.status.locator("progress")).to_be_visible()
    expect(own_calculator.answer.locator('[data-kv="capacity.tokens.engine_log"]').first).to_be_visible()
    for route in held:
        route.continue_()


def test_what_is_typed_while_python_loads_is_answered(own_calculator: Calculator) -> None:
    held: list[Route] = []
    own_calculator.page.route("**/*.wasm", lambda route: held.append(route))  # noqa: PLW0108 -- Playwright takes no builtin
    with own_calculator.page.expect_request("**/*.wasm", timeout=START_TIMEOUT):
        own_calculator.open()
        own_calculator.field("tensor_parallel_size").fill("2")
    expect(own_calculator.status).to_contain_text("Loading Python", timeout=START_TIMEOUT)
    own_calculator.field("tensor_parallel_size").fill("4")
    expect(own_calculator.answer).to_have_attribute("aria-busy", "true")
    for route in held:
        route.continue_()
    own_calculator.wait()
    assert own_calculator.field("tensor_parallel_size").input_value() == "4"
    expect(own_calculator.answer).to_have_attribute("data-kv-answered", "1")


def test_a_failed_start_says_so_and_can_be_tried_again(own_calculator: Calculator) -> None:
    own_calculator.page.route("**/*.wasm", lambda route: route.abort())
    own_calculator.open()
    own_calculator.field("tensor_parallel_size").fill("2")
    retry = own_calculator.page.get_by_role("button", name="Try again")
    expect(retry).to_be_visible(timeout=START_TIMEOUT)
    expect(own_calculator.status).to_contain_text("could not be started")

    own_calculator.page.unroute("**/*.wasm")
    retry.click()
    own_calculator.wait()
    assert own_calculator.field("tensor_parallel_size").input_value() == "2"
    expect(retry).to_be_hidden()


@pytest.mark.parametrize(
    "body", ["", "not gzip", gzip.compress(b"no memory of this Python")], ids=["empty", "text", "other"]
)
def test_where_the_memory_cannot_be_restored_python_starts_without_it(
    own_calculator: Calculator, body: str | bytes
) -> None:
    own_calculator.page.route(MEMORY, lambda route: route.fulfill(body=body))
    own_calculator.open()
    own_calculator.set(tensor_parallel_size="2")
    assert own_calculator.started() == 2
    expect(own_calculator.answer).to_have_attribute("data-kv-answered", "1")


def test_a_slow_connection_is_spared_the_memory(own_calculator: Calculator) -> None:
    asked: list[str] = []
    own_calculator.page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]))
    own_calculator.page.route(
        "**/worker.mjs",
        lambda route: route.fulfill(response=(got := route.fetch()), body=f"{SLOW_CONNECTION};{got.text()}"),
    )
    own_calculator.open()
    own_calculator.set(tensor_parallel_size="2")
    assert "python_stdlib.zip" in asked
    assert "snapshot.bin.gz" not in asked


def test_a_start_that_never_ends_is_given_up_after_a_minute(own_calculator: Calculator) -> None:
    own_calculator.page.clock.install()
    own_calculator.page.route("**/*.wasm", lambda _: None)
    own_calculator.open()
    own_calculator.field("model").focus()
    expect(own_calculator.status).to_have_attribute("data-kv-phase", "loading")
    own_calculator.page.clock.fast_forward(61_000)
    expect(own_calculator.page.get_by_role("button", name="Try again")).to_be_visible()
    expect(own_calculator.status).to_contain_text("60 seconds")


def test_a_missing_worker_says_so(own_calculator: Calculator) -> None:
    own_calculator.page.route("**/worker.mjs", lambda route: route.fulfill(status=404, body=""))
    own_calculator.open()
    own_calculator.field("model").focus()
    expect(own_calculator.page.get_by_role("button", name="Try again")).to_be_visible(timeout=START_TIMEOUT)


def test_a_worker_that_falls_silent_is_replaced_and_asked_again(own_calculator: Calculator) -> None:
    own_calculator.page.clock.install()
    own_calculator.open()
    own_calculator.page.clock.run_for(5_000)
    own_calculator.set_without_waiting(tensor_parallel_size="2")
    own_calculator.page.clock.run_for(1_000)
    own_calculator.wait()
    own_calculator.worker().evaluate("() => { self.postMessage = () => {}; }")
    own_calculator.set_without_waiting(tensor_parallel_size="4")
    own_calculator.page.clock.run_for(1_000)
    own_calculator.page.clock.fast_forward(21_000)
    own_calculator.wait()
    assert own_calculator.started() == 2
    expect(own_calculator.answer).to_have_attribute("data-kv-answered", "2")


def test_a_worker_whose_python_broke_is_replaced_when_the_next_question_comes(own_calculator: Calculator) -> None:
    own_calculator.open()
    own_calculator.set(tensor_parallel_size="2")
    own_calculator.worker().evaluate("() => self.postMessage({ type: 'failed', message: 'out of memory' })")
    expect(own_calculator.status).to_have_attribute("data-kv-phase", "idle")
    own_calculator.set(tensor_parallel_size="4")
    assert own_calculator.started() == 2


def test_no_worker_starts_by_itself_when_the_reader_saves_data(own_calculator: Calculator) -> None:
    own_calculator.page.add_init_script(DATA_SAVER)
    own_calculator.page.clock.install()
    own_calculator.open()
    own_calculator.page.clock.run_for(30_000)
    assert own_calculator.started() == 0
    own_calculator.field("model").focus()
    assert own_calculator.started() == 1


def test_one_worker_outlives_instant_navigation(own_calculator: Calculator) -> None:
    own_calculator.open()
    own_calculator.set(tensor_parallel_size="2")
    page = own_calculator.page
    page.evaluate("globalThis.sameWindow = true")
    page.locator("a.md-logo").first.click()
    expect(page).to_have_url(f"{own_calculator.origin}/")
    page.go_back()
    expect(own_calculator.answer).to_be_visible()
    own_calculator.wait()
    assert page.evaluate("globalThis.sameWindow") is True
    assert own_calculator.started() == 1
    assert own_calculator.field("tensor_parallel_size").input_value() == "2"


@pytest.mark.golden
def test_the_worker_and_this_python_answer_a_golden_file_byte_for_byte_the_same(calculator: Calculator) -> None:
    calculator.open()
    calculator.set(tensor_parallel_size="2")
    for config, points in points_by_config("vllm-0.33.0/blackwell.jsonl").items():
        for point in points:
            request = {"config": config_of(config), **point.request}
            assert calculator.ask("answer_json", request) == answer_json(json.dumps(request)), point.id


def test_every_page_kind_keeps_the_policy(watched: Page, site_url: str) -> None:
    for path in ("/", "/models/", "/calculator/", "/method/", "/404.html"):
        watched.goto(site_url + path)
        policy = watched.locator('head > meta[http-equiv="Content-Security-Policy"]')
        expect(policy).to_have_count(1)
        assert policy.evaluate("element => element.previousElementSibling.matches('meta[charset]')")


def test_the_policy_stops_an_inline_script(page: Page, site_url: str) -> None:
    page.goto(f"{site_url}/calculator/")
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "document.title = 'ran'";
            document.body.append(script);
        }"""
    )
    assert page.title() != "ran"


def test_an_address_that_asks_starts_python_before_the_pages_scripts_and_shows_no_other_answer(
    watched: Page, site_url: str
) -> None:
    held: list[Route] = []
    watched.route("**/client.mjs", lambda route: held.append(route))  # noqa: PLW0108 -- Playwright takes no builtin
    with watched.expect_worker(lambda worker: worker.url.endswith("/worker.mjs")):
        watched.goto(
            f"{site_url}/calculator/?model=meta-llama/Llama-3.1-8B-Instruct&max_model_len=4096", wait_until="commit"
        )
    calculator = Calculator(watched, site_url)
    expect(calculator.answer.locator(".kv-headline")).to_be_hidden()
    while not held:
        watched.wait_for_timeout(20)
    held.pop().continue_()
    calculator.wait()
    expect(calculator.answer.locator(".kv-headline")).to_be_visible()
    assert calculator.started() == 1
    assert calculator.figure("inputs.max_model_len.value") == "4096"
