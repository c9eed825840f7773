"""The reader: a log of any length in, a typed record out, in bounded memory.

A log is mostly lines that say nothing about the cache. They are passed over by searching whole chunks of bytes for the
marks of the lines that do; only those are decoded and matched.
"""

import io
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from kvcore.reconcile.lines import begins_a_line, plain_lines, rank_of
from kvcore.reconcile.literals import read_arguments
from kvcore.reconcile.patterns import ARGUMENT_LISTS, MARKS, PATTERNS, WORDS_ABOUT, Pattern
from kvcore.reconcile.posted_command import posted_command
from kvcore.reconcile.quoted import QUOTED
from kvcore.reconcile.record import UNITS, LogFigure, LogRecord, Seen
from kvcore.reconcile.unbroken import LONGEST, unbroken_lines

CHUNK = 1 << 20
LONGEST_LINE = 1 << 17
"""Bytes of a line that are looked at; the lists of arguments that matter end long before."""

LONGEST_BROKEN, MOST_BROKEN = 1 << 14, 60
"""Bytes and lines around a line that are looked at where it was broken."""

_VERSIONS = ("text_version", "text_version_about")
"""Releases as the engine prints them, then as lists of packages, images and commands around a log name them."""

_QUOTE = re.compile(r"^(?:\s*>)+ ?")
"""What mail and Markdown put in front of each line they quote."""

MOST_FIGURES = 5000
"""Figures kept; a log that restarts for days repeats itself."""


class Pieces(Protocol):
    """What hands out bytes: a binary file, or anything with its ``read``."""

    def read(self, size: int, /) -> bytes:
        """At most this many bytes; none at the end."""


def read_log(source: Pieces) -> LogRecord:
    """Reads a log of any length in bounded memory; a short one once more with its lines unbroken, if that says more."""
    reading = _Reading()
    for number, line in _marked_lines(source, reading):
        reading.take(number, line)
    record = reading.record()
    for cut in (True, False) if reading.short else ():
        unbroken = _read_unbroken(reading.short, cut=cut)
        if unbroken is not None and _says_more(unbroken, record):
            record = unbroken
    return record


def _read_unbroken(data: bytes, *, cut: bool) -> LogRecord | None:
    """The record of a short log without the breaks in its lines; None where it has none."""
    # Sentences are whole as they stand; joined they would say what nobody wrote.
    reading = _Reading(sentences=False)
    reading.lines = data.count(b"\n") + 1
    marks = (*MARKS, *WORDS_ABOUT)
    anything = False
    for number, line in unbroken_lines(data, cut=cut):
        anything = True
        if any(mark in line for mark in marks):
            reading.take(number, _Marked(line, 0, len(line)))
    return reading.record() if anything else None


def _says_more(unbroken: LogRecord, record: LogRecord) -> bool:
    """Whether a record holds every figure another one has, or what was cut off it, and says more."""
    have, had = ({(figure.name, figure.printed) for figure in item.figures} for item in (unbroken, record))
    cut = {
        (name, start)
        for name, start in had - have
        if any(name == other and whole.startswith(start) for other, whole in have)
    }
    more, so_far = (
        (len(figures), len(item.flags), item.flags_complete, len(item.engine_version))
        for figures, item in ((have, unbroken), (had - cut, record))
    )
    return have >= had - cut and more > so_far


def read_log_text(text: str) -> LogRecord:
    """Reads a pasted log."""
    return read_log(io.BytesIO(text.encode("utf-8", "replace")))


class _Marked(NamedTuple):
    """A line that holds a mark, and what stands around it: a terminal or a mail may have broken it in two."""

    data: bytes
    start: int
    stop: int

    @property
    def line(self) -> bytes:
        return self.data[self.start : min(self.stop, self.start + LONGEST_LINE)]

    @property
    def before(self) -> bytes:
        """The line above, without what a very long one begins with."""
        end = max(self.start - 1, 0)
        return self.data[max(self.data.rfind(b"\n", 0, end) + 1, end - LONGEST_BROKEN) : end]

    @property
    def after(self) -> list[bytes]:
        """The lines below, as many as a broken list of arguments may take."""
        return self.data[self.stop + 1 : self.stop + 1 + LONGEST_BROKEN].split(b"\n")[:MOST_BROKEN]


