"""Pages of earlier builds, kept by a hash of everything they were made of.

A model's page takes a hundred answers; most builds change none of what they depend on.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

Kept = TypeVar("Kept")


def folder_digest(folders: Iterable[Path], patterns: Iterable[str] = ("*.py",)) -> str:
    """Returns a hash of the files in some folders, by name and content.

    Args:
        folders: The folders.
        patterns: Names of the files that count, the Python sources by default.
    """
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(path for pattern in patterns for path in folder.rglob(pattern)):
            digest.update(f"{path.relative_to(folder)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Store:
    """Keeps values in files named by hash. Only this project's own builds write there, so unpickling is safe."""

    def __init__(self, folder: Path, sources: str) -> None:
        self._folder = folder
        self._sources = sources

    def get(self, made_of: str, make: Callable[[], Kept]) -> Kept:
        """Returns what was made of the same things before, else makes and keeps it.

        Args:
            made_of: Everything beside the sources that the value depends on.
            make: Makes the value.
        """
        path = self._place(made_of)
        try:
            kept: Kept = pickle.loads(path.read_bytes())  # noqa: S301 - see the class
        except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
            kept = make()
            path.parent.mkdir(parents=True, exist_ok=True)
            # A name of its own, since other processes may be making the same.
            partial = path.with_suffix(f".{os.getpid()}")
            partial.write_bytes(pickle.dumps(kept))
            partial.replace(path)
        return kept

    def has(self, made_of: str) -> bool:
        """Tells whether something made of the same things is kept.

        Args:
            made_of: Everything beside the sources that the value depends on.
        """
        return self._place(made_of).is_file()

    def _place(self, made_of: str) -> Path:
        name = hashlib.sha256(f"{self._sources}\0{made_of}".encode()).hexdigest()
        return self._folder / f"{name}.pickle"
