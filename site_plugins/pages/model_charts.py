"""The charts of a model's page, from the same questions its tables ask."""

from collections.abc import Iterator, Mapping, Sequence

from kvcore.arithmetic import GIB
from kvcore.catalog import ModelEntry
from kvcore.questions.many import requests_at_once
from kvcore.report.charts import bytes_by_part, concurrency, concurrency_on, memory_bars
from kvcore.report.document import Chart
from kvcore.report.sections.wording import engine_name
from site_plugins.pages.answers import Ask
from site_plugins.pages.deployments import Deployment, deployments, is_estimated, sizes_holding
from site_plugins.pages.facts import weight_bytes
from site_plugins.pages.requests import COUNTED, cell_request, deployment_request
from site_plugins.pages.scenarios import BUDGETS, DEPLOYMENT_SIZES, MEMORY_GPUS, TENSOR_PARALLEL_SIZES

_SHORTEST = 1024
_FIRST_OF_CONCURRENCY = 2048

_SPLIT = ("inputs", "layout", "request")
"""Sections of a report that say what a request costs by part."""

_DIVIDED = ("inputs", "budget", "request", "capacity")
"""Sections of a report that say how a card's memory is divided."""


def drawn_deployments(entry: ModelEntry, length: int, ask: Ask) -> tuple[Deployment, ...]:
    """Returns the deployments a page draws: of each card the fewest that start the engine, and of the first half as many.

    None where the weights are not known, so that no budget is estimated.

    Args:
        entry: The model.
        length: Context that the deployments are asked for.
        ask: Answers a request.
    """
    if not deployments(entry, ask):
        return ()
    shown: list[Deployment] = []
    for gpu in MEMORY_GPUS:
        sizes = sizes_holding(gpu, weight_bytes(entry) or 0) or DEPLOYMENT_SIZES[-1:]
        found = next((item for item in _asked(entry, gpu, sizes, length, ask) if item.starts), None)
        if found and not shown and found.size > 1:
            # What half as many lack is said once.
            shown += _asked(entry, gpu, (found.size // 2,), length, ask)
        shown += [found] if found else list(_asked(entry, gpu, sizes[-1:], length, ask))
    return tuple(shown)


def memory_chart(drawn: Sequence[Deployment]) -> Chart | None:
    """Returns where the memory of each deployment goes."""
    return memory_bars({item.name: item.report for item in drawn})


def _asked(entry: ModelEntry, gpu: str, sizes: Sequence[int], length: int, ask: Ask) -> Iterator[Deployment]:
    """Deployments for which kvcore estimates a budget, one at a time."""
    for size in sizes:
        request = deployment_request(entry.id, gpu, size, length)
        report = ask(request, _DIVIDED)
        if is_estimated(report):
            yield Deployment(gpu, size, request, report)


def doublings(limit: int) -> tuple[int, ...]:
    """Returns context lengths from 1,024 tokens up by doubling, and the limit itself."""
    lengths = []
    length = _SHORTEST
    while length < limit:
        lengths.append(length)
        length *= 2
    return (*lengths, limit)


def part_chart(request: Mapping[str, object], limit: int, ask: Ask) -> Chart | None:
    """Returns what one request of a deployment costs by part as its context grows."""
    return bytes_by_part([ask({**request, "max_model_len": length}, _SPLIT) for length in doublings(limit)])


def concurrency_chart(model: str, drawn: Sequence[Deployment], lengths: Sequence[int], ask: Ask) -> Chart | None:
    """Returns requests at once against context on several GPUs; over given budgets where none is estimated.

    Args:
        model: Catalogue id.
        drawn: The deployments, with estimated budgets.
        lengths: Context lengths.
        ask: Answers a request.
    """
    longer = tuple(sorted({_FIRST_OF_CONCURRENCY, *lengths})) if lengths[-1] > _FIRST_OF_CONCURRENCY else tuple(lengths)
    if drawn:
        engine = engine_name(drawn[0].report)
        return concurrency_on(_served(model, drawn, longer), engine, "; budgets are estimated")
    return concurrency(
        {
            f"tp {size} · {budget // GIB} GiB": [
                ask(cell_request(model, budget, size, length), COUNTED) for length in longer
            ]
            for budget in BUDGETS
            for size in TENSOR_PARALLEL_SIZES
        }
    )


def _served(
    model: str, drawn: Sequence[Deployment], lengths: Sequence[int]
) -> dict[str, list[tuple[int, float | None]]]:
    """Requests at once of each deployment at each length."""
    asked = [
        {"gpu": item.gpu, "tensor_parallel_size": item.size, "max_model_len": length}
        for item in drawn
        for length in lengths
    ]
    found = iter(requests_at_once(model, asked))
    return {item.name: [(length, next(found).requests) for length in lengths] for item in drawn}
