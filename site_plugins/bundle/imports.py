"""Which modules of the standard library kvcore names anywhere, also inside functions."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

OFFLINE_ONLY = ("cli", "__main__", "schema", "importer")
"""Modules of kvcore that never run in a browser, by the last part of their name."""


def standard_library_imports(package: Path) -> tuple[str, ...]:
    """Lists the standard modules a package imports, at module level or later, sorted.

    A module that is imported only when some rare question is asked would be missing from a library trimmed by what a
    few requests happened to load; reading the source finds it whatever the requests were.

    Args:
        package: Folder of the package.

    Returns:
        Module names as imported; for ``from a import b`` it is ``a``.
    """
    names: set[str] = set()
    for path in sorted(package.rglob("*.py")):
        if path.stem in OFFLINE_ONLY or any(part in OFFLINE_ONLY for part in path.relative_to(package).parts):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        names.update(name for name in _imported(tree) if name.split(".")[0] in sys.stdlib_module_names)
    return tuple(sorted(names - {"__future__"}))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
