"""Asks ``kvcore report`` every hostile input, in a process of bounded memory, and prints what came of each.

``python -m tests.hostile.command_line`` prints one JSON object a line: name, exit code, both streams' beginnings, seconds.
"""

import contextlib
import io
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kvcore.cli import main
from tests.hostile.inputs import INPUTS, Hostile

MOST_MEMORY = 1 << 30
"""Bytes of address space: Python, kvcore, and a fifty-megabyte file several times over."""

FILES = ("config", "layout")
SHOWN = 4000


def words(hostile: Hostile, folder: Path) -> Iterator[str]:
    """The command line; what people keep in files stands in files."""
    yield "report"
    for name, text in hostile.fields.items():
        flag = f"--{name.replace('_', '-')}"
        path = folder / f"{name}.json"
        if name in FILES:
            path.write_text(text, encoding="utf-8")
        yield f"{flag}={path if name in FILES else text}"


def outcome(hostile: Hostile, folder: Path) -> dict[str, object]:
    """Asks one and says what came of it; an exception that escapes is named in place of the exit code."""
    out, err = io.StringIO(), io.StringIO()
    command = list(words(hostile, folder))
    began = time.perf_counter()
    code: object
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(command)
        except SystemExit as ended:
            code = ended.code
        except BaseException as error:  # noqa: BLE001 - whatever escapes is the finding
            code = f"{type(error).__name__}: {error}"[:200]
    return {
        "name": hostile.name,
        "code": code,
        "out": out.getvalue()[:SHOWN],
        "err": err.getvalue()[:SHOWN],
        "seconds": time.perf_counter() - began,
    }


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    with tempfile.TemporaryDirectory() as scratch:
        for item in INPUTS:
            sys.stdout.write(f"{json.dumps(outcome(item, Path(scratch)))}\n")