def _marked_lines(source: Pieces, reading: "_Reading") -> Iterator[tuple[int, _Marked]]:
    """The lines that hold a mark, with their numbers from 1."""
    rest, above, before = b"", b"", 0
    while chunk := source.read(CHUNK):
        data = rest + chunk
        reading.short = data if len(data) <= LONGEST and not before else b""
        end = data.rfind(b"\n") + 1
        if not end and len(data) < LONGEST_LINE:
            rest = data
            continue
        if not end:
            # A line without end: its start is kept, the rest passed over.
            rest = data[:LONGEST_LINE]
            continue
        yield from _hits(above + data, len(above), len(above) + end, before)
        before += data.count(b"\n", 0, end)
        above, rest = data[max(0, end - LONGEST_BROKEN) : end], data[end:]
    if rest:
        yield from _hits(above + rest, len(above), len(above) + len(rest), before)
        before += 1
    reading.lines = before


def _hits(data: bytes, begin: int, end: int, before: int) -> Iterator[tuple[int, _Marked]]:
    starts: dict[int, int] = {}
    for mark in MARKS if before else (*MARKS, *WORDS_ABOUT):
        at = data.find(mark, begin, end)
        while at >= 0:
            start = data.rfind(b"\n", 0, at) + 1
            stop = data.find(b"\n", at, end)
            stop = end if stop < 0 else stop
            starts[start] = stop
            at = data.find(mark, stop, end)
    number, counted = before, begin
    for start in sorted(starts):
        number += data.count(b"\n", counted, start)
        counted = start
        yield number + 1, _Marked(data, start, starts[start])


