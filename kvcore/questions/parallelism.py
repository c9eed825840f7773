"""How to spread a model over GPUs: every split the engine takes, ranked, and the fewest GPUs that serve a wish."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from kvcore.errors import KvcoreError
from kvcore.questions.forward import (
    COUNTED,
    Basis,
    Check,
    Fields,
    ask,
    ask_or_refused,
    check,
    concurrency,
    whole_number,
)
from kvcore.questions.solution import Solution

MOST_GPUS = 1024
"""More GPUs than this are not looked at."""

MOST_ANSWERED = 200
"""Splits that are worked out in the search for the fewest GPUs, so that it ends in seconds in a browser too."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """One way to use a number of GPUs.

    Attributes:
        tensor_parallel_size: Ranks that split each layer.
        pipeline_parallel_size: Stages that split the layers.
        data_parallel_size: Replicas of the whole.
        concurrency: Requests at once over all replicas; None where the engine refuses or nothing fits.
        per_replica: Requests at once of one replica.
        refused: Why the engine does not take it; empty where it does.
    """

    tensor_parallel_size: int
    pipeline_parallel_size: int
    data_parallel_size: int
    concurrency: float | None
    per_replica: float | None
    refused: str = ""

    @property
    def num_gpus(self) -> int:
        """GPUs the split uses."""
        return self.tensor_parallel_size * self.pipeline_parallel_size * self.data_parallel_size


def splits(fields: Fields, num_gpus: int, basis: Basis = "engine_log") -> tuple[Split, ...]:
    """Every tensor × pipeline × data parallel split of exactly ``num_gpus`` GPUs, most requests first.

    Splits the engine refuses stand last, with its reason.

    Raises:
        InputError: The number of GPUs is not from 1 to 1,024.
    """
    num_gpus = whole_number("gpus", num_gpus, MOST_GPUS)
    found = [_split(fields, tp, pp, num_gpus // (tp * pp), basis) for tp, pp in _factors(num_gpus)]
    return tuple(sorted(found, key=_rank))


def _rank(split: Split) -> tuple[bool, float, int]:
    """Most requests first, fewer stages among equals, refused splits last."""
    served = split.concurrency
    return (served is None, 0.0 if served is None else -served, split.pipeline_parallel_size)


def best_split(fields: Fields, num_gpus: int, requests: int = 1, basis: Basis = "engine_log") -> Solution:
    """The split of a node that holds most requests.

    Raises:
        InputError: The number of GPUs is not from 1 to 1,024.
    """
    ranked = splits(fields, num_gpus, basis)
    best = ranked[0]
    wish = f"the split of {num_gpus} GPUs that holds most requests"
    if best.concurrency is None:
        return _solution("best-split", wish, fields, None, best, requests, basis, best.refused or "Nothing fits.")
    next_best = tuple(_beyond("next best", split) for split in ranked[1:2] if split.concurrency is not None)
    return _solution("best-split", wish, fields, best.concurrency, best, requests, basis, "", next_best)


def fewest_gpus(fields: Fields, requests: int, basis: Basis = "engine_log", most: int = 64) -> Solution:
    """The fewest GPUs that hold ``requests`` requests at once, whatever the split.

    Args:
        fields: The deployment; its own parallel sizes are not used.
        requests: Requests to serve at once, over all replicas.
        basis: Which concurrency counts.
        most: GPUs beyond which no answer is looked for.

    Raises:
        InputError: The deployment itself cannot be answered.
    """
    wish = f"the fewest GPUs for {requests:,} requests at once"
    last = Split(
        tensor_parallel_size=1, pipeline_parallel_size=1, data_parallel_size=1, concurrency=None, per_replica=None
    )
    answered, num_gpus = 0, 0
    while num_gpus < most and answered < MOST_ANSWERED:
        num_gpus += 1
        found = [_split(fields, tp, pp, num_gpus // (tp * pp), basis) for tp, pp in _factors(num_gpus)]
        answered += sum(not split.refused for split in found)
        fewer, last = last, max(found, key=lambda split: (_whole(split), split.concurrency or 0.0, _few_stages(split)))
        if _whole(last) >= requests:
            gpus = "1 GPU" if fewer.num_gpus == 1 else f"{fewer.num_gpus} GPUs"
            beyond = (_beyond(f"{gpus} at best", fewer),) if num_gpus > 1 else ()
            return _solution("fewest-gpus", wish, fields, num_gpus, last, requests, basis, "", beyond)
    note = f"No split of up to {num_gpus} GPUs holds that many requests; more were not looked at."
    return _solution("fewest-gpus", wish, fields, None, last, requests, basis, note)


def _whole(split: Split) -> int:
    """Whole requests over all replicas: a request does not spread over two of them."""
    return 0 if split.per_replica is None else math.floor(split.per_replica) * split.data_parallel_size


def _few_stages(split: Split) -> int:
    return -split.pipeline_parallel_size


def _beyond(words: str, split: Split) -> Check:
    """The best split that is not the answer, counted over all replicas."""
    what = f"{words}: {_name(split)}, all replicas"
    return Check(what=what, concurrency=split.concurrency, enough=False)


def _name(split: Split) -> str:
    return f"tp {split.tensor_parallel_size} × pp {split.pipeline_parallel_size} × dp {split.data_parallel_size}"


def _factors(num_gpus: int) -> Iterator[tuple[int, int]]:
    for tp in range(1, num_gpus + 1):
        if num_gpus % tp:
            continue
        for pp in range(1, num_gpus // tp + 1):
            if num_gpus // tp % pp == 0:
                yield tp, pp


def _split(fields: Fields, tp: int, pp: int, dp: int, basis: Basis) -> Split:
    """One split asked forward: replicas share experts, so what one of them holds depends on their number too."""
    per_replica, refused = _replica(fields, tp, pp, dp, basis)
    return Split(
        tensor_parallel_size=tp,
        pipeline_parallel_size=pp,
        data_parallel_size=dp,
        concurrency=None if per_replica is None else per_replica * dp,
        per_replica=per_replica,
        refused=refused,
    )


def _replica(fields: Fields, tp: int, pp: int, dp: int, basis: Basis) -> tuple[float | None, str]:
    try:
        report = ask(fields, COUNTED, tensor_parallel_size=tp, pipeline_parallel_size=pp, data_parallel_size=dp)
    except KvcoreError as error:
        return None, error.errors[0].message
    return concurrency(report, basis), ""


def _solution(
    question: str,
    wish: str,
    fields: Fields,
    value: float | None,
    split: Split,
    requests: int,
    basis: Basis,
    note: str,
    beyond: tuple[Check, ...] = (),
) -> Solution:
    request = {
        **fields,
        "tensor_parallel_size": split.tensor_parallel_size,
        "pipeline_parallel_size": split.pipeline_parallel_size,
        "data_parallel_size": split.data_parallel_size,
    }
    report = ask_or_refused(request)
    what = f"{_name(split)}, one replica"
    return Solution(
        question=question,
        wish=wish,
        field="gpus" if question == "fewest-gpus" else "concurrency",
        value=value,
        unit="GPUs" if question == "fewest-gpus" else "requests",
        request=request,
        report=report,
        checks=(check(what, report, -(-requests // split.data_parallel_size), basis), *beyond),
        note=note,
    )
