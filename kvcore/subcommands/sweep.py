"""``kvcore sweep``: one or two inputs over lists of values, as CSV or JSON."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from kvcore.errors import input_error
from kvcore.questions.sweep import DEFAULT_FIGURES, MOST_POINTS, sweep, to_csv
from kvcore.report.json import to_json
from kvcore.request_text import value_of_text
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


def axis(text: str) -> tuple[str, list[Any]]:
    """Reads ``field=a,b,c`` or ``field=first..last:step``.

    Raises:
        InputError: The text is of neither form.
    """
    name, separator, values = text.partition("=")
    if not separator or not values:
        raise input_error("over", text, "FIELD=VALUES is expected", "Write max_model_len=8192,32768.")
    name = name.strip().replace("-", "_")
    if ".." not in values:
        return name, [_number(value_of_text(name, value)) for value in values.split(",")]
    first, _, rest = values.partition("..")
    last, _, step = rest.partition(":")
    try:
        numbers = range(int(first), int(last) + 1, int(step or 1))
    except ValueError:
        remedy = "Write max_model_len=1024..16384:1024."
        raise input_error("over", text, "a range first..last:step of whole numbers is expected", remedy) from None
    if len(numbers) > MOST_POINTS:
        raise input_error("over", text, f"at most {MOST_POINTS:,} values are swept", "Choose a larger step.")
    return name, list(numbers)


def _number(value: object) -> object:
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(value.lower(), value)
