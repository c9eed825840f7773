"""Which modules of the standard library kvcore names anywhere, also inside functions."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from site_plugins.bundle.inside.pack import OFFLINE_ONLY


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
        if not OFFLINE_ONLY.isdisjoint(path.relative_to(package).with_suffix("").parts):
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
