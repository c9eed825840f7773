"""Measuring only what changed: outcomes are kept by a hash of kvcore, its catalogue and the golden files."""

from pathlib import Path

import kvcore
import site_plugins.accuracy
from site_plugins.accuracy.measure import Outcome, measure
from site_plugins.pages.store import Store, folder_digest

_ANY = ("*.py", "*.json", "*.jsonl")
_COMPARING = ("points.py", "compare.py", "logs.py", "measure.py")
"""What outcomes depend on here; how the page shows them is no part of it."""


def measured(folder: Path, cache: Path) -> tuple[Outcome, ...]:
    """Returns the outcome of every golden point and log, from an earlier build if nothing they depend on has changed.

    Args:
        folder: The folder of golden files.
        cache: Where outcomes of earlier builds are kept.
    """
    asked = folder_digest([Path(kvcore.__path__[0])], _ANY)
    compared = folder_digest([Path(site_plugins.accuracy.__path__[0])], _COMPARING)
    store = Store(cache, asked + compared)
    return store.get(f"accuracy {folder_digest([folder], _ANY)}", lambda: measure(folder))
