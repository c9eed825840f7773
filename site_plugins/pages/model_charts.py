"""The charts of a model's page, from the same questions its tables ask."""

from collections.abc import Mapping, Sequence

from kvcore.arithmetic import GIB
from kvcore.catalog import ModelEntry, find_gpu
from kvcore.report.charts import bytes_by_part, concurrency, memory_bars
from kvcore.report.document import Chart
from site_plugins.pages.answers import Ask
from site_plugins.pages.deployments import Deployment
from site_plugins.pages.facts import weight_bytes
from site_plugins.pages.requests import cell_request
from site_plugins.pages.scenarios import BUDGETS, DEPLOYMENT_SIZES, MEMORY_GPUS, TENSOR_PARALLEL_SIZES

_SHORTEST = 1024
_FIRST_OF_CONCURRENCY = 2048


def memory_chart(entry: ModelEntry, length: int, ask: Ask) -> Chart | None:
    """Returns where the memory goes: of each card the fewest that start the engine, and of the first the next fewer.

    Args:
        entry: The model.
        length: Context that the deployments are asked for.
        ask: Answers a request.
    """
    shown: list[Deployment] = []
    for gpu in MEMORY_GPUS:
        found = _fewest(entry, gpu, length, ask)
        # What one size less lacks is said once.
        shown += found if not shown else found[-1:]
    return memory_bars({item.name: item.report for item in shown})


def _fewest(entry: ModelEntry, gpu: str, length: int, ask: Ask) -> list[Deployment]:
    """The fewest cards that start the engine, after the next fewer ones; the most cards where none do."""
    tried: list[Deployment] = []
    weights = weight_bytes(entry) or 0
    memory = find_gpu(gpu).usable_bytes or 1
    for index, size in enumerate(DEPLOYMENT_SIZES):
        following = DEPLOYMENT_SIZES[min(index + 1, len(DEPLOYMENT_SIZES) - 1)]
        if weights > following * memory and size != following:
            continue  # nor would twice as many hold the weights
        request = {"model": entry.id, "gpu": gpu, "tensor_parallel_size": size, "max_model_len": length}
        report = ask(request)
        if report.errors or report.budget is None or report.budget.kind != "estimated":
            continue
        tried.append(Deployment(gpu, size, request, report))
        if tried[-1].starts:
            break
    return tried[-2:]


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
    return bytes_by_part([ask({**request, "max_model_len": length}) for length in doublings(limit)])


def concurrency_chart(model: str, lengths: Sequence[int], ask: Ask) -> Chart | None:
    """Returns requests at once against context for the deployments of the capacity matrix."""
    longer = tuple(sorted({_FIRST_OF_CONCURRENCY, *lengths})) if lengths[-1] > _FIRST_OF_CONCURRENCY else lengths
    return concurrency(
        {
            f"tp {size} · {budget // GIB} GiB": [ask(cell_request(model, budget, size, length)) for length in longer]
            for budget in BUDGETS
            for size in TENSOR_PARALLEL_SIZES
        }
    )
