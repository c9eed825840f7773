"""Answers to the further questions as documents, for the one HTML writer."""

from collections.abc import Mapping, Sequence
from typing import Any

from kvcore.permalink.then_and_now import ThenAndNow
from kvcore.questions.charts import Curve, comparison_chart, comparison_memory, iso_chart, sweep_chart
from kvcore.questions.compare import Comparison
from kvcore.questions.compare import Row as CompareRow
from kvcore.questions.forward import Check
from kvcore.questions.labels import FIGURE_LABELS, shown
from kvcore.questions.mix import MixAnswer
from kvcore.questions.parallelism import Split
from kvcore.questions.solution import Solution
from kvcore.questions.sweep import Sweep
from kvcore.report.document import Block, Code, Column, Document, Note, Paragraph, Row, Strong, Table, Text
from kvcore.report.figures import UNKNOWN, count, grouped, times, times_at_most

MOST_SPLITS_SHOWN = 24


def solution_page(solution: Solution, splits: Sequence[Split] = ()) -> Document:
    """The value first, then the forward questions that prove it, then the ranking of splits where there is one."""
    value: Text = (solution.words,) if solution.value is None else (Strong(solution.words),)
    blocks: list[Block] = [Paragraph((f"{solution.wish[:1].upper()}{solution.wish[1:]}: ", *value))]
    if solution.note:
        blocks.append(Note("info", (solution.note,)))
    if solution.checks:
        columns = (Column("Asked forward"), Column("Requests at once", "right"), Column("Serves the wish"))
        rows = tuple(_check_row(index, item) for index, item in enumerate(solution.checks))
        blocks.append(Table("The same question asked forward, at the answer and one step beyond", columns, rows))
    if splits:
        blocks.append(_splits_table(splits))
    return Document(tuple(blocks))


def _check_row(index: int, item: Check) -> Row:
    found: Text = (times_at_most(f"checks.{index}.concurrency", item.concurrency),)
    return Row(((item.what,), found if item.concurrency is not None else ("does not start",), (_yes(item.enough),)))


def _splits_table(splits: Sequence[Split]) -> Table:
    columns = (
        Column("tensor × pipeline × data"),
        Column("Requests at once, all replicas", "right"),
        Column("Per replica", "right"),
        Column("Refused because"),
    )
    rows = tuple(
        Row(
            (
                (f"{item.tensor_parallel_size} × {item.pipeline_parallel_size} × {item.data_parallel_size}",),
                (times_at_most(f"splits.{index}.concurrency", item.concurrency),),
                (times_at_most(f"splits.{index}.per_replica", item.per_replica),),
                (item.refused,),
            )
        )
        for index, item in enumerate(splits[:MOST_SPLITS_SHOWN])
    )
    return Table(f"Splits of {splits[0].num_gpus} GPUs, most requests first", columns, rows)


def mix_page(mix: MixAnswer, command: str) -> Document:
    """Requests at once under a mix, on average, at the 95th percentile and at the longest, and the engine's command."""
    columns = (Column("If every request"), Column("Requests at once", "right"))
    rows = (
        Row((("is drawn from the mix (average)",), (times_at_most("mix.average", float(mix.average)),))),
        Row(
            (
                (
                    "is as long as the 95th percentile, ",
                    count("mix.percentile_tokens", mix.percentile_tokens, "tokens"),
                ),
                (times_at_most("mix.percentile", float(mix.percentile)),),
            )
        ),
        Row((("is as long as the longest",), (times_at_most("mix.longest", float(mix.longest)),))),
    )
    caption = f"Requests at once under the mix, from {grouped(mix.usable_blocks)} usable {mix.unit}"
    return Document((Table(caption, columns, rows), Paragraph(("By ", Code(command)))))


def comparison_page(comparison: Comparison) -> Document:
    """Inputs that differ, then the figures; a difference is said in words beside being strong."""
    numbers = tuple(f"({index})" for index in range(1, len(comparison.reports) + 1))
    errors = tuple(
        Note("error", (f"{number} ", *(f"{error.field}: {error.message} " for error in report.errors)))
        for number, report in zip(numbers, comparison.reports, strict=True)
        if report.errors
    )
    columns = (Column("What"), *(Column(number, "right") for number in numbers), Column("Difference"))
    rows = tuple(_compare_row(row, "inputs") for row in comparison.inputs)
    rows += tuple(_compare_row(row, "figures") for row in comparison.figures)
    table = Table("Deployments side by side; inputs that agree are left out", columns, rows)
    memory = comparison_memory(comparison)
    return Document((*errors, comparison_chart(comparison, table) or table, *((memory,) if memory else ())))


