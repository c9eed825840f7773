"""``kvcore report``: one question, the complete answer."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from kvcore.answer import answer
from kvcore.commandline import read_command
from kvcore.report.json import dumps
from kvcore.report.render import render
from kvcore.report.report import Report
from kvcore.report.writers import markdown, text
from kvcore.subcommands.arguments import add_request_arguments, request_of
from kvcore.subcommands.streams import ANSWERED, BAD_INPUT, DOES_NOT_FIT, complain, say

NAME = "report"
HELP = "answer one question about a model or a config.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the request's flags and the choice of form."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the report as one line of JSON")
    form.add_argument("--markdown", action="store_true", help="print the report as Markdown")
    parser.add_argument(
        "--from-command", metavar="COMMAND", help="take the request from a `vllm serve …` or SGLang command line"
    )
    add_request_arguments(parser)


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints the report, or the errors that stand in its way."""
    report = answer({**_command_request(arguments.from_command), **request_of(arguments, unknown)})
    complain(report.errors)
    if arguments.json:
        say(dumps(report))
    elif not report.errors:
        say((markdown if arguments.markdown else text).write(render(report)))
    return exit_code(report)


def _command_request(text: str | None) -> Mapping[str, Any]:
    """The request a command line stands for; its other flags are told on standard error."""
    if text is None:
        return {}
    read = read_command(text)
    for what, flags in (
        ("does not matter to memory", read.ignored),
        ("changes memory in ways kvcore does not compute", read.unmodelled),
        ("is not a known flag", read.unknown),
    ):
        for flag in flags:
            sys.stderr.write(f"note: {flag} {what}\n")
    return read.request


def exit_code(report: Report) -> int:
    """The exit code a report stands for."""
    if report.errors:
        return BAD_INPUT
    # Without a budget nothing is known to fit or not to fit; the layout is then the answer.
    return DOES_NOT_FIT if report.capacity is not None and report.capacity.fits is False else ANSWERED
