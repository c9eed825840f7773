"""``kvcore solve``: the inverse questions, each proved by asking the forward one."""

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from kvcore.commandline import engine_command
from kvcore.commands import kvcore_command
from kvcore.questions import Solution, request_mix
from kvcore.questions.mix_text import lengths_of
from kvcore.questions.solve import NAMES, solution_json, solve
from kvcore.report.json import to_json
from kvcore.subcommands.arguments import add_request_arguments, request_of
from kvcore.subcommands.streams import ANSWERED, DOES_NOT_FIT, say

NAME = "solve"
MIX = "mix"
HELP = (
    "ask the other way round: longest context, most requests, smallest budget or utilization, fewest GPUs, best split"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the question, the wish and the deployment's flags."""
    parser.add_argument("question", choices=(*NAMES, MIX), metavar="QUESTION", help=", ".join((*NAMES, MIX)))
    parser.add_argument("--requests", type=int, default=1, help="requests to serve at once; default 1")
    parser.add_argument("--gpus", type=int, default=8, help="GPUs of the node, for best-split; default 8")
    parser.add_argument(
        "--basis", choices=("engine_log", "held"), default="engine_log",
        help="count requests as the engine logs them (default) or as they can be held",
    )  # fmt: skip
    parser.add_argument(
        "--mix", metavar="LENGTHS", default="1000+200:70, 8000+500:25, 24000+1000:5",
        help="requests of a mix, for mix: prompt + output tokens : weight, separated by commas; default %(default)s",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the solution as one line of JSON")
    add_request_arguments(parser)


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints the solution and its proof; exit code 1 where there is none."""
    if arguments.question == MIX:
        return _mix(request_of(arguments, unknown), arguments)
    solution = solve(
        arguments.question, request_of(arguments, unknown), arguments.requests, arguments.gpus, arguments.basis
    )
    say(json.dumps(solution_json(solution), allow_nan=False) if arguments.json else _text(solution))
    return ANSWERED if solution.value is not None else DOES_NOT_FIT


def _mix(request: Mapping[str, Any], arguments: argparse.Namespace) -> int:
    mix = request_mix(request, lengths_of(arguments.mix))
    figures = {"average": mix.average, "percentile": mix.percentile, "longest": mix.longest}
    if arguments.json:
        plain = {**to_json(mix), **{name: float(figure) for name, figure in figures.items()}}
        commands = {"command": kvcore_command(request), "engine_command": engine_command(request)}
        say(json.dumps({**plain, **commands}, allow_nan=False))
        return ANSWERED
    wording = ("drawn from the mix", f"of the 95th percentile, {mix.percentile_tokens:,} tokens", "the longest")
    lines = [f"Requests at once under the mix, from {mix.usable_blocks:,} usable {mix.unit}"]
    for words, figure in zip(wording, figures.values(), strict=True):
        lines.append(f"  if every request is {words}: {rounded_down(float(figure))}")
    say("\n".join((*lines, f"  {kvcore_command(request)}", f"  {engine_command(request)}")))
    return ANSWERED


def _text(solution: Solution) -> str:
    lines = [f"{solution.wish[:1].upper()}{solution.wish[1:]}: {solution.words}"]
    lines += [f"  {solution.note}"] if solution.note else []
    for item in solution.checks:
        found = "does not start" if item.concurrency is None else f"{rounded_down(item.concurrency)} at once"
        lines.append(f"  check: {item.what}: {found} ({'enough' if item.enough else 'not enough'})")
    if solution.value is not None:
        lines += [f"  {kvcore_command(solution.request)}", f"  {engine_command(solution.request)}"]
    return "\n".join(lines)


def rounded_down(value: float) -> str:
    """Two decimals, cut off and never rounded up: 19.997 requests are not 20."""
    return f"{math.floor(value * 100) / 100:,.2f}"
