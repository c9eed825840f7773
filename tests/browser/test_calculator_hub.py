"""Fetching a config.json from the Hub, with a stand-in for it: only when asked, saying nothing of the reader."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Route, expect

from tests.browser.conftest import REPORT_VIOLATIONS, VIOLATION
from tests.browser.pages import START_TIMEOUT, Calculator

pytestmark = pytest.mark.browser

HUB = "https://huggingface.co"
MIRROR = "https://mirror.example.test"
MODEL = "some-lab/Small-1B"
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
    "intermediate_size": 8192,
}
CORS = {"access-control-allow-origin": "*"}


class StandIn:
    """Answers in place of the Hub, in one window, and keeps what it was asked."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.begin()
        page.add_init_script(REPORT_VIOLATIONS)
        page.on("console", self.heard)
        page.context.route(f"{HUB}/**", self.reply)

    def begin(self) -> None:
        """Forgets what was asked, and answers again."""
        self.asked: list[Request] = []
        self.status = 200
        self.violations: list[str] = []

    def heard(self, message: ConsoleMessage) -> None:
        if message.text.startswith(VIOLATION):
            self.violations.append(message.text)

    def reply(self, route: Route) -> None:
        self.asked.append(route.request)
        route.fulfill(status=self.status, headers=CORS, body=json.dumps(CONFIG) if self.status == 200 else "")


@pytest.fixture(scope="module")
def stand_in(browser: Browser) -> Iterator[StandIn]:
    """One window for the module: Python starts once in it."""
    context = browser.new_context()
    yield StandIn(context.new_page())
    context.close()


@pytest.fixture
def hub(stand_in: StandIn) -> Iterator[StandIn]:
    stand_in.begin()
    yield stand_in
    assert stand_in.violations == []


def fetch(hub: StandIn, site_url: str, model: str) -> Calculator:
    calculator = Calculator(hub.page, site_url).open()
    calculator.field("model").fill(model)
    hub.page.get_by_role("button", name="Fetch config.json").click()
    return calculator


def test_a_fetched_config_is_answered_and_the_hub_learns_nothing_else(site_url: str, hub: StandIn) -> None:
    calculator = fetch(hub, site_url, MODEL)
    expect(calculator.field("config")).to_have_value(json.dumps(CONFIG), timeout=START_TIMEOUT)
    calculator.wait()
    layers, heads, size, pair, bytes_each = 16, 8, 64, 2, 2
    expect(calculator.answer.locator('[data-kv="layout.bytes_per_token"]').first).to_have_attribute(
        "value", str(layers * heads * size * pair * bytes_each)
    )
    (request,) = hub.asked
    assert request.url == f"{HUB}/{MODEL}/resolve/main/config.json"
    assert not {"referer", "cookie", "authorization"} & set(request.all_headers())


@pytest.mark.parametrize(("status", "words"), [(401, "gated"), (403, "gated"), (404, "no config.json"), (500, "500")])
def test_what_the_hub_refuses_is_explained(site_url: str, hub: StandIn, status: int, words: str) -> None:
    hub.status = status
    calculator = fetch(hub, site_url, MODEL)
    expect(hub.page.locator("[data-kv-part=hub-note]")).to_contain_text(words, timeout=START_TIMEOUT)
    assert calculator.field("config").input_value() == ""


def test_nothing_is_asked_for_what_is_no_model_name(site_url: str, hub: StandIn) -> None:
    fetch(hub, site_url, "../../evil?x=1")
    expect(hub.page.locator("[data-kv-part=hub-note]")).to_contain_text("organisation/name")
    assert hub.asked == []


def test_a_mirror_of_the_readers_own_is_asked_in_place_of_the_hub_and_kept(
    page: Page, site_url: str, hub: StandIn
) -> None:
    page.context.route(f"{MIRROR}/**", hub.reply)
    calculator = Calculator(page, site_url).open()
    page.get_by_text("From a mirror").click()
    page.get_by_label("Address that stands for the Hub").fill(f"{MIRROR}/hub/")
    page.reload()
    calculator.field("model").fill(MODEL)
    page.get_by_role("button", name="Fetch config.json from mirror.example.test").click()
    expect(calculator.field("config")).to_have_value(json.dumps(CONFIG), timeout=START_TIMEOUT)
    assert [request.url for request in hub.asked] == [f"{MIRROR}/hub/{MODEL}/resolve/main/config.json"]


@pytest.mark.parametrize(
    "address", ["https://[mirror", "ftp://mirror.example.test", "https://me:secret@mirror.example.test"]
)
def test_where_the_mirrors_address_is_none_nobody_is_asked_and_the_page_works(
    site_url: str, hub: StandIn, address: str
) -> None:
    calculator = Calculator(hub.page, site_url).open()
    hub.page.evaluate("address => localStorage.setItem('kv-hub-mirror', address)", address)
    fetch(hub, site_url, MODEL)
    expect(hub.page.locator("[data-kv-part=hub-note]")).to_contain_text("mirror's address is none")
    expect(calculator.page.locator("[data-kv-further]")).to_be_attached()
    assert hub.asked == []
    hub.page.evaluate("localStorage.removeItem('kv-hub-mirror')")


def test_of_two_models_fetched_the_later_press_fills_the_form_however_late_the_first_arrives(
    site_url: str, hub: StandIn
) -> None:
    held: list[Route] = []
    hub.page.context.route(f"{HUB}/slow/**", lambda route: held.append(route))  # noqa: PLW0108 - a bound method takes no mark
    calculator = fetch(hub, site_url, "slow/Model")
    expect(hub.page.locator("[data-kv-part=hub-note]")).to_contain_text("slow/Model")
    calculator.field("model").fill(MODEL)
    hub.page.get_by_role("button", name="Fetch config.json").click()
    expect(calculator.field("config")).to_have_value(json.dumps(CONFIG), timeout=START_TIMEOUT)
    held[0].fulfill(status=404, headers=CORS, body="")
    calculator.wait()
    expect(hub.page.locator("[data-kv-part=hub-note]")).to_contain_text(MODEL)


def test_a_hub_that_never_answers_is_given_up(page: Page, site_url: str) -> None:
    page.clock.install()
    held: list[Route] = []
    page.context.route(f"{HUB}/**", lambda route: held.append(route))  # noqa: PLW0108 - a bound method takes no mark
    calculator = Calculator(page, site_url).open()
    calculator.field("model").fill(MODEL)
    with page.expect_request(f"{HUB}/**"):
        page.get_by_role("button", name="Fetch config.json").click()
    page.clock.fast_forward(15_000)
    expect(page.locator("[data-kv-part=hub-note]")).to_contain_text("did not answer within 15 seconds")
    assert calculator.field("config").input_value() == ""


def test_the_page_itself_may_still_reach_no_other_host(page: Page, site_url: str) -> None:
    Calculator(page, site_url).open()
    asked = page.evaluate(f"fetch('{HUB}/x').then(() => 'reached', () => 'stopped')")
    assert asked == "stopped"
