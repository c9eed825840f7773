"""Measuring only what changed: outcomes are kept by a hash of kvcore, its catalogue and the golden files."""

from pathlib import Path

import kvcore
import site_plugins.accuracy
from site_plugins.accuracy.measure import Outcome, measure
from site_plugins.pages.store import Store, folder_digest

_ANY = ("*.py", "*.json", "*.jsonl")


def measured(folder: Path, cache: Path) -> tuple[Outcome, ...]:
    """Returns the outcome of every golden point and log, from an earlier build if nothing they depend on has changed.

    Args:
        folder: The folder of golden files.
        cache: Where outcomes of earlier builds are kept.
    """
    sources = [Path(module.__path__[0]) for module in (kvcore, site_plugins.accuracy)]
    store = Store(cache, folder_digest(sources, _ANY))
    return store.get(f"accuracy {folder_digest([folder], _ANY)}", lambda: measure(folder))
