"""Runs inside Pyodide, in the worker: imports kvcore's door for the browser, quickly.

``dataclasses`` writes methods as source text and compiles them when a class is defined; that is a quarter of the time
kvcore takes to import. The texts are the same every time, so they are compiled when the bundle is built.
"""

import dataclasses
import marshal
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any
from zlib import crc32

PREPARED = "dataclass_methods.marshal"
"""File beside this module: code objects by the length and CRC-32 of the text they were compiled from."""


def browser() -> ModuleType:
    """Imports and returns :mod:`kvcore.browser`."""
    prepared: dict[tuple[int, int], CodeType] = marshal.loads((Path(__file__).parent / PREPARED).read_bytes())  # noqa: S302

    def execute(text: str, *namespaces: Any) -> None:
        exec(prepared.get((len(text), crc32(text.encode())), text), *namespaces)  # noqa: S102

    # A module's own name comes before the builtin; where dataclasses no longer uses it, it compiles as ever.
    vars(dataclasses)["exec"] = execute
    try:
        from kvcore import browser  # noqa: PLC0415
    finally:
        del vars(dataclasses)["exec"]
    return browser
