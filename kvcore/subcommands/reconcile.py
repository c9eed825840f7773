"""``kvcore reconcile``: an engine's start-up log beside the computed figures, and why they differ."""

import argparse
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from kvcore.errors import input_error
from kvcore.reconcile.as_json import as_json
from kvcore.reconcile.document import document
from kvcore.reconcile.finished_run import RUN_FILES
from kvcore.reconcile.reader import read_log
from kvcore.reconcile.reconcile import Reconciliation, reconcile
from kvcore.reconcile.record import LogRecord
from kvcore.reconcile.source import read_source
from kvcore.report.writers import markdown, text
from kvcore.subcommands.arguments import add_request_arguments, request_of
from kvcore.subcommands.streams import ANSWERED, BAD_INPUT, STANDARD_INPUT, say

NAME = "reconcile"
HELP = "read an engine's start-up log and explain every gap to the computed figures"

_REMEDY = "Give the path of a log, or - to read standard input."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the log, the reported figure, the form, and the request's flags, which win over the log."""
    parser.add_argument(
        "log", nargs="?", default=STANDARD_INPUT, metavar="LOG", help="path of the log, or - for standard input"
    )
    parser.add_argument(
        "--reported-tokens",
        type=int,
        metavar="TOKENS",
        help="the token figure of the engine, where the log is not at hand",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the reconciliation as one line of JSON")
    form.add_argument("--markdown", action="store_true", help="print it as Markdown")
    add_request_arguments(parser)


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints the reconciliation; a log in which nothing is known is bad input."""
    reported = arguments.reported_tokens is not None
    if reported and arguments.subject is None and arguments.log != STANDARD_INPUT and not Path(arguments.log).is_file():
        # With a reported figure there need be no log: the word is then the model.
        arguments.subject, arguments.log = arguments.log, STANDARD_INPUT
    given = request_of(arguments, unknown)
    only_reported = reported and arguments.log == STANDARD_INPUT and sys.stdin.isatty()
    record = _read("") if only_reported else _record(arguments.log)
    found = reconcile(record, given, arguments.reported_tokens)
    if arguments.json:
        say(json.dumps(as_json(found), allow_nan=False))
    else:
        say((markdown if arguments.markdown else text).write(document(found)))
    return _exit_code(found)


def _exit_code(found: Reconciliation) -> int:
    return ANSWERED if found.record.figures else BAD_INPUT


def _record(path: str) -> LogRecord:
    """The record of a file or of standard input."""
    if path == STANDARD_INPUT:
        return read_source(sys.stdin.buffer)
    file = Path(path)
    try:
        with file.open("rb") as stream:
            return read_source(stream, is_run=file.name in RUN_FILES)
    except OSError as error:
        raise input_error("log", path, f"the file cannot be read ({error.strerror})", _REMEDY) from None


def _read(content: str) -> LogRecord:
    return read_log(io.BytesIO(content.encode()))
