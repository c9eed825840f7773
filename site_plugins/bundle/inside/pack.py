"""Runs inside Pyodide: writes the trimmed standard library and the wheel as byte code of this very Python.

Both archives depend on their inputs alone: fixed dates, sorted names, and byte code that is trusted without looking at
a source file or a date (an "unchecked hash" pyc, PEP 552).
"""

import ast
import gzip
import io
import marshal
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import util
from pathlib import Path
from types import CodeType
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo
from zlib import crc32

UNCHECKED_HASH = (1).to_bytes(4, "little")
"""PEP 552's flags for a pyc that carries a source hash nobody checks."""

EARLIEST_DATE = (1980, 1, 1, 0, 0, 0)
"""The first date a zip archive can hold."""

OFFLINE_ONLY = frozenset({"cli", "__main__", "subcommands", "schema", "importer"})
"""Modules of kvcore that never run in a browser."""

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
    _write(target, members, ZIP_DEFLATED)
    return len(members)


def pack_wheel(source: str, start: str, texts: Sequence[str], folder: str) -> str:
    """Writes kvcore as byte code that keeps its assertions and loses its docstrings.

    The archive is stored and then compressed as a whole, which is smaller than compressing file by file and lets the
    browser unpack it at once.

    Args:
        source: The wheel of source files.
        start: Source of the module the worker starts with.
        texts: What dataclasses compiles while kvcore is imported.
        folder: Where the new wheel goes.

    Returns:
        The new wheel's file name, tagged for this Python; it is written with ``.gz`` behind it.
    """
    tag = f"-cp{sys.version_info.major}{sys.version_info.minor}-none-any"
    name = Path(source).name.replace("-py3-none-any", tag)
    prepared = {
        (len(text), crc32(text.encode())): _without_lines(compile(text, "<dataclass>", "exec", dont_inherit=True))
        for text in texts
    }
    if len(prepared) != len(set(texts)):
        message = "two texts of dataclasses have the same checksum"
        raise ValueError(message)
    with ZipFile(source) as wheel:
        members = [
            *_wheel_members(wheel),
            ("kvcore_start/__init__.pyc", _pyc(start.encode(), "kvcore_start/__init__.py", optimize=0)),
            ("kvcore_start/dataclass_methods.marshal", marshal.dumps(prepared)),
        ]
    archive = io.BytesIO()
    _write(archive, members, ZIP_STORED)
    Path(f"{folder}/{name}.gz").write_bytes(gzip.compress(archive.getvalue(), compresslevel=9, mtime=0))
    return name


def _wheel_members(wheel: ZipFile) -> Iterator[Member]:
    """The package and its metadata, without the site's plugins, the command line, and hashes that no longer hold."""
    for name in wheel.namelist():
        top = name.split("/", 1)[0]
        if name.endswith(("/", "/RECORD")) or not (top == "kvcore" or top.endswith(".dist-info")):
            continue
        if not OFFLINE_ONLY.isdisjoint(name.removesuffix(".py").split("/")):
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


def _without_lines(code: CodeType) -> CodeType:
    """Drops the table of line numbers: a generated text has no lines to look up."""
    constants = tuple(_without_lines(item) if isinstance(item, CodeType) else item for item in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=constants)


def _empty_docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module) -> None:
    """Replaces a docstring by a full stop.

    It is not removed, nor blank: for a class with an empty one ``dataclasses`` composes it from the signature, which
    costs more start-up time than all the docstrings together.
    """
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        first.value.value = "."


def _write(target: str | io.BytesIO, members: Iterable[Member], method: int) -> None:
    with ZipFile(target, "w") as archive:
        for name, data in sorted(members):
            info = ZipInfo(name, date_time=EARLIEST_DATE)
            info.compress_type = method
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, compresslevel=9)
