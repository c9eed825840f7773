"""Filling the stores of pages and outcomes with all processors, before they are read one after another.

Whatever is not kept yet is made here, each model by itself; what is kept costs a look at its file. The build that follows is
the same with and without this, only slower.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from kvcore.catalog import ModelEntry
from site_plugins.accuracy.build import measured
from site_plugins.charts.figure import Draw, kept_drawings
from site_plugins.pages.answers import Answers
from site_plugins.pages.build import is_kept, kept_pages, page_store
from site_plugins.pages.store import Store

WORTH_A_PROCESS = 8
"""Models: fewer are made sooner than a process is started."""


@dataclass(frozen=True)
class Places:
    """Where a build reads and keeps things, and the address it is for.

    Attributes:
        golden: The folder of golden files.
        cache: Where pages and outcomes are kept; drawings lie beside it.
        site_url: Where the site will be published.
    """

    golden: Path
    cache: Path
    site_url: str

    def pages(self) -> Store:
        """Returns the store of pages made by the present sources."""
        return page_store(self.cache)

    def drawing(self) -> Draw:
        """Returns a function that draws what is not kept yet."""
        return kept_drawings(self.cache.with_name(f"{self.cache.name}_charts"))


def make_ahead(entries: Sequence[ModelEntry], places: Places) -> None:
    """Makes what is not kept yet, in as many processes as there are processors.

    Args:
        entries: The models that pages are wanted of.
        places: Where to keep what is made.

    Raises:
        Exception: Whatever stopped a page from being made.
    """
    store = places.pages()
    missing = [entry for entry in entries if not is_kept(entry, places.site_url, store)]
    processes = min(os.cpu_count() or 1, len(missing) // WORTH_A_PROCESS)
    if processes < 2:
        return
    # Spawned, not forked: drawing and mkdocs have threads, which a fork would leave halfway.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        # The longest piece first, so that nothing waits for it at the end.
        work = [pool.submit(_measure, places), *(pool.submit(_make, entry, places) for entry in missing)]
        try:
            for piece in work:
                piece.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _measure(places: Places) -> None:
    measured(places.golden, places.cache)


def _make(entry: ModelEntry, places: Places) -> None:
    store, drawing = _tools(places)
    kept_pages(entry, Answers(), places.site_url, store, drawing)


@cache
def _tools(places: Places) -> tuple[Store, Draw]:
    """Both hash the sources first, which is enough to do once in a process."""
    return places.pages(), places.drawing()
