"""Where a log comes from: a file, standard input or a browser, read piece by piece; a finished run is told apart."""

import codecs
from collections.abc import Callable
from typing import Any

from kvcore.errors import input_error
from kvcore.reconcile.finished_run import is_finished_run, read_finished_run
from kvcore.reconcile.reader import CHUNK, Pieces, read_log
from kvcore.reconcile.record import LogRecord

LARGEST_RUN = 50_000_000
"""Most bytes of a finished run, which is read as a whole; logs may have any length."""


def read_source(source: Pieces, *, is_run: bool = False) -> LogRecord:
    """Reads a log in bounded memory, or the facts of a finished run.

    Args:
        source: Where its bytes come from.
        is_run: Whether it is known to be a finished run; else its beginning tells.

    Raises:
        InputError: A finished run is no JSON, lacks its pools, or is too long.
    """
    beginning = source.read(CHUNK)
    rest: Pieces = _Continued(beginning, source)
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # PowerShell writes what it redirects in two bytes per character.
        rest = _Recoded(rest)
        beginning = beginning[:CHUNK].decode("utf-16", "replace").encode()
    if is_run or is_finished_run(beginning.decode("utf-8", "replace")):
        return read_finished_run(_whole(rest))
    return read_log(rest)


def pulled(pull: Callable[[int], Any]) -> Pieces:
    """A source a browser's worker hands out, whose arrays Pyodide turns into bytes."""
    return _Pulled(pull)


class _Continued:
    """A source whose beginning was already read."""

    def __init__(self, beginning: bytes, source: Pieces) -> None:
        self.beginning = beginning
        self.source = source

    def read(self, size: int, /) -> bytes:
        beginning, self.beginning = self.beginning, b""
        return beginning or self.source.read(size)


class _Recoded:
    """A source in UTF-16, handed out in UTF-8."""

    def __init__(self, source: Pieces) -> None:
        self.source = source
        self.decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def read(self, size: int, /) -> bytes:
        while piece := self.source.read(size):
            if recoded := self.decoder.decode(piece).encode("utf-8", "replace"):
                return recoded
        return b""


class _Pulled:
    def __init__(self, pull: Callable[[int], Any]) -> None:
        self.pull = pull

    def read(self, size: int, /) -> bytes:
        piece: bytes = self.pull(size).to_bytes()
        return piece


def _whole(source: Pieces) -> str:
    pieces, length = [], 0
    while piece := source.read(CHUNK):
        length += len(piece)
        if length > LARGEST_RUN:
            rule = f"a finished run has at most {LARGEST_RUN // 1_000_000} MB"
            raise input_error("run_meta", length, rule, "Give raw/run_meta.json of a finished run.")
        pieces.append(piece)
    return b"".join(pieces).decode("utf-8", "replace")
