"""The browser that the measurements, the pictures and the tests drive."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

VARIABLE = "KV_CHROMIUM"
"""Environment variable with the path of a Chromium."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def installed_chromium() -> str | None:
    """Path of the Chromium that the environment names, else of one that is installed; None for Playwright's own."""
    return os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)


def chromium_arguments() -> list[str]:
    """What Chromium is started with everywhere: no GPU, and no sandbox where it refuses one, which it does to root."""
    return ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]


@contextmanager
def launched() -> Iterator[Browser]:
    """Starts the browser, and ends it afterwards."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=chromium_arguments())
        try:
            yield browser
        finally:
            browser.close()
