"""What the bundle is made from, and the one hash over all of it."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RUNTIME_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
"""Served as they come from the npm package."""

STOCK_FILES = ("python_stdlib.zip", "pyodide-lock.json", "package.json")
"""Read while building."""


class MissingInputError(RuntimeError):
    """Something the bundle is made from is not there; the message says how to get it."""


@dataclass(frozen=True)
class Inputs:
    """Where the inputs lie.

    Attributes:
        project: Folder of ``pyproject.toml``.
        pyodide: The unpacked npm package ``pyodide``.
        scripts: The calculator's ES modules and style sheet.
    """

    project: Path
    pyodide: Path
    scripts: Path

    @property
    def packer(self) -> Path:
        """The script that byte-compiles, run by Node."""
        return self.project / "tools" / "pyc.mjs"

    @property
    def snapshot_taker(self) -> Path:
        """The script that takes the picture of Python's memory, run by Node."""
        return self.project / "tools" / "snapshot.mjs"

    @property
    def unpacker(self) -> Path:
        """The page's module that unpacks the wheel, which the snapshot is taken after."""
        return self.scripts / "wheel.mjs"

    @property
    def inside(self) -> Path:
        """Folder of the scripts that run inside Pyodide."""
        return Path(__file__).parent / "inside"

    @property
    def _scripts_run(self) -> tuple[Path, ...]:
        return (self.packer, self.snapshot_taker, self.unpacker)

    def check(self) -> None:
        """Raises :class:`MissingInputError` unless every named file exists."""
        wanted = [self.pyodide / name for name in (*RUNTIME_FILES, *STOCK_FILES)]
        wanted += [self.project / "pyproject.toml", self.project / "kvcore" / "browser.py", *self._scripts_run]
        missing = [path for path in wanted if not path.is_file()]
        if missing:
            message = f"{missing[0]} is missing; `npm ci` gets the Pyodide runtime"
            raise MissingInputError(message)

    def script_files(self) -> tuple[Path, ...]:
        """The files of the calculator that are served, sorted by name."""
        return tuple(sorted(path for path in self.scripts.iterdir() if path.suffix in {".mjs", ".css"}))

    def library_key(self) -> str:
        """One hash over everything the byte-compiled archives depend on; changes whenever any input does."""
        digest = hashlib.sha256()
        for label, path in self._library_files():
            digest.update(f"{label}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()[:20]

    def _library_files(self) -> Iterator[tuple[str, Path]]:
        for name in (*RUNTIME_FILES, *STOCK_FILES):
            yield f"pyodide/{name}", self.pyodide / name
        for path in (*self._scripts_run, *sorted(Path(__file__).parent.rglob("*.py"))):
            yield f"build/{path.name}", path
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            yield name, self.project / name
        package = self.project / "kvcore"
        for path in sorted(package.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                yield path.relative_to(self.project).as_posix(), path
