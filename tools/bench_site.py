"""What the site's build costs: with our plugin, beside the same Markdown built by MkDocs alone, and with more models.

The same Markdown is what MkDocs renders when our plugin has done its part: every page, written or generated, with its figures
filled in and its tables and pictures in place. CPU time, not wall time, since other work on the machine must not decide.
Charts were drawn before: they are kept by content, and a build draws only those that changed.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from kvcore.catalog import load_models, models
from site_plugins.pages.answers import Answers
from site_plugins.pages.build import catalogue_files, kept_pages
from site_plugins.pages.store import Store
from tools.build_site import CACHE, ROOT
from tools.markdown_hook import FOLDER

AT_MOST = 1.5
"""The build with our plugins over MkDocs alone with the same Markdown."""

SYNTHETIC = (250, 1000)
BASE = "meta-llama/Llama-3.1-8B-Instruct"
"""The model that invented ones are made from."""

FEWEST_LAYERS, DEPTHS = 16, 65
"""Layers of the first invented model, and how many depths there are before they repeat: more than kvcore keeps pagings of."""

SITE_URL = "https://atlas.example/"


def main() -> None:
    """Prints both measurements."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        # The plugin looks for drawings beside its pages.
        (folder / "cache").mkdir()
        (folder / "cache/kv_pages_charts").symlink_to(CACHE / "kv_pages_charts")
        plugin = {
            "kv_pages": {
                "cache": str(folder / "cache/kv_pages"),
                "golden": str(ROOT / "tests/golden"),
                "packages": str(ROOT / "node_modules"),
            }
        }
        markdown = folder / "docs"
        ours = {
            "nothing kept, charts apart": built(folder / "ours", ROOT / "docs", [plugin], markdown),
            "nothing changed": built(folder / "ours", ROOT / "docs", [plugin]),
        }
        (markdown / "assets").symlink_to(ROOT / "docs/assets")
        alone = built(folder / "alone", markdown, [])
        pages = sum(1 for _ in markdown.rglob("*.md"))
        print(f"the Markdown of {pages} pages, {len(load_models())} of them models, by MkDocs alone: {alone:.1f} s CPU")
        for state, spent in ours.items():
            print(f"with our plugin, {state}: {spent:.1f} s CPU, {spent / alone:.2f} times, wanted at most {AT_MOST}")
        for number in SYNTHETIC:
            spent = synthetic(number, folder / str(number))
            print(f"{number} synthetic models: {spent:.1f} s CPU, {1000 * spent / number:.1f} ms each")


def built(folder: Path, docs: Path, plugins: Sequence[object], markdown: Path | None = None) -> float:
    """Builds a site and returns the CPU seconds it took, those of all its processes.

    Args:
        folder: Where the configuration and the site are written.
        docs: The pages.
        plugins: Plugins beside the search.
        markdown: Folder to write every page's final Markdown to, with all its HTML in place.
    """
    folder.mkdir(exist_ok=True)
    config: dict[str, object] = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(docs),
        "site_dir": str(folder / "site"),
        "theme": {"custom_dir": str(ROOT / "overrides")},
        "plugins": ["search", *plugins],
        "hooks": [str(ROOT / "tools/markdown_hook.py")] if markdown else [],
    }
    file = folder / "mkdocs.yml"
    file.write_text(yaml.safe_dump(config), "utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", FOLDER: str(markdown or "")}
    command = [sys.executable, "-m", "mkdocs", "-q", "build", "-f", str(file)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def synthetic(number: int, folder: Path) -> float:
    """Makes the pages of a catalogue of invented models, each of them answered anew; returns CPU seconds.

    Every model has a config of its own, so that nothing worked out for one can be kept for the next.

    Args:
        number: How many models.
        folder: Where the catalogue and its pages are written.
    """
    catalogue = folder / "catalogue"
    (catalogue / "synthetic").mkdir(parents=True)
    base = json.loads((models.FOLDER / f"{BASE}.json").read_text("utf-8"))
    invented = [
        {**base, "id": f"synthetic/model-{index}", "title": f"Model {index}", "config": _config(base["config"], index)}
        for index in range(number)
    ]
    for entry in invented:
        (catalogue / f"{entry['id']}.json").write_text(json.dumps(entry), "utf-8")
    with patch.object(models, "FOLDER", catalogue):
        start = time.process_time()
        entries = [models.model_entry(entry) for entry in invented]
        store = Store(folder / "pages", "bench")
        # As a build does: each model by itself ahead, then all together.
        for model in entries:
            kept_pages(model, Answers(), SITE_URL, store, _no_chart)
        catalogue_files(entries, Answers(), SITE_URL, store, _no_chart)
        return time.process_time() - start


def _no_chart(_: Mapping[str, object]) -> str:
    return '<svg width="1" height="1" viewBox="0 0 1 1"></svg>'


def _config(config: Mapping[str, Any], index: int) -> dict[str, Any]:
    sizes = {"num_hidden_layers": FEWEST_LAYERS + index % DEPTHS, "vocab_size": config["vocab_size"] + index}
    return {**config, **sizes}


if __name__ == "__main__":
    main()