class _Reading:
    """What has been read so far."""

    def __init__(self, *, sentences: bool = True) -> None:
        self.sentences = sentences
        self.lines = 0
        self.short = b""
        self.engine = ""
        self.versions: dict[tuple[str, str], str] = {}
        self.figures: list[LogFigure] = []
        self.seen: list[Seen] = []
        self.flags: dict[str, Any] = {}
        self.flags_complete = False
        self.flags_line = 0
        self.quoted: list[tuple[Pattern, LogFigure]] = []
        self.left_out = 0
        self.run = 1
        self.broken = 0
        self.command: dict[str, Any] = {}
        self.command_line = 0

    def take(self, first: int, marked: _Marked) -> None:
        """Reads one line; one that says nothing may have been broken, and is read with its neighbours."""
        texts = plain_lines(marked.line)
        known = False
        for number, text in enumerate(texts, first):
            self._take_arguments(number, text, marked)
            known = self._take_figures(number, text) or known
            known = self._take_command(number, text, marked) or known
        if not known and len(texts) == 1:
            self._take_broken(first, texts[0], marked)

    def _take_figures(self, number: int, text: str, across: int = 0) -> bool:
        """Keeps the figures of every pattern a text holds, of a joined text only what lies across the break; whether any."""
        rank = ""
        known = False
        for pattern in PATTERNS:
            if pattern.mark not in text:
                continue
            match = pattern.expression.search(text)
            if match is None or (across and not match.start() < across < match.end()):
                continue
            rank = rank or rank_of(text)
            if not known or self.seen[-1].kind != pattern.kind:
                self._see(pattern, number)
            known = True
            for name, printed in match.groupdict().items():
                if name in _VERSIONS and printed is not None:
                    self.versions.setdefault((pattern.engine, name), printed.removeprefix("v").rstrip("."))
                elif printed is not None:
                    self._keep(name, printed, number, rank)
        if self.sentences and not across and len(self.quoted) < MOST_FIGURES:
            self.quoted.extend(self._quoted(number, text))
        return known

    def _take_broken(self, number: int, text: str, marked: _Marked) -> None:
        """Reads a line together with the one above or below it, where it is the rest or the start of a broken one."""
        above, below = plain_lines(marked.before)[-1], plain_lines(marked.after[0])[0]
        for at, start, end in ((number - 1, above, text), (number, text, below)):
            first, second = start.rstrip(), _QUOTE.sub("", end).lstrip()
            if at == self.broken or not first or not second or begins_a_line(second):
                continue
            for between in ("", " "):
                if self._take_figures(number, first + between + second, across=len(first + between)):
                    self.broken = at
                    return

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
        if not self.engine and pattern.kind not in {"version", "model"}:
            self.engine = pattern.engine

    def _keep(self, name: str, printed: str, number: int, rank: str) -> None:
        if name.startswith("text_"):
            self.flags.setdefault(name.removeprefix("text_"), printed)
            return
        if len(self.figures) >= MOST_FIGURES:
            self.left_out += 1
            return
        digits = printed.replace(",", "")
        unit = UNITS.get(name, "GiB")
        self.figures.append(LogFigure(name=name, printed=digits, unit=unit, line=number, run=self.run, rank=rank))

    def _take_arguments(self, number: int, text: str, marked: _Marked) -> None:
        for start, separator, engine in ARGUMENT_LISTS:
            at = text.find(start)
            if at < 0:
                continue
            values, complete = _whole_arguments(text[at + len(start) :], separator, marked)
            self.engine = self.engine or engine
            is_dump = start == " with config: "
            values = {name: value for name, value in values.items() if value is not None}
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

    def _take_command(self, number: int, text: str, marked: _Marked) -> bool:
        """Keeps the last command above the first figure, else the first one below; whether the line is a command."""
        command = posted_command(text, marked.after)
        if command is None:
            return False
        if not (self.command and self.figures):
            self.command, self.command_line = dict(command.request), number
        return True

    def _add_command(self) -> None:
        """A posted command says what the engine's own list of arguments would, and its image the release."""
        if not self.command or self.flags_line or self.engine not in {"", self.command.get("engine", "vllm")}:
            return
        self.engine = self.engine or self.command.get("engine", "vllm")
        self.flags = {**self.command, **self.flags}
        self.seen.append(Seen(kind="command", line=self.command_line, run=self.run))
        if release := self.command.get("engine_version"):
            self.versions.setdefault((self.engine, _VERSIONS[-1]), release)

    def _answered(self) -> bool:
        """Whether an earlier start printed its capacity; its arguments then stay."""
        return any(figure.name in {"gpu_kv_cache_tokens", "max_total_num_tokens"} for figure in self.figures)

    def record(self) -> LogRecord:
        """What was read; quoted figures where no line of an engine prints the same."""
        self._add_command()
        printed = {figure.name for figure in self.figures}
        for pattern, figure in self.quoted:
            if figure.name not in printed and self.engine in {"", "vllm"}:
                self.figures.append(figure)
                self.seen.append(Seen(kind=pattern.kind, line=figure.line, run=figure.run))
        if not self.engine and self.figures:
            self.engine = QUOTED[0].engine
        return LogRecord(
            engine=self.engine,
            engine_version=next(
                (self.versions[self.engine, name] for name in _VERSIONS if (self.engine, name) in self.versions), ""
            ),
            figures=tuple(self.figures),
            seen=tuple(self.seen),
            flags=dict(self.flags),
            flags_complete=self.flags_complete,
            flags_line=self.flags_line,
            lines=self.lines,
            left_out=self.left_out,
        )


def _whole_arguments(text: str, separator: str, marked: _Marked) -> tuple[dict[str, Any], bool]:
    """The arguments of a line, with the lines below it where those complete the list."""
    values, complete = read_arguments(text, separator)
    if complete:
        return values, True
    for line in marked.after:
        below = plain_lines(line)[0]
        if begins_a_line(below):
            break
        text += _QUOTE.sub("", below)
        longer, complete = read_arguments(text, separator)
        if complete:
            return longer, True
    return values, False
