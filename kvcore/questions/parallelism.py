"""How to spread a model over GPUs: every split the engine takes, ranked, and the fewest GPUs that serve a wish."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from kvcore.arithmetic import cdiv
from kvcore.errors import KvcoreError, input_error
from kvcore.questions.forward import (
    COUNTED,
    Basis,
    Check,
    ask,
    ask_or_refused,
    check,
    concurrency,
    no_figure,
    whole_number,
)
from kvcore.questions.names import SGLANG, Fields, names_of, with_changes
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
        InputError: The number of GPUs is not from 1 to 1,024, or the deployment splits attention by requests.
    """
    num_gpus = whole_number("gpus", num_gpus, MOST_GPUS)
    asker = _Splits(fields, basis)
    return tuple(sorted(asker.of(num_gpus), key=_rank))


def _rank(split: Split) -> tuple[bool, float, int]:
    """Most requests first, fewer stages among equals, refused splits last."""
    served = split.concurrency
    return (served is None, 0.0 if served is None else -served, split.pipeline_parallel_size)


def best_split(
    fields: Fields,
    num_gpus: int,
    requests: int = 1,
    basis: Basis = "engine_log",
    ranked: tuple[Split, ...] = (),
) -> Solution:
    """The split of a node that holds most requests.

    Args:
        fields: The deployment; its own parallel sizes are not used.
        num_gpus: GPUs of the node.
        requests: Requests the proof counts.
        basis: Which concurrency counts.
        ranked: The node's :func:`splits` where they are known already.

    Raises:
        InputError: The number of GPUs is not from 1 to 1,024, or the deployment splits attention by requests.
    """
    ranked = ranked or splits(fields, num_gpus, basis)
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
    asker = _Splits(fields, basis)
    last = Split(
        tensor_parallel_size=1, pipeline_parallel_size=1, data_parallel_size=1, concurrency=None, per_replica=None
    )
    num_gpus = 0
    while num_gpus < most and asker.answered < MOST_ANSWERED:
        num_gpus += 1
        found = asker.of(num_gpus)
        fewer, last = last, max(found, key=lambda split: (_whole(split), split.concurrency or 0.0, _few_stages(split)))
        if _whole(last) >= requests:
            gpus = "1 GPU" if fewer.num_gpus == 1 else f"{fewer.num_gpus} GPUs"
            beyond = (_beyond(f"{gpus} at best", fewer),) if num_gpus > 1 else ()
            return _solution("fewest-gpus", wish, fields, num_gpus, last, requests, basis, "", beyond)
    note = f"No split of up to {num_gpus} GPUs holds that many requests; more were not looked at."
    if not asker.answered:
        note = asker.first_refusal
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


class _Splits:
    """Asks splits of one deployment forward, and keeps what replicas hold where their number makes no difference."""

    def __init__(self, fields: Fields, basis: Basis) -> None:
        if fields.get("enable_dp_attention") in {True, "true"}:
            rule = "splits are looked for without data-parallel attention, whose groups share the tensor-parallel ranks"
            raise input_error("enable_dp_attention", fields["enable_dp_attention"], rule, "Leave it out.")
        self.fields = fields
        self.basis = basis
        self.names = names_of(fields)
        self.answered = 0
        self._known: dict[tuple[int, int, int], tuple[float | None, str]] = {}

    @property
    def first_refusal(self) -> str:
        """Why the first split that was asked is not taken."""
        return next((refused for _, refused in self._known.values()), "")

    def of(self, num_gpus: int) -> list[Split]:
        """Every split of exactly so many GPUs."""
        return [self._split(tp, pp, num_gpus // (tp * pp)) for tp, pp in _factors(num_gpus)]

    def _split(self, tp: int, pp: int, dp: int) -> Split:
        """One split asked forward: vLLM's replicas share experts, so what one of them holds depends on their number too."""
        asked = (tp, pp, 1 if self.names is SGLANG else dp)
        if asked not in self._known:
            self._known[asked] = self._replica(*asked)
            self.answered += not self._known[asked][1]
        per_replica, refused = self._known[asked]
        return Split(
            tensor_parallel_size=tp,
            pipeline_parallel_size=pp,
            data_parallel_size=dp,
            concurrency=None if per_replica is None else per_replica * dp,
            per_replica=per_replica,
            refused=refused,
        )

    def _replica(self, tp: int, pp: int, dp: int) -> tuple[float | None, str]:
        sizes = {self.names.tensor: tp, self.names.pipeline: pp, self.names.data: dp}
        try:
            report = ask(self.fields, COUNTED, **sizes)
        except KvcoreError as error:
            return None, error.errors[0].message
        return concurrency(report, self.basis), no_figure(report)


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
    names = names_of(fields)
    sizes = {
        names.tensor: split.tensor_parallel_size,
        names.pipeline: split.pipeline_parallel_size,
        names.data: split.data_parallel_size,
    }
    request = with_changes(fields, sizes)
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
        checks=(check(what, report, cdiv(requests, split.data_parallel_size), basis), *beyond),
        note=note,
    )
