"""``kvcore solve``: the inverse questions, each proved by asking the forward one."""

import argparse
import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kvcore.commands import kvcore_command
from kvcore.errors import input_error
from kvcore.questions import (
    Basis,
    Solution,
    best_split,
    fewest_gpus,
    longest_context,
    smallest_budget,
    smallest_utilization,
)
from kvcore.questions.forward import MOST_REQUESTS, whole_number
from kvcore.report.json import to_json
from kvcore.subcommands.arguments import add_request_arguments, request_of
from kvcore.subcommands.streams import ANSWERED, DOES_NOT_FIT, say

NAME = "solve"
HELP = "ask the other way round: longest context, smallest budget, fewest GPUs, best split, utilization"

QUESTIONS: Mapping[str, Callable[[Mapping[str, Any], int, Basis], Solution]] = {
    "longest-context": longest_context,
    "smallest-budget": smallest_budget,
    "utilization": smallest_utilization,
    "fewest-gpus": fewest_gpus,
}
"""The questions asked of a deployment and a number of requests; ``best-split`` asks of a number of GPUs besides."""

BEST_SPLIT = "best-split"
NAMES = (*QUESTIONS, BEST_SPLIT)


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


def solve(question: str, fields: Mapping[str, Any], requests: int, gpus: int, basis: Basis) -> Solution:
    """Answers one inverse question by its name.

    Raises:
        InputError: There is no such question, or the deployment cannot be answered.
    """
    requests = whole_number("requests", requests, MOST_REQUESTS)
    if question == BEST_SPLIT:
        return best_split(fields, gpus, requests, basis)
    function = QUESTIONS.get(question)
    if function is None:
        raise input_error("question", question, f"must be one of {', '.join(NAMES)}", "Choose one of these.")
    return function(fields, requests, basis)


def solution_json(solution: Solution) -> dict[str, Any]:
    """A solution as plain JSON values, with the command that asks its forward question."""
    plain = {field.name: getattr(solution, field.name) for field in dataclasses.fields(solution)}
    return {**{name: to_json(value) for name, value in plain.items()}, "command": kvcore_command(solution.request)}


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
