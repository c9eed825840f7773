"""What the browser tests share: pages that note what they must never do, and the calculator on them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from tests.browser.pages import Calculator

VIOLATION = "policy violation:"
REPORT_VIOLATIONS = f"""addEventListener("securitypolicyviolation", (event) =>
  console.error("{VIOLATION}", event.effectiveDirective, event.blockedURI, event.sample))"""


class Watched:
    """A page and what went wrong on it: a broken policy, an uncaught error, a request to another host."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.faults: list[str] = []
        page.on("console", self.heard)
        page.on("pageerror", lambda error: self.faults.append(f"uncaught: {error}"))
        page.on("request", self.asked)
        page.add_init_script(REPORT_VIOLATIONS)

    def heard(self, message: ConsoleMessage) -> None:
        if message.text.startswith(VIOLATION):
            self.faults.append(message.text)

    def asked(self, request: Request) -> None:
        if not request.url.startswith((f"{self.origin}/", "data:", "blob:")):
            self.faults.append(f"asked another host: {request.url[:200]}")

    def check(self) -> None:
        faults, self.faults = self.faults, []
        assert faults == []


@pytest.fixture(scope="session")
def shared_page(browser: Browser, site_url: str) -> Iterator[Watched]:
    """One window for all tests that need no other: Python starts once in it and outlives navigation."""
    context = browser.new_context()
    yield Watched(context.new_page(), site_url)
    context.close()


@pytest.fixture
def calculator(shared_page: Watched) -> Iterator[Calculator]:
    """The calculator in the shared window, not yet opened."""
    yield Calculator(shared_page.page, shared_page.origin)
    shared_page.check()


@pytest.fixture
def watched(page: Page, site_url: str) -> Iterator[Page]:
    """A window of the test's own, checked when the test ends."""
    watched = Watched(page, site_url)
    yield page
    watched.check()


@pytest.fixture
def own_calculator(watched: Page, site_url: str) -> Calculator:
    """The calculator in a window of its own, where Python has not started."""
    return Calculator(watched, site_url)
