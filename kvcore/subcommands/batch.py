"""``kvcore batch``: JSON Lines of requests in, JSON Lines of reports out, in the same order."""

import argparse
import json
import sys
from collections.abc import Sequence

from kvcore import __version__
from kvcore.answer import answer
from kvcore.config.nesting import nested_too_deeply
from kvcore.errors import FieldError, shown
from kvcore.report.json import dumps
from kvcore.report.report import Report
from kvcore.subcommands.streams import ANSWERED, say

NAME = "batch"
HELP = "answer JSON Lines of requests from standard input"
DESCRIPTION = """Reads one JSON object of request fields per line and writes one report per line, in the same order. A line
that cannot be answered gives a report whose errors say why, and the next line is read. Empty lines are skipped.
The exit code is 0 once every line is read."""
REMEDY = 'Write one object a line, for example {"model": "meta-llama/Llama-3.1-8B-Instruct"}.'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """A batch takes everything from its lines."""
    parser.description = DESCRIPTION


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Answers every line of standard input."""
    for line in sys.stdin:
        if line.strip():
            say(answer_line(line))
    return ANSWERED


def answer_line(line: str) -> str:
    """Answers one line.

    Args:
        line: A JSON object of request fields; ``Infinity`` and ``NaN`` are accepted inside a config.

    Returns:
        The report as one line of JSON, without line break.
    """
    if nested_too_deeply(line):
        return _refused(line, "the JSON is nested too deeply")
    try:
        request = json.loads(line)
    except ValueError as error:
        return _refused(line, f"the line is not JSON ({error})")
    if not isinstance(request, dict):
        return _refused(line, f"a JSON object is expected, not {type(request).__name__}")
    try:
        return dumps(answer(request))
    except Exception as error:  # noqa: BLE001 - a fault of ours in one line must not take the others' answers away
        return _refused(
            line, f"kvcore failed on this line ({type(error).__name__}: {error})", "Please report the line."
        )


def _refused(line: str, rule: str, remedy: str = REMEDY) -> str:
    error = FieldError("request", shown(line.strip()), rule, remedy)
    return dumps(Report(inputs={}, kvcore_version=__version__, errors=(error,)))
