"""What a logged budget holds under: the terms that another context, batch size or release of the engine moves."""

from kvcore.report.document import Block, Code, Column, Details, Figure, Note, Row, Table, Text
from kvcore.report.figures import grouped
from kvcore.report.report import Report
from kvcore.report.sections.wording import prose, value_of

_LATENT_CONTEXT = (
    "activation peak",
    "the workspace for up-projected context, at most 65,536 tokens (`determine_chunked_prefill_workspace_size`)",
)
_CONTEXT = (
    "activation peak, through the two above",
    "vLLM bounds tokens per step by `max_num_seqs` × `max_model_len`, and requests per step by those tokens",
)


def moves(report: Report) -> tuple[Block, ...]:
    """Returns the note and the terms for a budget that was read off a log; nothing for any other."""
    given = report.inputs.get("available_kv_cache_gib")
    if given is None or given.origin != "given" or report.engine is None or report.engine.name != "vllm":
        return ()
    if report.budget is None or report.budget.kind != "given" or value_of(report, "kv_cache_memory_bytes") is not None:
        return ()
    warning = "A budget logged under one context length, batch size or engine version does not hold under another."
    return (Note("info", (warning,)), Details("The terms that move", lambda: (_table(report),), id="budget-moves"))


def _table(report: Report) -> Table:
    rows = (
        _row(report, "max_num_batched_tokens", "activation peak", "one forward pass over so many tokens is profiled"),
        _row(report, "max_num_seqs", "activation peak, CUDA graphs",
             "the logits of so many requests are sampled at once, and graphs are captured for up to twice as many"),
        _row(report, "max_model_len", *(_LATENT_CONTEXT if _is_latent(report) else _CONTEXT)),
        _row(report, "tensor_parallel_size", "weights, outside PyTorch",
             "weights are divided over the GPUs, and communicators come with more than one"),
        _row(report, "gpu_memory_utilization", "left to the system", "the share of the card that is not asked for"),
        Row((("engine version",), (report.engine.version if report.engine else "",), ("all terms",),
             ("0.20 raised the default share from 0.90 to 0.92 and takes the estimate of CUDA graphs off",))),
    )  # fmt: skip
    columns = (Column("Change of"), Column("Here", "right"), Column("Moves"), Column("Because"))
    return Table("What moves the memory left for the cache", columns, rows)


def _row(report: Report, field: str, term: str, why: str) -> Row:
    value = value_of(report, field)
    here: Text = ("as started",)
    if isinstance(value, int | float):
        text = grouped(value) if isinstance(value, int) else str(value)
        here = (Figure(f"inputs.{field}.value", value, text),)
    return Row(((Code(field),), here, (term,), prose(why)))


def _is_latent(report: Report) -> bool:
    return report.layout is not None and any("latent" in part.name for part in report.layout.parts)
