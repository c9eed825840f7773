"""One request at ``max_model_len``: what each part costs in the engine's estimate, while running, and plain."""

from kvcore.report.document import Block, Column, Figure, Paragraph, Row, Segment, Shares, Table
from kvcore.report.figures import byte_count, count, share, sized
from kvcore.report.report import Report, RequestReport
from kvcore.report.sections.wording import engine_name, tones_by_name


def one_request(report: Report) -> tuple[Block, ...]:
    """Returns the split of one request and the engine's tax on it; nothing when no request was charged."""
    if report.request is None:
        return ()
    return (
        *_intro(report, report.request),
        *_bar(report, report.request),
        *split(report),
        *_tax(report),
    )


def split(report: Report) -> tuple[Block, ...]:
    """Returns the split of one request over its parts; nothing when no request was charged."""
    return (_split(report, report.request),) if report.request else ()


def _intro(report: Report, request: RequestReport) -> tuple[Block, ...]:
    length = count("request.max_model_len", request.max_model_len, "tokens")
    engine = engine_name(report)
    return (
        Paragraph(
            (
                "One request of ",
                length,
                f" per GPU: {engine} estimates ",
                sized("request.bytes_estimate", request.bytes_estimate),
                ", a running request holds ",
                sized("request.bytes_held", request.bytes_held),
                ", its tensors alone take ",
                sized("request.bytes_plain", request.bytes_plain),
                ".",
            )
        ),
    )


def _bar(report: Report, request: RequestReport) -> tuple[Block, ...]:
    tones = tones_by_name(report)
    segments = tuple(
        Segment(
            part.name,
            tones.get(part.name, "neutral"),
            part.bytes_estimate,
            sized(f"request.parts.{index}.bytes_estimate", part.bytes_estimate),
        )
        for index, part in enumerate(request.parts)
        if part.bytes_estimate
    )
    return (Shares("Share of each part in the estimate", segments),) if segments else ()


def _split(report: Report, request: RequestReport) -> Table:
    tones = tones_by_name(report)
    rows = []
    for index, part in enumerate(request.parts):
        path = f"request.parts.{index}"
        cells = (
            (part.name,),
            (count(f"{path}.blocks", part.blocks),),
            (count(f"{path}.copies", part.copies),),
            (byte_count(f"{path}.bytes_estimate", part.bytes_estimate),),
            (
                Figure(
                    f"{path}.bytes_estimate", part.bytes_estimate, share(part.bytes_estimate, request.bytes_estimate)
                ),
            ),
            (byte_count(f"{path}.bytes_held", part.bytes_held),),
            (byte_count(f"{path}.bytes_plain", part.bytes_plain),),
        )
        rows.append(Row(cells, tones.get(part.name)))
    total = (
        ("all parts",),
        ("",),
        ("",),
        (byte_count("request.bytes_estimate", request.bytes_estimate),),
        ("100 %",) if request.bytes_estimate else ("",),
        (byte_count("request.bytes_held", request.bytes_held),),
        (byte_count("request.bytes_plain", request.bytes_plain),),
    )
    columns = (
        Column("Part"),
        Column("Blocks", "right"),
        Column("Copies", "right"),
        Column("Estimate", "right", "bytes"),
        Column("Share", "right"),
        Column("Held", "right", "bytes"),
        Column("Plain", "right", "bytes"),
    )
    caption = f"One request at max_model_len {request.max_model_len:,} in {engine_name(report)}'s estimate, per GPU"
    return Table(caption, columns, (*rows, Row(total, total=True)), id="request-split")


def _tax(report: Report) -> tuple[Block, ...]:
    if report.tax is None or report.request is None:
        return ()
    if not any(cause.bytes for cause in report.tax.causes) and not report.tax.bytes:
        return (Paragraph(("The engine's paging adds nothing to this request: its length fills whole blocks.",)),)
    rows = [
        Row(((cause.name,), (byte_count(f"tax.causes.{index}.bytes", cause.bytes),)))
        for index, cause in enumerate(report.tax.causes)
        if cause.bytes
    ]
    rows.append(Row((("all causes",), (byte_count("tax.bytes", report.tax.bytes),)), total=True))
    caption = "The engine's tax on one request, by cause, per GPU"
    return (Table(caption, (Column("Cause"), Column("Bytes", "right")), tuple(rows), id="tax"),)
