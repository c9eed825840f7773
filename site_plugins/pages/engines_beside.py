"""SGLang beside vLLM on a model's common deployments: tokens and requests of both, or why one has none."""

from collections.abc import Mapping, Sequence

from kvcore.report.document import Block, Column, Figure, Note, Row, Table, Text
from kvcore.report.figures import UNKNOWN, count, grouped, times, times_at_most
from kvcore.report.report import Report
from kvcore.report.sections.wording import engine_name
from site_plugins.pages.answers import Ask
from site_plugins.pages.deployments import Deployment, headline_deployment
from site_plugins.pages.requests import calculator_link

_NOTE = (
    "vLLM logs pool ÷ its estimate of one request; held are requests that can run at once. SGLang logs tokens, so its "
    "requests are its pools divided by what one request holds. Both budgets are estimated from the card and the weights."
)


def engine_blocks(model: str, found: Sequence[Deployment], ask: Ask, calculator: str) -> tuple[Block, ...]:
    """Returns the table of both engines on the deployment a page quotes and the largest; nothing where vLLM has none.

    Args:
        model: Catalogue id.
        found: The model's common deployments.
        ask: Answers a request.
        calculator: Address of the calculator, relative to the page.
    """
    chosen = {item.name: item for item in (headline_deployment(tuple(found)), *found[-1:]) if item is not None}
    if not chosen:
        return ()
    answers = [(item, request, ask(request)) for item in chosen.values() for request in [sglang_request(model, item)]]
    vllm = engine_name(next(iter(chosen.values())).report)
    sglang = next((engine_name(report) for _, _, report in answers if report.engine), "SGLang")
    columns = (
        Column("GPUs"),
        Column("Logged", "right", vllm),
        Column("Held", "right", vllm),
        Column("Tokens", "right", vllm),
        Column("Held", "right", sglang),
        Column("Tokens", "right", sglang),
    )
    rows = tuple(
        Row(((item.name,), *_vllm(item), *_sglang(request, report, calculator))) for item, request, report in answers
    )
    length = next((item.report.request.max_model_len for item in chosen.values() if item.report.request), 0)
    caption = f"Requests of {grouped(length)} tokens at once and tokens of the cache, tensor-parallel over all GPUs"
    remarks = dict.fromkeys(remark for item, _, report in answers for remark in _remarks(item, report))
    notes = tuple(Note("info", (remark,)) for remark in (*remarks, _NOTE))
    return (Table(caption, columns, rows, id="engines-table"), *notes)


def sglang_request(model: str, item: Deployment) -> dict[str, object]:
    """Returns the question about a deployment as SGLang's own fields ask it."""
    request = item.report.request
    length = {"context_length": request.max_model_len} if request else {}
    return {"engine": "sglang", "model": model, "gpu": item.gpu, "tp_size": item.size, **length}


def _vllm(item: Deployment) -> tuple[Text, ...]:
    capacity = item.report.capacity
    if not item.starts or capacity is None:
        return ("does not start",), (UNKNOWN,), (UNKNOWN,)
    return (
        (times("capacity.concurrency.engine_log", capacity.concurrency.engine_log),),
        (times_at_most("capacity.concurrency.held", capacity.concurrency.held),),
        (count("capacity.tokens.engine_log", capacity.tokens.engine_log),),
    )


def _sglang(request: Mapping[str, object], report: Report, calculator: str) -> tuple[Text, ...]:
    if _reason(report):
        return ("refused" if report.errors else "does not start",), (UNKNOWN,)
    capacity = report.capacity
    if capacity is None:
        return (UNKNOWN,), (UNKNOWN,)
    held = times_at_most("capacity.concurrency.held", capacity.concurrency.held)
    linked = Figure(held.path, held.value, held.text, href=calculator_link(calculator, request))
    return (linked,), (count("capacity.tokens.engine_log", capacity.tokens.engine_log),)


def _remarks(item: Deployment, report: Report) -> tuple[str, ...]:
    """Why SGLang has no figure, and where the engines' defaults store the cache in different formats."""
    if report.errors:
        return (f"SGLang: {_reason(report)}",)
    if _reason(report):
        return (f"SGLang on {item.name}: {_reason(report)}",)
    ours, theirs = _formats(item.report), _formats(report)
    if ours == theirs:
        return ()
    return (f"On {item.name} vLLM stores the cache as {ours} by default, SGLang as {theirs}.",)


def _formats(report: Report) -> str:
    return " + ".join(dict.fromkeys(part.dtype for part in report.layout.parts)) if report.layout else ""


def _reason(report: Report) -> str:
    """Why SGLang has no figure; empty where it has one."""
    if report.errors:
        return report.errors[0].message
    if report.capacity is not None and report.capacity.fits:
        return ""
    return (report.capacity.objection if report.capacity else None) or "one request does not fit."
