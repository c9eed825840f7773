"""Building the bundle: two folders named by their content, kept until an input changes."""

import gzip
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from site_plugins.bundle.exercise import exercise_requests
from site_plugins.bundle.imports import standard_library_imports
from site_plugins.bundle.inputs import RUNTIME_FILES, Inputs
from site_plugins.bundle.lock import compiled_lock, source_lock
from site_plugins.bundle.node import run_script
from site_plugins.bundle.wheel import build_wheel

LOCK_NAME = "pyodide-lock.json"
STDLIB_NAME = "python_stdlib.zip"
SNAPSHOT_NAME = "snapshot.bin.gz"
"""Python's memory after kvcore was imported; compressed, since static hosts do not compress it."""

SNAPSHOT_MODULES = ("kvcore.browser_questions", "kvcore.reconcile.door", "kvcore.engines.sglang.answer")
"""Modules that :mod:`kvcore.browser` imports when a question needs them; with the memory they come for nothing."""

SNAPSHOT_QUESTIONS = 3
"""Models asked before the memory is taken: what Python builds at its first answers is then there."""

WORKER_MODULES = frozenset({"hub-worker.mjs", "protocol.mjs", "start.mjs", "wheel.mjs", "worker.mjs"})
"""Scripts that no page runs: the worker's own, and one that holds types only."""

OTHER_PAGES = frozenset({"drawing.mjs", "reconcile.mjs", "tip.mjs"})
"""Scripts the calculator's page does not run, or not before someone explores a chart."""

EARLY_SCRIPT = "early.mjs"
"""The script that stands in the page itself."""

TRACED_MODELS = 16
"""One in so many models is asked while tracing; which modules are needed hardly depends on the model, and tests ask all."""

LAZY_MODULES = (
    "encodings/ascii.py",
    "encodings/latin_1.py",
    "encodings/idna.py",
    "stringprep.py",
    "difflib.py",
    "traceback.py",  # only an uncaught error loads these; without them its message is lost
    "linecache.py",
    "tokenize.py",
    "token.py",
    "textwrap.py",
    "_colorize.py",
    "contextlib.py",
    "codeop.py",
)
"""Modules of the standard library that are loaded late, by Pyodide or by Python itself, and not in every session."""


@dataclass(frozen=True)
class Bundle:
    """A built bundle.

    Attributes:
        files: What is served: path below ``assets/kv/`` and the file.
        runtime: Folder name of Pyodide and the standard library; changes with Pyodide or with what kvcore imports.
        app: Folder name of kvcore and the scripts; changes with every release.
        packages: Folder name of the wheel and its lock.
        boot_bytes: Bytes the worker fetches and counts while it starts, by file name, before any transfer compression.
    """

    files: tuple[tuple[str, Path], ...]
    runtime: str
    packages: str
    app: str
    boot_bytes: tuple[tuple[str, int], ...]

    @property
    def page_modules(self) -> tuple[str, ...]:
        """File names of the modules the calculator's page runs, for fetching them all at once."""
        names = [path.name for name, path in self.files if name.startswith(self.app) and path.suffix == ".mjs"]
        return tuple(name for name in names if name not in WORKER_MODULES | OTHER_PAGES | {EARLY_SCRIPT})

    @property
    def early_script(self) -> str:
        """Text of the script that starts Python before the page loads anything."""
        (file,) = (path for name, path in self.files if name == f"{self.app}/{EARLY_SCRIPT}")
        return file.read_text(encoding="utf-8")

    def address(self, base: str) -> dict[str, object]:
        """Where a page finds the worker and its files.

        Args:
            base: Address of ``assets/kv/`` as seen from the page, ending in a slash.
        """
        return {
            "worker": f"{base}{self.app}/worker.mjs",
            "runtime": f"{base}{self.runtime}/",
            "packages": f"{base}{self.packages}/",
            "snapshot": f"{base}{self.packages}/{SNAPSHOT_NAME}",
            "bytes": dict(self.boot_bytes),
        }


def build_bundle(inputs: Inputs, models: Sequence[str], cache: Path) -> Bundle:
    """Builds whatever is not in the cache yet.

    Args:
        inputs: Where everything lies.
        models: Catalogue ids to answer for while the standard library is traced.
        cache: Folder that keeps built archives, one folder per hash of the inputs.

    Returns:
        The bundle; its files may be served as they are.

    Raises:
        MissingInputError: Pyodide's npm package is not installed.
        NodeError: Node is missing or the byte compiler failed.
        WheelError: The wheel did not build.
    """
    inputs.check()
    library = cache / inputs.library_key()
    if not (library / LOCK_NAME).is_file():
        _build_library(inputs, models, library)
    wheel = next(library.glob("kvcore-*.whl.gz"))
    runtime_files = [*(inputs.pyodide / name for name in RUNTIME_FILES), library / STDLIB_NAME]
    package_files = [wheel, library / LOCK_NAME, library / SNAPSHOT_NAME]
    script_files = inputs.script_files()
    runtime, packages, app = (_content_name(files) for files in (runtime_files, package_files, script_files))
    # Modules are imported, which a worker cannot watch.
    fetched = [path for path in (*runtime_files, *package_files) if path.suffix != ".mjs"]
    folders = ((runtime, runtime_files), (packages, package_files), (app, script_files))
    return Bundle(
        files=tuple((f"{folder}/{path.name}", path) for folder, paths in folders for path in paths),
        runtime=runtime,
        packages=packages,
        app=app,
        boot_bytes=tuple((path.name, path.stat().st_size) for path in fetched),
    )


def _content_name(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _build_library(inputs: Inputs, models: Sequence[str], library: Path) -> None:
    """Makes the wheel, traces, byte-compiles and locks; the folder appears at once or not at all."""
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building-", dir=library.parent) as scratch:
        wheels, out = Path(scratch) / "wheels", Path(scratch) / "out"
        wheels.mkdir()
        out.mkdir()
        wheel = build_wheel(inputs.project, wheels)
        source = Path(scratch) / "source"
        with ZipFile(wheel) as archive:
            archive.extractall(source)
        lock = source_lock(inputs.pyodide / "pyodide-lock.json", wheel)
        job = {
            "pyodide": str(inputs.pyodide.resolve()),
            "wheel": str(wheel),
            "source": str(source),
            "start": str(inputs.inside / "start.py"),
            "trace": str(inputs.inside / "trace.py"),
            "pack": str(inputs.inside / "pack.py"),
            "out": str(out),
            "requests": exercise_requests(models[::TRACED_MODELS]),
            "imports": standard_library_imports(inputs.project / "kvcore"),
            "keep": LAZY_MODULES,
        }
        summary = json.loads(run_script(inputs.packer, job).splitlines()[-1])
        name = summary["wheel"]
        compiled = gzip.decompress((out / f"{name}.gz").read_bytes())
        (out / "summary.json").write_text(json.dumps(summary, indent=1), encoding="utf-8")
        (out / LOCK_NAME).write_text(json.dumps(compiled_lock(lock, name, compiled), sort_keys=True), encoding="utf-8")
        snapshot = {
            "pyodide": job["pyodide"],
            "stdlib": str(out / STDLIB_NAME),
            "wheel": str(out / f"{name}.gz"),
            "unpack": str(inputs.unpacker),
            "modules": SNAPSHOT_MODULES,
            "requests": exercise_requests(models[::TRACED_MODELS])[:SNAPSHOT_QUESTIONS],
            "out": str(out / SNAPSHOT_NAME),
        }
        run_script(inputs.snapshot_taker, snapshot)
        shutil.rmtree(library, ignore_errors=True)
        out.rename(library)
