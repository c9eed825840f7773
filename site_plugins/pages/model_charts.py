"""The charts of a model's page, from the same questions its tables ask."""

from collections.abc import Mapping, Sequence

from kvcore.arithmetic import GIB
from kvcore.report.charts import bytes_by_part, concurrency
from kvcore.report.document import Chart
from site_plugins.pages.answers import Ask
from site_plugins.pages.requests import cell_request
from site_plugins.pages.scenarios import BUDGETS, TENSOR_PARALLEL_SIZES

_SHORTEST = 1024
_FIRST_OF_CONCURRENCY = 2048


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
