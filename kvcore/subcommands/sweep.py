"""``kvcore sweep``: one or two inputs over lists of values, as CSV or JSON."""

import argparse
import json
from collections.abc import Sequence

from kvcore.questions.axes import axis
from kvcore.questions.sweep import DEFAULT_FIGURES, sweep, to_csv
from kvcore.report.json import to_json
from kvcore.subcommands.arguments import add_request_arguments, request_of
from kvcore.subcommands.streams import ANSWERED, say

NAME = "sweep"
HELP = "answer at every combination of one or two inputs' values"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the axes and the deployment's flags."""
    parser.add_argument(
        "--over", action="append", default=[], metavar="FIELD=VALUES",
        help="an input and its values: max_model_len=8192,32768 or max_model_len=1024..16384:1024; up to twice",
    )  # fmt: skip
    parser.add_argument("--figure", action="append", default=[], metavar="PATH", help="report path to record")
    parser.add_argument("--json", action="store_true", help="print the sweep as one line of JSON instead of CSV")
    add_request_arguments(parser)


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints the sweep's table."""
    axes = dict(axis(text) for text in arguments.over)
    result = sweep(request_of(arguments, unknown), axes, arguments.figure or DEFAULT_FIGURES)
    say(json.dumps(to_json(result), allow_nan=False) if arguments.json else to_csv(result).rstrip("\n"))
    return ANSWERED
