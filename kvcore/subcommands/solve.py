"""``kvcore solve``: the inverse questions, each proved by asking the forward one."""

import argparse
import json
import math
from collections.abc import Sequence

from kvcore.commands import kvcore_command
from kvcore.questions import Solution
from kvcore.questions.solve import NAMES, solution_json, solve
from kvcore.subcommands.arguments import add_request_arguments, request_of
from kvcore.subcommands.streams import ANSWERED, DOES_NOT_FIT, say

NAME = "solve"
HELP = "ask the other way round: longest context, smallest budget, fewest GPUs, best split, utilization"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the question, the wish and the deployment's flags."""
    parser.add_argument("question", choices=NAMES, metavar="QUESTION", help=", ".join(NAMES))
    parser.add_argument("--requests", type=int, default=1, help="requests to serve at once; default 1")
    parser.add_argument("--gpus", type=int, default=8, help="GPUs of the node, for best-split; default 8")
    parser.add_argument(
        "--basis", choices=("engine_log", "held"), default="engine_log",
        help="count requests as the engine logs them (default) or as they can be held",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the solution as one line of JSON")
    add_request_arguments(parser)


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints the solution and its proof; exit code 1 where there is none."""
    solution = solve(
        arguments.question, request_of(arguments, unknown), arguments.requests, arguments.gpus, arguments.basis
    )
    say(json.dumps(solution_json(solution), allow_nan=False) if arguments.json else _text(solution))
    return ANSWERED if solution.value is not None else DOES_NOT_FIT


def _text(solution: Solution) -> str:
    value = "none" if solution.value is None else f"{solution.value:,} {solution.unit}".rstrip()
    lines = [f"{solution.wish.capitalize()}: {value}"]
    lines += [f"  {solution.note}"] if solution.note else []
    for item in solution.checks:
        found = "does not start" if item.concurrency is None else f"{rounded_down(item.concurrency)} at once"
        lines.append(f"  check: {item.what}: {found} ({'enough' if item.enough else 'not enough'})")
    if solution.value is not None:
        lines.append(f"  {kvcore_command(solution.request)}")
    return "\n".join(lines)


def rounded_down(value: float) -> str:
    """Two decimals, cut off and never rounded up: 19.997 requests are not 20."""
    return f"{math.floor(value * 100) / 100:,.2f}"
