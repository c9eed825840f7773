"""Common deployments: how many requests a model gets on cards people have, with the budget estimated for each."""

from collections.abc import Mapping
from dataclasses import dataclass

from kvcore.catalog import ModelEntry, find_gpu
from kvcore.report.document import Block, Column, Figure, Note, Row, Table, Text
from kvcore.report.figures import UNKNOWN, count, gibibytes, grouped, readable_bytes, times
from kvcore.report.report import Report
from kvcore.report.sections.wording import caches_nothing, engine_name
from site_plugins.pages.answers import Ask
from site_plugins.pages.facts import context_limit, headline_request, weight_bytes
from site_plugins.pages.requests import calculator_link, deployment_request
from site_plugins.pages.scenarios import (
    DEPLOYMENT_GPUS,
    DEPLOYMENT_SIZES,
    HEADLINE_CONTEXT,
    WEIGHTS_SHARE,
    WORTH_QUOTING,
)

_ROUGH = "Estimated from the card's memory, not measured: each row's interval is what its budget may really be."


@dataclass(frozen=True)
class Deployment:
    """Some GPUs of one kind, tensor-parallel over all of them, and kvcore's answer."""

    gpu: str
    size: int
    request: Mapping[str, object]
    report: Report

    @property
    def name(self) -> str:
        """As people write it: "8 × H200"."""
        return f"{self.size} × {self.gpu}"

    @property
    def starts(self) -> bool:
        """Whether the engine starts: memory is left for the cache and one request fits."""
        capacity = self.report.capacity
        return is_estimated(self.report) and capacity is not None and capacity.fits is True

    @property
    def objection(self) -> str:
        """Why the engine stops later all the same: its cache is planned, and too small for the batches it captures."""
        return (self.report.capacity.objection or "") if self.report.capacity else ""

    @property
    def requests(self) -> float:
        """Requests at once as the engine logs them, 0 where it does not start."""
        capacity = self.report.capacity
        return (capacity.concurrency.engine_log or 0) if capacity else 0


def candidates(weights: int | None) -> tuple[tuple[str, int], ...]:
    """Returns the deployments worth asking for: of each card the fewest that hold the weights, and eight of them.

    Args:
        weights: About how large the weights are; a guess is enough, since every figure comes from kvcore.
    """
    found: list[tuple[str, int]] = []
    for gpu in DEPLOYMENT_GPUS:
        holding = sizes_holding(gpu, weights or 0)
        found += [(gpu, size) for size in dict.fromkeys((*holding[:1], *holding[-1:]))]
    return tuple(sorted(found, key=lambda item: (item[1], DEPLOYMENT_GPUS.index(item[0]))))


def sizes_holding(gpu: str, weights: int) -> tuple[int, ...]:
    """Returns the numbers of a card that hold the weights and leave room for a cache; none where all are too few.

    Args:
        gpu: The card.
        weights: Bytes of the weights.
    """
    memory = find_gpu(gpu).usable_bytes or 0
    return tuple(size for size in DEPLOYMENT_SIZES if weights <= size * memory * WEIGHTS_SHARE)


def deployments(entry: ModelEntry, ask: Ask) -> tuple[Deployment, ...]:
    """Returns the common deployments of a model for which kvcore estimates a budget, the smallest first.

    Args:
        entry: The model.
        ask: Answers a request.
    """
    limit = context_limit(entry, ask)
    length = min(HEADLINE_CONTEXT, limit) if limit else HEADLINE_CONTEXT
    found = []
    for gpu, size in candidates(weight_bytes(entry) or _weighed(entry, length, ask)):
        request = deployment_request(entry.id, gpu, size, length)
        report = ask(request)
        if is_estimated(report) and not caches_nothing(report):
            found.append(Deployment(gpu, size, request, report))
    return tuple(found)


def too_large(entry: ModelEntry, ask: Ask) -> tuple[Block, ...]:
    """Returns that the weights are more than the largest common deployment holds; nothing where they are not.

    Args:
        entry: The model.
        ask: Answers a request.
    """
    weights = weight_bytes(entry) or _weighed(entry, HEADLINE_CONTEXT, ask)
    if weights is None or candidates(weights):
        return ()
    gpu, size = find_gpu(DEPLOYMENT_GPUS[-1]), DEPLOYMENT_SIZES[-1]
    words = (
        f"{size} × {gpu.name} do not hold it: its weights take {readable_bytes(weights)}, the cards have "
        f"{readable_bytes(size * (gpu.usable_bytes or 0))}. The figures here are for a given cache on each GPU."
    )
    return (Note("warning", (words,)),)


