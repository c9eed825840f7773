"""How many requests of the deployment's context length are held at once, in whole requests."""

import math

from kvcore.questions.forward import Basis, ask, check, concurrency, no_figure
from kvcore.questions.names import Fields, names_of, with_changes
from kvcore.questions.solution import Solution


def most_requests(fields: Fields, requests: int = 1, basis: Basis = "engine_log") -> Solution:
    """Finds the most whole requests of the deployment's context length that are held at once.

    Args:
        fields: The deployment.
        requests: Not used; every question takes it.
        basis: Which concurrency counts.

    Raises:
        InputError: The deployment itself cannot be answered.
    """
    del requests
    report = ask(fields)
    found = concurrency(report, basis)
    length = report.request.max_model_len if report.request is not None else 0
    wish = f"the most requests of {length:,} tokens at once"
    most = math.floor(found) if found is not None else 0
    note = "" if most else no_figure(report) or "Not one request of that length fits."
    names = names_of(fields)
    # Data-parallel replicas hold as many each; the question is of one.
    per_replica = fields.get(names.data) not in {None, 1, "1"}
    return Solution(
        question="concurrency",
        wish=f"{wish} on each replica" if per_replica else wish,
        field="concurrency",
        value=most or None,
        unit="requests",
        request=with_changes(fields, {names.context: length}) if length else dict(fields),
        report=report,
        checks=tuple(check(_requests(wanted), report, wanted, basis) for wanted in (most, most + 1) if wanted),
        note=note,
    )


def _requests(number: int) -> str:
    return "1 request" if number == 1 else f"{number:,} requests"
