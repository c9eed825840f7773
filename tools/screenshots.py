"""Pictures of the built site for looking at: each page kind, wide and narrow, light and dark.

``python -m tools.screenshots FOLDER [SITE]`` writes ``<page>-<width>-<scheme>.png``. A picture of a page that was
scrolled away would hide what matters, so each is of the whole page.
"""

import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser

from tools.build_site import SITE
from tools.chromium import launched
from tools.preview import serving

PAGES = {
    "home": "",
    "index": "models/",
    "model": "models/deepseek-ai/DeepSeek-V3/",
    "dense": "models/meta-llama/Llama-3.1-8B-Instruct/",
    "calculator": "calculator/",
    "concept": "concepts/blocks-and-pages/",
    "kinds": "models/kinds/",
    "accuracy": "accuracy/",
    "log-lines": "concepts/log-lines/",
    "versions": "versions/",
    "calculators": "concepts/why-calculators-disagree/",
    "gpus": "gpus/",
    "architectures": "architectures/",
    "reference": "cli-reference/",
    "api": "api/",
    "data": "data/",
    "changes": "changes/",
}
WIDTHS = (1280, 390)
SETTLING_MS = 600
"""Material's tabs fade in."""
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def main(folder: Path, site: Path = SITE) -> None:
    """Writes every picture into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    with serving(site) as server, launched() as browser:
        for scheme in SCHEMES:
            for width in WIDTHS:
                take(browser, server.origin, folder, width, scheme)


def take(browser: Browser, origin: str, folder: Path, width: int, scheme: Literal["light", "dark"]) -> None:
    """Writes the pictures of one width and scheme."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, device_scale_factor=1)
    for name, path in PAGES.items():
        page.goto(f"{origin}/{path}")
        page.evaluate("document.fonts.ready.then(() => null)")
        page.wait_for_timeout(SETTLING_MS)
        page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
        print(f"{name}-{width}-{scheme}.png")
    page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(Path, sys.argv[2:3]))