def _weighed(entry: ModelEntry, length: int, ask: Ask) -> int | None:
    """About how large the weights are where no size is published: as kvcore weighs them on the last deployment asked."""
    gpu, size = DEPLOYMENT_GPUS[-1], DEPLOYMENT_SIZES[-1]
    weights = ask(deployment_request(entry.id, gpu, size, length)).weights
    return size * weights.bytes_per_gpu if weights and weights.bytes_per_gpu else None


def is_estimated(report: Report) -> bool:
    """Tells whether a report answers with an estimated budget."""
    return not report.errors and report.budget is not None and report.budget.kind == "estimated"


def headline_deployment(found: tuple[Deployment, ...]) -> Deployment | None:
    """Returns the deployment a page quotes: the smallest that serves a few requests at once, else the largest.

    Those that stop later by default are quoted only where all do.
    """
    starting = [item for item in found if item.starts]
    starting = [item for item in starting if not item.objection] or starting
    useful = (item for item in starting if item.requests >= WORTH_QUOTING)
    return next(useful, starting[-1] if starting else None)


def opening_request(entry: ModelEntry, ask: Ask) -> Mapping[str, object]:
    """Returns the question a model's page opens with: the deployment it quotes, else a given budget.

    Args:
        entry: The model.
        ask: Answers a request.
    """
    quoted = headline_deployment(deployments(entry, ask))
    return quoted.request if quoted else headline_request(entry, ask, _weighed(entry, HEADLINE_CONTEXT, ask))


def deployment_blocks(found: tuple[Deployment, ...], calculator: str) -> tuple[Block, ...]:
    """Returns the table of deployments, one headline a row; nothing where no budget is estimated.

    Args:
        found: The deployments.
        calculator: Address of the calculator, relative to the page.
    """
    if not found:
        return ()
    objections = tuple(Note("warning", (f"{item.name}: {item.objection}",)) for item in found if item.objection)
    return (_table(found, calculator), Note("info", (_ROUGH,)), *objections)


def deployment_words(found: tuple[Deployment, ...]) -> str:
    """Returns the quoted deployment in a few words, for previews of the page; empty where there is none."""
    quoted = headline_deployment(found)
    if quoted is None or quoted.report.capacity is None or quoted.report.request is None:
        return ""
    requests = quoted.report.capacity.concurrency.engine_log
    if requests is None:
        return ""
    length = grouped(quoted.report.request.max_model_len)
    return f"{quoted.name}, tp {quoted.size}: {requests:,.2f} requests of {length} tokens (estimated)"


def _table(found: tuple[Deployment, ...], calculator: str) -> Table:
    # The answer first: a narrow screen shows the first columns only.
    columns = (
        Column("GPUs"),
        Column("Requests", "right", "at once"),
        Column("Tokens", "right", "in the log"),
        Column("What binds"),
        Column("Longest", "right", "tokens"),
        Column("Cache", "right", "per GPU"),
        Column("Between", "right", "per GPU"),
        Column("Weights", "right", "per GPU"),
    )
    length = next((item.report.request.max_model_len for item in found if item.report.request), HEADLINE_CONTEXT)
    caption = (
        f"Requests of {length:,} tokens on common deployments under {engine_name(found[0].report)}, tensor-parallel over "
        "all GPUs, default memory share"
    )
    return Table(caption, columns, tuple(_row(item, calculator) for item in found), id="deployments-table")


def _row(item: Deployment, calculator: str) -> Row:
    budget, capacity, weights = item.report.budget, item.report.capacity, item.report.weights
    interval = budget.interval_bytes if budget else None
    link = calculator_link(calculator, item.request)
    # What is taken off the budget: the tensors, and what loading adds to them.
    own: Text = (gibibytes("weights.loaded_bytes", weights.loaded_bytes),) if weights else (UNKNOWN,)
    if budget is None or capacity is None or not budget.kv_cache_bytes:
        return Row(((item.name,), ("does not start",), ("",), ("weights",), ("",), ("none left",), ("",), own))
    between = f"{readable_bytes(interval[0])} – {readable_bytes(interval[1])}" if interval else UNKNOWN
    longest = count("capacity.max_model_len_that_fits", capacity.max_model_len_that_fits)
    memory: tuple[Text, ...] = ((gibibytes("budget.kv_cache_bytes", budget.kv_cache_bytes),), (between,), own)
    binds = capacity.binds or UNKNOWN
    if not item.starts or capacity.concurrency.engine_log is None:
        return Row(((item.name,), ("does not fit",), ("",), (binds,), (longest,), *memory))
    requests = times("capacity.concurrency.engine_log", capacity.concurrency.engine_log)
    linked = Figure(requests.path, requests.value, requests.text, href=link)
    tokens = count("capacity.tokens.engine_log", capacity.tokens.engine_log)
    return Row(((item.name,), (linked,), (tokens,), (binds,), (longest,), *memory))
