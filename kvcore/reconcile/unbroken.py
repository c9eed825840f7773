"""A short log as it was before a terminal, a mail or a forum broke its lines or escaped its characters."""

import itertools
import re
from collections.abc import Iterator

from kvcore.reconcile.lines import begins_a_line

LONGEST = 1 << 18
"""Bytes of a log that is looked at again; what people paste is shorter, and what engines write is not broken."""

_SHORTEST_BROKEN = 40
"""Characters of the narrowest window that lines were broken for."""

_QUOTE = re.compile(r"^(?:\s*>)+ ?")
_ESCAPE = re.compile(r"\\(?=[_*\[\]()#+.!<>-])")


def unbroken_lines(data: bytes, *, cut: bool) -> Iterator[tuple[int, bytes]]:
    """The lines of a text with the number each starts at, those that were broken in one; none where none was.

    A line goes on where the next one does not begin like a line of an engine.

    Args:
        data: The text.
        cut: Lines were cut in one column, wherever that fell; else they were broken between words.
    """
    lines = [_ESCAPE.sub("", _QUOTE.sub("", line)).rstrip("\r") for line in data.decode("utf-8", "replace").split("\n")]
    goes_on = [
        len(line) >= _SHORTEST_BROKEN and not begins_a_line(after) for line, after in itertools.pairwise(lines)
    ] + [False]
    widths = [len(line) for line, broken in zip(lines, goes_on, strict=True) if broken]
    if not widths and b"\\" not in data:
        return
    column = max(set(widths), key=widths.count) if widths and cut else 0
    whole, start = "", 0
    for number, (line, broken) in enumerate(zip(lines, goes_on, strict=True), 1):
        start = start or number
        whole += line if len(line) == column else f"{line} "
        if not broken:
            yield start, whole.rstrip().encode()
            whole, start = "", 0
