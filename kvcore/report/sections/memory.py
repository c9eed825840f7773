"""Where the memory goes: the budget of one GPU with its reserves (feature F03), in GiB and in bytes."""

from kvcore.report.document import Block, Code, Column, Figure, Note, Row, Segment, Shares, Table, Text
from kvcore.report.figures import byte_count, count, gibibytes, readable_bytes, sized
from kvcore.report.report import BudgetReport, Report
from kvcore.report.sections.moves import moves
from kvcore.report.sections.wording import engine_name, prose, value_of
from kvcore.report.terms import CACHE, ESTIMATE, ESTIMATED_KINDS, TERM_TONES, term_rank


def memory(report: Report) -> tuple[Block, ...]:
    """Returns the budget of one GPU; nothing when the report has no budget."""
    budget = report.budget
    if budget is None or budget.kv_cache_bytes is None:
        return ()
    blocks = (*_bar(budget, budget.kv_cache_bytes), _table(report, budget, budget.kv_cache_bytes), *_interval(budget))
    return (*blocks, *_interval_tokens(report), *_remedies(budget), *moves(report))


def _interval_tokens(report: Report) -> tuple[Block, ...]:
    """Tokens at both ends of an estimate's interval."""
    interval = report.capacity.interval if report.capacity is not None else None
    if interval is None or report.budget is None or report.budget.kind != "estimated":
        return ()
    low, high = interval.tokens
    ends = [
        count(f"capacity.interval.tokens.{index}", tokens, "tokens") if tokens is not None else "no start"
        for index, tokens in enumerate((low, high))
    ]
    return (Note("info", ("At the ends of this interval the engine logs ", ends[0], " and ", ends[1], ".")),)


def _remedies(budget: BudgetReport) -> tuple[Block, ...]:
    """What would make the engine start, the smallest change first."""
    if not budget.missing_bytes and not budget.remedies:
        return ()
    reason: Text = ("One request does not fit. ",)
    if budget.missing_bytes:
        reason = ("The engine does not start: ", sized("budget.missing_bytes", budget.missing_bytes), " are missing. ")
    changes = "; ".join(budget.remedies) if budget.remedies else "no single change of one field is enough"
    return (Note("warning", (*reason, f"What would make it start: {changes}.")),)


def _bar(budget: BudgetReport, cache: int) -> tuple[Block, ...]:
    if not budget.reserves:
        return ()
    segments = [
        _segment(item.name, item.kind, item.bytes, gibibytes(f"budget.reserves.{index}.bytes", item.bytes))
        for index, item in enumerate(budget.reserves)
    ]
    segments.append(_segment(CACHE, budget.kind, cache, gibibytes("budget.kv_cache_bytes", cache)))
    segments.sort(key=lambda item: term_rank(item.label.removeprefix(ESTIMATE)))
    title = "One GPU's memory"
    if budget.missing_bytes:
        title = f"What one GPU would have to hold, {readable_bytes(budget.missing_bytes)} more than it has"
    return (Shares(f"{title}; what is estimated carries ≈", tuple(segments), chart="memory"),)


def _segment(name: str, kind: str, size: int, figure: Figure) -> Segment:
    is_estimate = kind in ESTIMATED_KINDS
    return Segment(f"{ESTIMATE}{name}" if is_estimate else name, TERM_TONES.get(name, "graphs"), size, figure)


def _table(report: Report, budget: BudgetReport, cache: int) -> Table:
    rows = []
    for name, label in (("gpu_memory_gib", "GPU memory"), ("gpu_memory_utilization", "share the engine may use")):
        value = value_of(report, name)
        if isinstance(value, int | float):
            unit = "GiB" if name.endswith("_gib") else ""
            figure = Figure(f"inputs.{name}.value", value, str(value), unit)
            rows.append(Row(((label,), (figure,), ("",), (report.inputs[name].origin,), (report.inputs[name].note,))))
    rows.extend(_weights(report))
    rows.extend(
        _row(f"− {item.name}", f"budget.reserves.{index}.bytes", item.bytes, item.kind, item.source)
        for index, item in enumerate(budget.reserves)
    )
    kind = budget.kind
    rows.append(_row("left for the cache", "budget.kv_cache_bytes", cache, kind, "", total=True))
    rows.extend(_tokens(report))
    columns = (Column("Term"), Column("Size", "right"), Column("Bytes", "right"), Column("Kind"), Column("Source"))
    caption = f"Memory of one GPU under {engine_name(report)}: {budget.kind}, not measured"
    return Table(caption, columns, tuple(rows), id="budget-table")


def _row(label: str, path: str, size: int, kind: str, source: str, *, total: bool = False) -> Row:
    return Row(((label,), (gibibytes(path, size),), (byte_count(path, size),), (kind,), prose(source)), total=total)


def _weights(report: Report) -> list[Row]:
    weights = report.weights
    taken_off = report.budget is not None and any(item.name == "weights" for item in report.budget.reserves)
    if weights is None or taken_off:
        return []
    if weights.bytes_per_gpu is None:
        return [Row((("weights per GPU",), ("UNKNOWN",), ("",), (weights.kind,), ("not taken off a given budget",)))]
    return [_row("weights per GPU", "weights.bytes_per_gpu", weights.bytes_per_gpu, weights.kind, "")]


def _tokens(report: Report) -> list[Row]:
    if report.capacity is None:
        return []
    rows = []
    for name, label in (("engine_log", "tokens as the engine logs them"), ("per_token_pool", "tokens in a true pool")):
        value = getattr(report.capacity.tokens, name)
        if value is not None:
            figure: Text = (count(f"capacity.tokens.{name}", value, "tokens"),)
            rows.append(Row(((label,), figure, ("",), ("derived",), (engine_name(report),))))
    return rows


def _interval(budget: BudgetReport) -> tuple[Block, ...]:
    if budget.interval_bytes is None:
        return ()
    low, high = budget.interval_bytes
    if budget.kind != "estimated":
        figures = (byte_count("budget.interval_bytes.0", low), " and ", byte_count("budget.interval_bytes.1", high))
        return (Note("info", ("The budget is a printed, rounded figure: it stands for between ", *figures, " bytes.")),)
    figures = (sized("budget.interval_bytes.0", low), " and ", sized("budget.interval_bytes.1", high))
    remedy = (
        ". A startup log's own figure, given as ",
        Code("available_kv_cache_gib"),
        ", makes every other number exact.",
    )
    return (Note("info", ("The budget is an estimate: between ", *figures, *remedy)),)
