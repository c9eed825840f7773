"""What every test may ask for: the built site, its address, and a browser to open it with."""

import os
from collections.abc import Mapping
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import settings

from tools.build_site import SITE, build
from tools.chromium import chromium_arguments, installed_chromium
from tools.preview import SiteServer

ORIGIN_VARIABLE = "KV_SITE_ORIGIN"

# Machines that run the tests differ too much in speed for a limit on one example. In CI the same
# examples are drawn every time, so that a change is judged by what it changes.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", parent=settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_configure(config: pytest.Config) -> None:
    """Serves the site from the first process, so that all the workers share one server."""
    if hasattr(config, "workerinput"):
        return
    server = SiteServer(SITE, port=0)
    Thread(target=server.serve_forever, daemon=True).start()
    os.environ[ORIGIN_VARIABLE] = server.origin
    config.add_cleanup(server.server_close)
    config.add_cleanup(server.shutdown)


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site, built first if it doesn't stand for the present sources."""
    build()
    return SITE


@pytest.fixture(scope="session")
def site_url(site: Path) -> str:
    """The address of the built site, without a slash at its end."""
    return os.environ[ORIGIN_VARIABLE]


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: Mapping[str, object]) -> dict[str, object]:
    """Starts the Chromium of this machine, if it has one, without its traffic in the background."""
    chromium = installed_chromium()
    quiet = [
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-quic",
        "--disable-sync",
        "--no-first-run",
    ]
    return {
        **browser_type_launch_args,
        **({"executable_path": chromium} if chromium else {}),
        "args": [*quiet, *chromium_arguments()],
    }
