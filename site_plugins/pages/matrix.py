"""The capacity matrix: requests at once over cache budget, tensor-parallel size and context length."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from kvcore.report.document import Block, Column, Figure, Note, Row, Table, Text, plain
from kvcore.report.figures import readable_bytes, times
from kvcore.report.report import Report
from kvcore.report.sections.wording import engine_name
from site_plugins.pages.answers import Ask
from site_plugins.pages.requests import COUNTED, calculator_link, cell_request
from site_plugins.pages.scenarios import BUDGETS, TENSOR_PARALLEL_SIZES


def capacity_matrix(model: str, lengths: Sequence[int], ask: Ask, calculator: str) -> Table:
    """Returns the matrix of one model; sizes that change nothing share a row, as for a latent that every rank keeps whole.

    Args:
        model: Catalogue id.
        lengths: Context lengths, one column each.
        ask: Answers a request.
        calculator: Address of the calculator, relative to the page; each cell links to it with its own request.
    """
    reports = {
        (budget, size, length): ask(cell_request(model, budget, size, length), COUNTED)
        for budget in BUDGETS
        for size in TENSOR_PARALLEL_SIZES
        for length in lengths
    }
    rows: list[Row] = []
    for budget in BUDGETS:
        by_size = {
            size: tuple(
                _cell(reports[budget, size, length], calculator, cell_request(model, budget, size, length))
                for length in lengths
            )
            for size in TENSOR_PARALLEL_SIZES
        }
        for _, alike in groupby(by_size, lambda size: [plain(cell) for cell in by_size[size]]):  # noqa: B023 - used at once
            first, *others = alike
            # Kept together: a narrow screen breaks the line before "tp", not within the sizes.
            sizes = ",\u00a0".join(map(str, (first, *others)))
            rows.append(Row(((f"{readable_bytes(budget)}\u00a0· tp\u00a0{sizes}",), *by_size[first])))
    columns = (Column("Cache per GPU · tp"), *(Column(f"{length:,}", "right", "tokens") for length in lengths))
    engine = engine_name(next(iter(reports.values())))
    caption = f"Requests at once as {engine} logs them, by given cache per GPU, tensor-parallel size and context"
    return Table(caption, columns, tuple(rows), id="capacity-matrix")


def capacity_blocks(model: str, lengths: Sequence[int], ask: Ask, calculator: str) -> tuple[Block, ...]:
    """Returns the matrix of one model with the reasons of the cells it refuses, each once.

    Args:
        model: Catalogue id.
        lengths: Context lengths, one column each.
        ask: Answers a request.
        calculator: Address of the calculator, relative to the page.
    """
    answers = (
        ask(cell_request(model, budget, size, length), COUNTED)
        for budget in BUDGETS
        for size in TENSOR_PARALLEL_SIZES
        for length in lengths
    )
    reasons = dict.fromkeys(report.errors[0].message for report in answers if report.errors)
    notes = (Note("info", (f"Refused: {reason}",)) for reason in reasons)
    return (capacity_matrix(model, lengths, ask, calculator), *notes)


def _cell(report: Report, calculator: str, request: Mapping[str, object]) -> Text:
    capacity = report.capacity
    if report.errors or capacity is None or report.engine is None:
        return ("refused",)
    if not capacity.fits or capacity.concurrency.engine_log is None:
        return ("does not fit",)
    figure = times("capacity.concurrency.engine_log", capacity.concurrency.engine_log)
    return (Figure(figure.path, figure.value, figure.text, href=calculator_link(calculator, request)),)
