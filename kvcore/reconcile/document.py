"""A reconciliation as a document: the verdict, the figures side by side, the cause, then what every line means.

Nothing of the log's own words enters it: only numbers, units, line numbers, and sentences of our own.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import compress
from math import ceil, floor

from kvcore.engines.vllm.profiles import release_notes
from kvcore.errors import InputError
from kvcore.reconcile.asked import implied_fields, open_questions, value_text
from kvcore.reconcile.explain import Shown, explain
from kvcore.reconcile.predict import Row as Compared
from kvcore.reconcile.readings import CHECKLIST, GREP_HINTS
from kvcore.reconcile.reconcile import Reconciliation
from kvcore.report.document import (
    Block,
    Code,
    Column,
    Document,
    Figure,
    Heading,
    Inline,
    Link,
    Note,
    Paragraph,
    Row,
    Strong,
    Table,
    Text,
)
from kvcore.report.figures import UNKNOWN, grouped

_ENGINES = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "llama.cpp": "llama.cpp",
    "tensorrt-llm": "TensorRT-LLM",
    "servingstudio": "A finished simulator run",
}

UNEXPLAINED = (
    "The figures differ, and no single cause closes the gap: the layout kvcore used is wrong for this model, or misses a "
    "part. The computed figures are left as they are."
)

SGLANG_UNEXPLAINED = (
    "The figures differ by more than 1 %, and no single cause closes the gap. SGLang divides what the rank with the least "
    "free memory has left, and may be told a most with --max-total-tokens: either may not be among these lines. Else the "
    "layout kvcore used is wrong for this model, or misses a part."
)

_VERDICTS = {
    "equal": ("info", "Every figure is equal to what kvcore computes."),
    "within_rounding": ("info", "Every figure agrees: a budget that prints as these digits gives exactly these numbers."),
    "explained": ("warning", "The figures differ from what was asked, and one cause closes the gap exactly."),
    "unexplained": ("error", UNEXPLAINED),
    "not_compared": ("info", "Read, but not compared."),
}  # fmt: skip


_SGLANG_VERDICTS = {
    "within_rounding": ("info", "The figures agree within 1 %: SGLang reads free memory again after printing it."),
    "unexplained": ("error", SGLANG_UNEXPLAINED),
}


def document(found: Reconciliation, base: str = "") -> Document:
    """The document of a reconciliation.

    Args:
        found: The reconciliation.
        base: Address of the site's root as seen from the page; empty where links would lead nowhere.
    """
    questions = tuple(open_questions(found))
    blocks = [*_verdict(found)]
    if found.verdict == "not_compared":
        # Nothing is computed yet: what is missing comes first.
        blocks += questions
    blocks += [*_compared(found), *_causes(found)]
    if found.verdict != "not_compared":
        blocks += questions
    blocks += [
        *_next_steps(found),
        *_inversion(found),
        *implied_fields(found),
        *_explained(found, base),
        *_checklist(found),
    ]
    return Document(tuple(blocks))


def _verdict(found: Reconciliation) -> Iterator[Block]:
    record = found.record
    engine = _ENGINES.get(record.engine)
    if engine is None:
        yield Note("warning", ("No line of a known engine was found.",))
    else:
        version = f" {record.engine_version}" if record.engine_version else ""
        yield Paragraph(
            (
                Strong(f"{engine}{version}"),
                f", {grouped(record.lines)} lines read, {len(record.figures)} figures found.",
            )
        )
    kind, words = (_SGLANG_VERDICTS if record.engine == "sglang" else _VERDICTS).get(
        found.verdict, _VERDICTS[found.verdict]
    )
    yield Note(kind, (Strong(words),))  # type: ignore[arg-type]
    for note in _release_notes(found):
        yield Note("warning" if " is newer than " in note else "info", (note,))
    if found.prediction is not None:
        for error in found.prediction.errors:
            yield Note("error", (Strong(error.field), " = ", Code(error.value), f": {error.rule}. {error.remedy}"))


def _release_notes(found: Reconciliation) -> tuple[str, ...]:
    """What to know about the release whose rules were taken; nothing where kvcore has read it."""
    version = found.implied.request.get("engine_version")
    if found.record.engine != "vllm" or not isinstance(version, str):
        return ()
    try:
        return release_notes(version)
    except InputError:
        return ()


def _compared(found: Reconciliation) -> Iterator[Block]:
    rows = list(found.prediction.rows) if found.prediction is not None else []
    rows += [found.budget] if found.budget is not None else []
    if not rows:
        return
    columns = (
        Column("Figure"), Column("Unit"), Column("Logged", "right"), Column("Computed", "right"),
        Column("From", "right"), Column("To", "right"), Column("Gap", "right"), Column("Gap", "right", "%"), Column("Equal"),
    )  # fmt: skip
    yield Heading(2, "Logged and computed", "log-compared")
    yield Table(
        "Logged figures beside computed ones, from and to the ends of the printed budget",
        columns,
        tuple(_row(row) for row in rows),
    )


def _row(row: Compared) -> Row:
    path = f"reconcile.rows.{row.name}"
    equal = {True: "yes", False: "no", None: "estimate" if row.predicted is not None else UNKNOWN}[row.matches]
    percent = UNKNOWN if row.percent is None else _signed(row.percent)
    return Row((
        (row.label,), (row.unit,), (Figure(f"{path}.logged", row.logged, _number(row.logged)),),
        (Figure(f"{path}.predicted", row.predicted, _number(row.predicted)),), (_number(row.low),), (_number(row.high),),
        (_number(row.gap),), (percent,), (equal,),
    ))  # fmt: skip


def _number(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return (
        grouped(value)
        if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 1000)
        else f"{value:,.2f}"
    )


def _causes(found: Reconciliation) -> Iterator[Block]:
    if not found.diagnoses:
        return
    yield Heading(2, "Why", "log-causes")
    if not found.diagnoses[0].closes:
        nearest = found.diagnoses[0]
        left = f"{nearest.distance:.2f} % stay"
        yield Paragraph(("Nearest of all that was tried, and not enough: ", nearest.words, f" ({left})."))
        return
    rows, against = [], False
    for item in found.diagnoses:
        fields = ", ".join(f"{name} = {value_text(value)}" for name, value in item.changes.items())
        doubt = f"the log states {', '.join(item.contradicts)} otherwise" if item.contradicts else ""
        if item.weights_match is False and not doubt:
            doubt = "the logged weights do not fit"
        against = against or bool(doubt)
        rows.append(((item.label,), (item.words,), (Code(fields) if fields else "",), (doubt,)))
    columns = (Column("Cause"), Column("What would be true"), Column("Field"), Column("Against it"))
    kept = [True, True, any(item.changes for item in found.diagnoses), against]
    yield Table(
        "Causes that close the gap exactly, the likeliest first",
        tuple(compress(columns, kept)),
        tuple(Row(tuple(compress(cells, kept))) for cells in rows),
        id="log-causes-table",
    )


def _inversion(found: Reconciliation) -> Iterator[Block]:
    inversion = found.inversion
    if inversion is None:
        return
    rows: list[Row] = []

    def add(label: str, low: Fraction | int, high: Fraction | int, unit: str) -> None:
        rows.append(
            Row(
                (
                    (label,),
                    (grouped(ceil(low)),),
                    (grouped(floor(high)) if high >= ceil(low) else grouped(ceil(low)),),
                    (unit,),
                )
            )
        )

    if inversion.num_gpu_blocks is not None:
        add("Blocks of the pool", *inversion.num_gpu_blocks, "blocks")
    if inversion.request_blocks is not None:
        add("Blocks of one request", inversion.request_blocks, inversion.request_blocks, "blocks")
    for label, pair in (
        ("Bytes per block", inversion.block_bytes),
        ("Bytes per printed token", inversion.bytes_per_token),
        ("Budget", inversion.budget_bytes),
    ):
        if pair is not None:
            add(label, *pair, "bytes")
    if not rows:
        return
    groups = f"{inversion.groups} cache group{'s' if inversion.groups != 1 else ''}"
    basis = f"{groups} of {inversion.block_size} tokens per block"
    caption = f"What the figures imply for {basis}{' (assumed)' if inversion.assumed else ''}"
    yield Heading(2, "Backwards: from the figures to bytes", "log-inversion")
    yield Table(
        caption, (Column("Quantity"), Column("From", "right"), Column("To", "right"), Column("Unit")), tuple(rows)
    )


def _next_steps(found: Reconciliation) -> Iterator[Block]:
    if not found.next_steps or found.verdict == "unexplained":
        # Effects computed from a layout that the log contradicts would mislead.
        return
    steps = found.next_steps
    cells = [
        (
            (Code(step.flag),), (UNKNOWN if step.tokens is None else grouped(step.tokens),),
            (UNKNOWN if step.concurrency is None else f"{step.concurrency:,.2f}",),
            (UNKNOWN if step.max_model_len is None else grouped(step.max_model_len),), (step.why,),
        )
        for step in steps
    ]  # fmt: skip
    columns = (
        Column("Flag"), Column("Cache size", "right", "tokens"), Column("Concurrency", "right"), Column("Length", "right", "tokens"),
        Column("What it does"),
    )  # fmt: skip
    # SGLang's pool has no concurrency, and its size does not depend on the length.
    per_length = any(step.concurrency is not None for step in steps)
    kept = (True, True, per_length, per_length, True)
    rows = tuple(Row(tuple(compress(row, kept))) for row in cells)
    yield Heading(2, "What to try next", "log-next")
    shown = tuple(compress(columns, kept))
    yield Table("Flags by their computed effect under this budget", shown, rows, id="log-next-table")


def _explained(found: Reconciliation, base: str) -> Iterator[Block]:
    items = explain(found.record)
    if not items:
        return
    yield Heading(2, "What the lines mean", "log-lines")
    for item in items:
        where = ", ".join(str(line) for line in item.lines)
        more = f" and {item.count - len(item.lines)} more" if item.count > len(item.lines) else ""
        head: list[Inline] = [Strong(item.reading.title), f" (line {where}{more})"]
        if item.figures:
            head += [": ", ", ".join(map(_printed, item.figures))]
        link: Text = (" ", Link("More", f"{base}{item.reading.page}")) if base else ()
        yield Paragraph((*head, ". ", item.reading.text, *link))


def _printed(shown: Shown) -> str:
    """One figure, or the range of what many workers print."""
    low, high = (f"{int(figure.value):,}" if "." not in figure.printed else figure.printed for figure in shown.ends)
    return f"{low if low == high else f'{low} to {high}'} {shown.ends[0].unit}".rstrip()


def _signed(percent: float) -> str:
    shown = f"{percent:+.1f}"
    return shown if float(shown) else shown[1:]


def _checklist(found: Reconciliation) -> Iterator[Block]:
    if found.verdict in {"equal", "within_rounding"}:
        return
    if not found.record.figures:
        yield Heading(2, "How to find the lines", "log-grep")
        yield Paragraph(_grep())
    yield Heading(2, "Six things to check", "log-checklist")
    rows = tuple(Row(((title,), (text,))) for title, text in CHECKLIST)
    yield Table(
        "Where figures differ, most often one of these is why",
        (Column("Point"), Column("Question")),
        rows,
        id="log-checklist-table",
    )


def _grep() -> Text:
    pieces: list[Inline] = ["Find the lines with "]
    for engine, command in GREP_HINTS:
        pieces += [Code(command), f" for {engine}; "]
    pieces[-1] = f" for {GREP_HINTS[-1][0]}."
    return tuple(pieces)
