"""One model on many deployments: the requests at once that the engine would log, without a report for each."""

from collections.abc import Iterable
from dataclasses import dataclass

from kvcore.engines.vllm.answer import Answer, objections, work_out
from kvcore.errors import KvcoreError
from kvcore.questions.names import Fields
from kvcore.request import parse_request

NO_MEMORY = "no memory is left for the cache beside the weights"
DOES_NOT_FIT = "one request does not fit"
NOTHING_CACHED = "nothing is kept between steps, so no cache limits the requests"
NOT_KNOWN = "the weights are not known, so no budget can be estimated"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What becomes of one deployment.

    Attributes:
        requests: Requests at once as the engine logs them; None where no request fits or no budget is known.
        reason: Why there is no figure, or why the engine stops although it logs one; empty where it starts.
    """

    requests: float | None
    reason: str = ""

    @property
    def starts(self) -> bool:
        """Whether the engine starts: a request fits, and nothing stops it afterwards."""
        return self.requests is not None and not self.reason


def requests_at_once(model: str, deployments: Iterable[Fields]) -> tuple[Outcome, ...]:
    """Returns the requests at once of a catalogue model on each of some deployments under vLLM.

    Every figure is the report's ``capacity.concurrency.engine_log`` for the same fields, every reason behind a figure its
    ``capacity.objection``.

    Args:
        model: Catalogue id.
        deployments: Request fields beside the model, one mapping per deployment.
    """
    outcomes = []
    for deployment in deployments:
        try:
            result = work_out(parse_request({"model": model, **deployment}), charged=False)
        except KvcoreError as error:
            outcomes.append(Outcome(requests=None, reason=error.errors[0].message))
            continue
        outcomes.append(_outcome(result))
    return tuple(outcomes)


def _outcome(result: Answer) -> Outcome:
    plan, cache_bytes = result.plan, result.budget.kv_cache_bytes
    if not plan.groups:
        return Outcome(requests=None, reason=NOTHING_CACHED)
    if cache_bytes is None:
        return Outcome(requests=None, reason=NOT_KNOWN)
    if plan.concurrency is None:
        return Outcome(requests=None, reason=DOES_NOT_FIT if cache_bytes else NO_MEMORY)
    return Outcome(requests=plan.concurrency, reason=next(iter(objections(result)), ""))
