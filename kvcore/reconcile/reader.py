"""The reader: a log of any length in, a typed record out, in bounded memory.

A log is mostly lines that say nothing about the cache. They are passed over by searching whole chunks of bytes for the
marks of the lines that do; only those are decoded and matched.
"""

import io
from collections.abc import Iterator
from typing import Any, Protocol

from kvcore.reconcile.lines import plain_line, rank_of
from kvcore.reconcile.literals import read_arguments
from kvcore.reconcile.patterns import ARGUMENT_LISTS, MARKS, PATTERNS, Pattern
from kvcore.reconcile.quoted import QUOTED
from kvcore.reconcile.record import UNITS, LogFigure, LogRecord, Seen

CHUNK = 1 << 20
LONGEST_LINE = 1 << 17
"""Bytes of a line that are looked at; the lists of arguments that matter end long before."""

MOST_FIGURES = 5000
"""Figures kept; a log that restarts for days repeats itself."""


class Pieces(Protocol):
    """What hands out bytes: a binary file, or anything with its ``read``."""

    def read(self, size: int, /) -> bytes:
        """At most this many bytes; none at the end."""


def read_log(source: Pieces) -> LogRecord:
    """Reads a log of any length in bounded memory."""
    reading = _Reading()
    for number, line in _marked_lines(source, reading):
        reading.take(number, plain_line(line))
    return reading.record()


def read_log_text(text: str) -> LogRecord:
    """Reads a pasted log."""
    return read_log(io.BytesIO(text.encode("utf-8", "replace")))


def _marked_lines(source: Pieces, reading: "_Reading") -> Iterator[tuple[int, bytes]]:
    """The lines that hold a mark, with their numbers from 1."""
    rest, before = b"", 0
    while chunk := source.read(CHUNK):
        data = rest + chunk
        end = data.rfind(b"\n") + 1
        if not end and len(data) < LONGEST_LINE:
            rest = data
            continue
        if not end:
            # A line without end: its start is kept, the rest passed over.
            rest = data[:LONGEST_LINE]
            continue
        yield from _hits(data, end, before)
        before += data.count(b"\n", 0, end)
        rest = data[end:]
    if rest:
        yield from _hits(rest, len(rest), before)
        before += 1
    reading.lines = before


def _hits(data: bytes, end: int, before: int) -> Iterator[tuple[int, bytes]]:
    starts: dict[int, int] = {}
    for mark in MARKS:
        at = data.find(mark, 0, end)
        while at >= 0:
            start = data.rfind(b"\n", 0, at) + 1
            stop = data.find(b"\n", at, end)
            stop = end if stop < 0 else stop
            starts[start] = stop
            at = data.find(mark, stop, end)
    number, counted = before, 0
    for start in sorted(starts):
        number += data.count(b"\n", counted, start)
        counted = start
        yield number + 1, data[start : min(starts[start], start + LONGEST_LINE)]


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.lines = 0
        self.engine = ""
        self.version = ""
        self.figures: list[LogFigure] = []
        self.seen: list[Seen] = []
        self.flags: dict[str, Any] = {}
        self.flags_complete = False
        self.flags_line = 0
        self.quoted: list[tuple[Pattern, LogFigure]] = []
        self.left_out = 0
        self.run = 1

    def take(self, number: int, text: str) -> None:
        """Reads one line."""
        self._take_arguments(number, text)
        rank = ""
        known = False
        for pattern in PATTERNS:
            if pattern.mark not in text:
                continue
            match = pattern.expression.search(text)
            if match is None:
                continue
            rank = rank or rank_of(text)
            if not known or self.seen[-1].kind != pattern.kind:
                self._see(pattern, number)
            known = True
            for name, printed in match.groupdict().items():
                if printed is not None:
                    self._keep(name, printed, number, rank)
        if len(self.quoted) < MOST_FIGURES:
            self.quoted.extend(self._quoted(number, text))

    def _quoted(self, number: int, text: str) -> Iterator[tuple[Pattern, LogFigure]]:
        """Figures of a sentence; whether they count is known at the end."""
        for pattern in QUOTED:
            match = pattern.expression.search(text) if pattern.mark in text else None
            for name, printed in match.groupdict().items() if match else ():
                digits, unit = printed.replace(",", ""), UNITS.get(name, "GiB")
                yield pattern, LogFigure(name=name, printed=digits, unit=unit, line=number, run=self.run)

    def _see(self, pattern: Pattern, number: int) -> None:
        if len(self.seen) < MOST_FIGURES:
            self.seen.append(Seen(kind=pattern.kind, line=number, run=self.run))
        if not self.engine and pattern.kind != "version":
            self.engine = pattern.engine

    def _keep(self, name: str, printed: str, number: int, rank: str) -> None:
        if name.startswith("text_"):
            if name == "text_version":
                self.version = self.version or printed.removeprefix("v").rstrip(".")
            else:
                self.flags.setdefault(name.removeprefix("text_"), printed)
            return
        if len(self.figures) >= MOST_FIGURES:
            self.left_out += 1
            return
        digits = printed.replace(",", "")
        unit = UNITS.get(name, "GiB")
        self.figures.append(LogFigure(name=name, printed=digits, unit=unit, line=number, run=self.run, rank=rank))

    def _take_arguments(self, number: int, text: str) -> None:
        for start, separator, engine in ARGUMENT_LISTS:
            at = text.find(start)
            if at < 0:
                continue
            values, complete = read_arguments(text[at + len(start) :], separator)
            self.engine = self.engine or engine
            is_dump = start == " with config: "
            if is_dump:
                values = {name: values[name] for name in values if name not in self.flags}
            elif self.flags_line and self.figures:
                self.run += 1
                if any(figure.unit for figure in self.figures) and self._answered():
                    return
                self.flags.clear()
            self.flags.update(values)
            if not is_dump:
                self.flags_complete, self.flags_line = complete, number
                self.seen.append(Seen(kind="arguments", line=number, run=self.run))
            else:
                self.seen.append(Seen(kind="config_dump", line=number, run=self.run))
            return

    def _answered(self) -> bool:
        """Whether an earlier start printed its capacity; its arguments then stay."""
        return any(figure.name in {"gpu_kv_cache_tokens", "max_total_num_tokens"} for figure in self.figures)

    def record(self) -> LogRecord:
        """What was read; quoted figures where no line of an engine prints the same."""
        printed = {figure.name for figure in self.figures}
        for pattern, figure in self.quoted:
            if figure.name not in printed and self.engine in {"", "vllm"}:
                self.figures.append(figure)
                self.seen.append(Seen(kind=pattern.kind, line=figure.line, run=figure.run))
        if not self.engine and self.figures:
            self.engine = QUOTED[0].engine
        return LogRecord(
            engine=self.engine,
            engine_version=self.version,
            figures=tuple(self.figures),
            seen=tuple(self.seen),
            flags=dict(self.flags),
            flags_complete=self.flags_complete,
            flags_line=self.flags_line,
            lines=self.lines,
            left_out=self.left_out,
        )
