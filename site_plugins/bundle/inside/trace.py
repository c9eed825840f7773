"""Runs inside Pyodide: what kvcore makes Python do from import to answer.

Which modules of the standard library are loaded, and which methods dataclasses compiles. Whatever this script imports
is counted as needed, so it imports nothing that a page does not.
"""

import dataclasses
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

STDLIB_ARCHIVE = f"/lib/python{sys.version_info.major}{sys.version_info.minor}.zip"


def used(requests: Sequence[str], imports: Sequence[str]) -> tuple[list[str], list[str]]:
    """Answers requests and lists what that took.

    Args:
        requests: Requests as JSON texts.
        imports: Modules to import besides, because kvcore names them somewhere.

    Returns:
        Paths of source files inside the standard library's archive, sorted, and the texts dataclasses executed.
    """
    texts: list[str] = []

    def execute(text: str, *namespaces: Any) -> None:
        texts.append(text)
        exec(text, *namespaces)  # noqa: S102

    vars(dataclasses)["exec"] = execute
    import_module("kvcore.browser")
    del vars(dataclasses)["exec"]
    for name in imports:
        import_module(name)
    browser = import_module("kvcore.browser")
    for request in requests:
        browser.answer_json(request)
    prefix = f"{STDLIB_ARCHIVE}/"
    specs = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    origins = [spec.origin for spec in specs if spec is not None and spec.origin]
    return sorted({origin.removeprefix(prefix) for origin in origins if origin.startswith(prefix)}), texts
