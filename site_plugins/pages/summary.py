"""What the overviews say of a model in one line: worked out with its page, and small enough to keep."""

from dataclasses import dataclass

from kvcore.catalog import ModelEntry
from kvcore.questions.many import requests_at_once
from kvcore.report.report import Report
from kvcore.report.sections.wording import engine_name, value_of
from site_plugins.pages.answers import Ask
from site_plugins.pages.deployments import opening_request
from site_plugins.pages.facts import context_limit, kind_of
from site_plugins.pages.fleet import TOO_LONG, Many, OnGpus, on_every_gpu
from site_plugins.pages.requests import COUNTED, cell_request, layout_request
from site_plugins.pages.scenarios import HEADLINE_BUDGET, INDEX_CONTEXTS

SIZES = (1, 8)
"""Tensor-parallel sizes the index compares."""


@dataclass(frozen=True, kw_only=True)
class Requests:
    """Requests at once in one cell of the index: the engine's figure, or why there is none."""

    value: float | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One model in one line.

    Attributes:
        kind: Attention kind without head counts.
        engine: Engine with version.
        limit: Longest request in tokens, where known.
        tensor_parallel_size: Of the deployment the model's page opens with.
        bytes_per_token: Of that deployment, on one GPU.
        per_token: Bytes per token and GPU at each of :data:`SIZES`; ``None`` where the engine refuses.
        per_request: Bytes of state per request at the first of them.
        requests: Requests at once in a given budget at every size and length of the index, sizes first.
        on_gpus: The same on every card and number of cards of the index, the budget estimated.
        refusal: Why the engine refuses the first size, if it does.
    """

    kind: str
    engine: str
    limit: int | None
    tensor_parallel_size: int
    bytes_per_token: int | None
    per_token: tuple[int | None, ...]
    per_request: int | None
    requests: tuple[Requests, ...]
    on_gpus: tuple[OnGpus, ...]
    refusal: str = ""

    def on(self, gpu: str, size: int) -> OnGpus:
        """The model on so many cards of one kind, both among those of the index."""
        return next(place for place in self.on_gpus if (place.gpu, place.size) == (gpu, size))


def summarise(entry: ModelEntry, ask: Ask, many: Many = requests_at_once) -> Summary:
    """Returns a model's summary.

    Args:
        entry: The model.
        ask: Answers a request.
        many: Answers many deployments of a model at once.
    """
    headline = ask(opening_request(entry, ask))
    by_size = [ask(layout_request(entry.id, size), ("layout",)) for size in SIZES]
    limit = context_limit(entry, ask)
    size = value_of(headline, "tensor_parallel_size")
    return Summary(
        kind=kind_of(headline),
        engine=engine_name(headline),
        limit=limit,
        tensor_parallel_size=size if isinstance(size, int) else 1,
        bytes_per_token=headline.layout.bytes_per_token if headline.layout else None,
        per_token=tuple(report.layout.bytes_per_token if report.layout else None for report in by_size),
        per_request=by_size[0].layout.bytes_per_request if by_size[0].layout else None,
        requests=tuple(_requests(entry, size, length, limit, ask) for size in SIZES for length in INDEX_CONTEXTS),
        on_gpus=on_every_gpu(entry.id, limit, many),
        refusal=_refusal(by_size[0]),
    )


def _requests(entry: ModelEntry, size: int, length: int, limit: int | None, ask: Ask) -> Requests:
    if limit is not None and length > limit:
        return Requests(value=None, reason=TOO_LONG)
    report = ask(cell_request(entry.id, HEADLINE_BUDGET, size, length), COUNTED)
    if report.errors or report.capacity is None:
        return Requests(value=None, reason=_refusal(report))
    if not report.capacity.fits:
        return Requests(value=None, reason="one request does not fit")
    return Requests(value=report.capacity.concurrency.engine_log)


def _refusal(report: Report) -> str:
    return report.errors[0].message if report.errors else ""
