"""The inverse questions by name, as the command line and the calculator ask them."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from kvcore.commandline import engine_command
from kvcore.commands import kvcore_command
from kvcore.errors import input_error
from kvcore.questions.budget import smallest_budget, smallest_utilization
from kvcore.questions.concurrency import most_requests
from kvcore.questions.forward import MOST_REQUESTS, Basis, whole_number
from kvcore.questions.length import longest_context
from kvcore.questions.parallelism import best_split, fewest_gpus
from kvcore.questions.solution import Solution
from kvcore.report.json import to_json

QUESTIONS: Mapping[str, Callable[[Mapping[str, Any], int, Basis], Solution]] = {
    "longest-context": longest_context,
    "concurrency": most_requests,
    "smallest-budget": smallest_budget,
    "utilization": smallest_utilization,
    "fewest-gpus": fewest_gpus,
}
"""The questions asked of a deployment and a number of requests; ``best-split`` asks of a number of GPUs besides."""

BEST_SPLIT = "best-split"
NAMES = (*QUESTIONS, BEST_SPLIT)


def solve(question: str, fields: Mapping[str, Any], requests: int, gpus: int, basis: Basis) -> Solution:
    """Answers one inverse question by its name.

    Raises:
        InputError: There is no such question, or the deployment cannot be answered.
    """
    if question == BEST_SPLIT:
        return best_split(fields, gpus, basis=basis)
    requests = whole_number("requests", requests, MOST_REQUESTS)
    function = QUESTIONS.get(question)
    if function is None:
        raise input_error("question", question, f"must be one of {', '.join(NAMES)}", "Choose one of these.")
    return function(fields, requests, basis)


def solution_json(solution: Solution) -> dict[str, Any]:
    """A solution as plain JSON values, with the commands that ask its forward question and realise it."""
    plain = {field.name: getattr(solution, field.name) for field in dataclasses.fields(solution)}
    commands = {"command": kvcore_command(solution.request), "engine_command": engine_command(solution.request)}
    return {**{name: to_json(value) for name, value in plain.items()}, **commands}