def _compare_row(row: CompareRow, kind: str) -> Row:
    cells = tuple(_cell(f"compare.{index}.{row.path}", row, value) for index, value in enumerate(row.values))
    needs_unit = kind == "figures" and row.unit not in row.label
    label = f"{row.label}, {row.unit}" if needs_unit else row.label
    return Row(((label,), *cells, (Strong("differs"),) if row.differs else ("",)))


def _cell(path: str, row: CompareRow, value: Any) -> Text:
    if isinstance(value, bool) or value is None or not isinstance(value, int | float):
        return (UNKNOWN if value is None else str(value),)
    return (times(path, value) if row.unit == "requests" or isinstance(value, float) else count(path, value),)


def sweep_page(result: Sweep) -> Document:
    """Every point of a sweep, the last input varying fastest."""
    labels = [FIGURE_LABELS.get(path, (path, "")) for path in result.figures]
    columns = (
        *(Column(name) for name in result.axes),
        *(Column(label, "right", unit) for label, unit in labels),
        Column("Problem"),
    )
    rows = tuple(
        Row(
            (
                *((shown(value),) for value in point.inputs.values()),
                *(
                    (times(path, value) if isinstance(value, float) else count(path, value),)
                    for path, value in point.figures.items()
                ),
                (point.error or ("does not fit" if point.fits is False else ""),),
            )
        )
        for point in result.points
    )
    table = Table("The answer at every value", columns, rows)
    return Document((sweep_chart(result, table) or table,))


def iso_page(curves: Mapping[str, Curve]) -> Document:
    """The longest context for each number of requests at once, one column per deployment."""
    titles = [name or "Longest context" for name in curves]
    columns = (Column("Requests at once", "right"), *(Column(title, "right", "tokens") for title in titles))
    numbers = [number for number, _ in next(iter(curves.values()), ())]
    rows = tuple(
        Row(
            (
                (grouped(number),),
                *(_context(curve[index][1], place, index) for place, curve in enumerate(curves.values())),
            )
        )
        for index, number in enumerate(numbers)
    )
    table = Table("Which context as many requests can have", columns, rows)
    return Document((iso_chart(curves, table) or table,))


def _context(length: int | None, place: int, index: int) -> Text:
    return ("none",) if length is None else (count(f"curves.{place}.{index}.1", length),)


def then_and_now_page(result: ThenAndNow) -> Document:
    """What a link said, what is true now and why; empty where nothing differs."""
    if result.unchanged:
        return Document(())
    columns = (Column("Figure"), Column("The link said", "right"), Column("Now", "right"))
    rows = tuple(
        Row(
            (
                (FIGURE_LABELS.get(item.path, (item.path, ""))[0],),
                (shown(item.then),),
                ("no answer" if item.now is None else shown(item.now),),
            )
        )
        for item in result.differences
    )
    why: Text = ("This link said something else. ", *(f"{reason} " for reason in result.reasons))
    return Document((Note("warning", why), Table("Then and now", columns, rows)))


def command_page(ignored: Sequence[str], unmodelled: Sequence[str], unknown: Sequence[str]) -> Document:
    """What a pasted command holds beside the fields that were filled in."""
    kinds = (
        ("info", "Does not change the cache, ignored: ", ignored),
        ("warning", "Changes memory in ways that are not computed here: ", unmodelled),
        ("warning", "Not known: ", unknown),
    )
    notes = (Note(kind, (words, *_listed(flags))) for kind, words, flags in kinds if flags)  # type: ignore[arg-type]
    return Document(tuple(notes))


def _listed(flags: Sequence[str]) -> Text:
    return tuple(item for flag in flags for item in (Code(flag), " "))


def _yes(value: bool) -> str:  # noqa: FBT001 - the one thing it turns into a word
    return "yes" if value else "no"
