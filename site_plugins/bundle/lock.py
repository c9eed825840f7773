"""Pyodide's lock file, cut down to kvcore.

pyodide-lock's own API writes it, so the format is Pyodide's. Two facts are patched by hand, because the API cannot
state them: it rejects wheels of byte code (``cp314-none-any``), so the source wheel is added and its name and hash
replaced once it is compiled; and the npm package's lock names the platform of an older release.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from pyodide_lock import PyodideLockSpec
from pyodide_lock.utils import add_wheels_to_spec

PLATFORM = "pyemscripten_2026_0"
"""Platform tag of Pyodide 314."""


def source_lock(stock_lock: Path, wheel: Path) -> dict[str, Any]:
    """Returns a lock that holds one pure wheel and nothing of the stock lock but its header.

    Args:
        stock_lock: ``pyodide-lock.json`` of the npm package.
        wheel: The wheel of source files.
    """
    stock = json.loads(stock_lock.read_text(encoding="utf-8"))
    header = {"info": {**stock["info"], "platform": PLATFORM}, "packages": {}}
    spec = add_wheels_to_spec(PyodideLockSpec.from_dict(header), [wheel], base_path=wheel.parent)
    lock: dict[str, Any] = json.loads(json.dumps(spec.to_dict()))
    return lock


def compiled_lock(lock: dict[str, Any], name: str, wheel: bytes) -> dict[str, Any]:
    """Returns the lock with its one package replaced by the byte-compiled wheel of this name and content."""
    (key, package), *others = lock["packages"].items()
    if others:
        message = f"the lock must hold kvcore alone, not {', '.join(sorted(lock['packages']))}"
        raise ValueError(message)
    digest = hashlib.sha256(wheel).hexdigest()
    compiled = {**package, "file_name": name, "sha256": digest, "imports": ["kvcore"]}
    return {**lock, "packages": {key: compiled}}
