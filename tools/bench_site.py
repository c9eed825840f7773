"""What the site's build costs: our pages beside the same Markdown built by MkDocs alone, and more models than there are.

CPU time, not wall time, since other work on the machine must not decide. Charts are drawn before the clock starts: they are
kept by content, and a build draws only those that changed.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from kvcore.catalog import ModelEntry, load_models
from kvcore.report.report import Report
from site_plugins.charts.figure import Draw, kept_drawings
from site_plugins.pages.answers import Answers
from site_plugins.pages.build import catalogue_files
from site_plugins.pages.generated import GeneratedFile, whole
from site_plugins.pages.store import Store
from tools.build_site import CACHE, ROOT

AT_MOST = 1.5
"""The build with our plugins over MkDocs alone with the same Markdown."""

SYNTHETIC = (250, 1000)
SITE_URL = "https://atlas.example/"


def main() -> None:
    """Prints both measurements."""
    drawing = kept_drawings(CACHE / "kv_pages_charts")
    answers = Answers()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        # The plugin looks for drawings beside its pages.
        (folder / "cache").mkdir()
        (folder / "cache/kv_pages_charts").symlink_to(CACHE / "kv_pages_charts")
        pages, _ = catalogue_files(load_models(), answers, SITE_URL, Store(folder / "drawn", "bench"), drawing)
        plugin = {"kv_pages": {"cache": str(folder / "cache/kv_pages"), "golden": str(ROOT / "tests/golden")}}
        alone = built(folder / "alone", written(folder / "docs", pages), [])
        print(f"{len(load_models())} model pages by MkDocs alone: {alone:.1f} s CPU")
        for state in ("nothing kept, charts apart", "nothing changed"):
            ours = built(folder / "ours", ROOT / "docs", [plugin])
            print(f"with our plugin, {state}: {ours:.1f} s CPU, {ours / alone:.2f} times, wanted at most {AT_MOST}")
        for number in SYNTHETIC:
            spent = synthetic(number, answers, folder / str(number), drawing)
            print(f"{number} synthetic models: {spent:.1f} s CPU, {1000 * spent / number:.1f} ms each")


def written(docs: Path, pages: Sequence[GeneratedFile]) -> Path:
    """Writes pages as plain Markdown with their HTML in place, and returns the folder."""
    for page in pages:
        if page.src_uri.endswith(".md"):
            file = docs / page.src_uri
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(whole(page.content, page.fragments), "utf-8")
    (docs / "index.md").write_text("# Alone\n", "utf-8")
    return docs


def built(folder: Path, docs: Path, plugins: Sequence[object]) -> float:
    """Builds a site and returns the CPU seconds it took.

    Args:
        folder: Where the configuration and the site are written.
        docs: The pages.
        plugins: Plugins beside the search.
    """
    folder.mkdir(exist_ok=True)
    config: dict[str, object] = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(docs),
        "site_dir": str(folder / "site"),
        "theme": {"custom_dir": str(ROOT / "overrides")},
        "plugins": ["search", *plugins],
    }
    if not plugins:
        config |= {"nav": [{"Home": "index.md"}], "extra_css": [], "extra_javascript": []}
    file = folder / "mkdocs.yml"
    file.write_text(yaml.safe_dump(config), "utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "mkdocs", "-q", "build", "-f", str(file)], cwd=ROOT, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def synthetic(number: int, answers: Answers, folder: Path, drawing: Draw) -> float:
    """Makes the pages of invented models that all answer as one real model does; returns CPU seconds."""
    base = next(entry for entry in load_models() if entry.id == "meta-llama/Llama-3.1-8B-Instruct")

    def ask(request: Mapping[str, object]) -> Report:
        return answers({**request, "model": base.id})

    entries: list[ModelEntry] = [replace(base, id=f"synthetic/model-{index}") for index in range(number)]
    start = time.process_time()
    catalogue_files(entries, ask, SITE_URL, Store(folder, "bench"), drawing)
    return time.process_time() - start
