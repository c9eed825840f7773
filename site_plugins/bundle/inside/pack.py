"""Runs inside Pyodide: writes the trimmed standard library and the wheel as byte code of this very Python.

Both archives depend on their inputs alone: fixed dates, sorted names, and byte code that is trusted without looking at
a source file or a date (an "unchecked hash" pyc, PEP 552).
"""

import ast
import marshal
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import util
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

UNCHECKED_HASH = (1).to_bytes(4, "little")
"""PEP 552's flags for a pyc that carries a source hash nobody checks."""

EARLIEST_DATE = (1980, 1, 1, 0, 0, 0)
"""The first date a zip archive can hold."""

Member = tuple[str, bytes]


def pack_library(stock: str, kept: Sequence[str], target: str) -> int:
    """Writes a standard library of the named modules, without docstrings and assertions.

    Args:
        stock: Archive of source files.
        kept: Paths in that archive.
        target: Archive to write.

    Returns:
        How many modules it holds.

    Raises:
        KeyError: A path is not in the stock archive.
    """
    with ZipFile(stock) as archive:
        members = [(_pyc_name(path), _pyc(archive.read(path), path, optimize=2)) for path in sorted(set(kept))]
    _write(target, members)
    return len(members)


def pack_wheel(source: str, folder: str) -> str:
    """Writes the wheel's kvcore as byte code that keeps its assertions and loses its docstrings.

    Args:
        source: The wheel of source files.
        folder: Where the new wheel goes.

    Returns:
        The new wheel's file name, tagged for this Python.
    """
    tag = f"-cp{sys.version_info.major}{sys.version_info.minor}-none-any"
    name = Path(source).name.replace("-py3-none-any", tag)
    with ZipFile(source) as wheel:
        _write(f"{folder}/{name}", _wheel_members(wheel))
    return name


def _wheel_members(wheel: ZipFile) -> Iterator[Member]:
    """The package and its metadata; the site's plugins stay out, and a list of hashes that no longer hold."""
    for name in wheel.namelist():
        top = name.split("/", 1)[0]
        if name.endswith(("/", "/RECORD")) or not (top == "kvcore" or top.endswith(".dist-info")):
            continue
        data = wheel.read(name)
        yield (_pyc_name(name), _pyc(data, name, optimize=0)) if name.endswith(".py") else (name, data)


def _pyc_name(path: str) -> str:
    return path.removesuffix(".py") + ".pyc"


def _pyc(source: bytes, path: str, *, optimize: int) -> bytes:
    tree = ast.parse(source, path)
    if not optimize:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
                _empty_docstring(node)
    code = compile(tree, path, "exec", dont_inherit=True, optimize=optimize)
    return util.MAGIC_NUMBER + UNCHECKED_HASH + util.source_hash(source) + marshal.dumps(code)


def _empty_docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module) -> None:
    """Blanks a docstring.

    It is not removed: for a class without one ``dataclasses`` composes it from the signature, which costs more
    start-up time than all the docstrings together.
    """
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        first.value.value = " "


def _write(path: str, members: Iterable[Member]) -> None:
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(members):
            info = ZipInfo(name, date_time=EARLIEST_DATE)
            info.compress_type = ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
