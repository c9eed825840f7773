"""The calculator page as a person uses it."""

import json
import re
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Page, Worker, expect

START_TIMEOUT = 60_000
"""Milliseconds: Python's start, on a machine that runs other tests beside it."""

KEY = "Symbol.for('kv-atlas.client')"


class Calculator:
    """One open calculator page."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.answer = page.locator("[data-kv-part=answer]")
        self.status = page.locator("[data-kv-part=status]")

    def open(self, address: str = "") -> "Calculator":
        """Opens the page with a query or fragment; inside the window where the site is open already."""
        target = f"{self.origin}/calculator/{address}"
        if self.page.url.startswith(self.origin):
            self.follow(f"{self.origin}/")
            self.follow(target)
        else:
            self.page.goto(target)
        expect(self.page.locator("[data-kv-bound]")).to_be_attached(timeout=START_TIMEOUT)
        return self

    def follow(self, address: str) -> None:
        """Clicks a link to an address, so that instant navigation takes it."""
        self.page.evaluate(
            """address => {
                document.querySelector("main").dataset.left = "";
                const link = Object.assign(document.createElement("a"), {href: address});
                document.body.append(link);
                link.click();
                link.remove();
            }""",
            address,
        )
        expect(self.page.locator("main:not([data-left])")).to_be_attached(timeout=START_TIMEOUT)

    def field(self, name: str) -> Any:
        """The control of a request field."""
        return self.page.locator(f"[name={name}]")

    def set(self, **texts: str) -> None:
        """Types texts into fields and waits for the answer to the last one."""
        self.set_without_waiting(**texts)
        self.wait()

    def set_without_waiting(self, **texts: str) -> None:
        """Types texts into fields."""
        for name, text in texts.items():
            control = self.field(name)
            control.evaluate("element => element.closest('details')?.setAttribute('open', '')")
            if control.evaluate("element => element.localName") == "select":
                control.select_option(text)
            else:
                control.fill(text)

    def wait(self) -> None:
        """Waits until the worker has answered what the form asks now."""
        expect(self.answer).to_have_attribute("data-kv-answered", re.compile(r"\d+"), timeout=START_TIMEOUT)
        expect(self.answer).not_to_have_attribute("aria-busy", "true", timeout=START_TIMEOUT)

    def written(self) -> None:
        """Waits until the address holds what the form asks, as it does a moment after the last edit."""
        expect(self.page.locator("[data-kv-unwritten]")).to_have_count(0, timeout=START_TIMEOUT)

    def go_back(self) -> None:
        """Takes the last step back, once it is in the browser's history."""
        self.written()
        self.page.go_back()

    def figure(self, path: str) -> str:
        """The exact value of a shown figure."""
        value = self.answer.locator(f'[data-kv="{path}"]').first.get_attribute("value")
        assert value is not None
        return value

    def error(self, name: str) -> str:
        """The error shown beside a field."""
        return self.page.locator(f"#kv-field-{name}-error").inner_text()

    def address(self) -> str:
        """What the address bar holds, once it holds what the form asks."""
        self.written()
        return str(self.page.evaluate("location.href"))

    def worker(self) -> Worker:
        """The worker that runs Python; the theme's search has one of its own."""
        (worker,) = [worker for worker in self.page.workers if worker.url.endswith("/worker.mjs")]
        return worker

    def started(self) -> int:
        """How many workers this window has started."""
        return int(self.page.evaluate(f"globalThis[{KEY}]?.started ?? 0"))

    def ask(self, door: str, request: Mapping[str, object]) -> str:
        """Asks the page's own worker and returns its text untouched."""
        return str(
            self.page.evaluate(
                f"""([door, text]) => new Promise((resolve, reject) => {{
                    const client = globalThis[{KEY}];
                    client.ask("test", door, text).then(resolve, reject);
                }})""",
                [door, json.dumps(request)],
            )
        )
