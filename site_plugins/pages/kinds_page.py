"""Overview of cache kinds: which models share one, and what a token costs in each."""

from collections import defaultdict
from collections.abc import Sequence

from kvcore.catalog import ModelEntry
from kvcore.report.document import Column, Figure, Link, Row, Table, Text
from kvcore.report.figures import UNKNOWN, count, kibibytes
from kvcore.report.report import Report
from kvcore.report.sections.wording import capitalised, engine_name
from kvcore.report.writers import html
from site_plugins.pages.answers import Ask
from site_plugins.pages.facts import headline_request, kind_of
from site_plugins.pages.generated import GeneratedFile, as_text, front_matter

_INTRODUCTION = (
    "Models by what they keep between decode steps. [How each kind works](../concepts/cache-kinds.md) explains the "
    "rules; the figures below were computed when this page was built.\n"
)


def kinds_files(entries: Sequence[ModelEntry], ask: Ask) -> tuple[GeneratedFile, ...]:
    """Returns the overview page."""
    return (GeneratedFile("models/kinds.md", kinds_page(entries, ask)),)


def kinds_page(entries: Sequence[ModelEntry], ask: Ask) -> str:
    """Returns the Markdown of the overview: a table of kinds, then one table of models per kind."""
    by_kind: dict[str, list[tuple[ModelEntry, Report]]] = defaultdict(list)
    for entry in entries:
        report = ask(headline_request(entry, ask))
        by_kind[kind_of(report)].append((entry, report))
    meta = {
        "title": "Cache kinds",
        "description": "Models by what they keep between decode steps, and what one token costs in each kind.",
    }
    parts = [
        front_matter(meta),
        "# Cache kinds\n",
        _INTRODUCTION,
        _html(_overview(by_kind)),
    ]
    for kind in sorted(by_kind):
        parts += [f"## {as_text(capitalised(kind))} {{#{_anchor(kind)}}}\n", _html(_models(kind, by_kind[kind]))]
    return "\n".join(parts)


def _overview(by_kind: dict[str, list[tuple[ModelEntry, Report]]]) -> Table:
    rows = []
    for kind in sorted(by_kind):
        costs = [report.layout.bytes_per_token for _, report in by_kind[kind] if report.layout]
        low: Text = (kibibytes("layout.bytes_per_token", min(costs)),) if costs else (UNKNOWN,)
        high: Text = (kibibytes("layout.bytes_per_token", max(costs)),) if costs else (UNKNOWN,)
        models = Figure("models", len(by_kind[kind]), str(len(by_kind[kind])))
        rows.append(Row(((Link(capitalised(kind), f"#{_anchor(kind)}"),), (models,), low, high)))
    columns = (
        Column("Kind"),
        Column("Models", "right"),
        Column("Least", "right", "per token and GPU"),
        Column("Most", "right", "per token and GPU"),
    )
    return Table("Cache kinds in the catalogue, each model at its page's tensor-parallel size", columns, tuple(rows))


def _models(kind: str, members: Sequence[tuple[ModelEntry, Report]]) -> Table:
    rows = tuple(
        Row(
            (
                (Link(entry.title, f"../{entry.id}/"),),
                (kibibytes("layout.bytes_per_token", report.layout.bytes_per_token if report.layout else None),),
                (count("inputs.tensor_parallel_size.value", _parallel(report)),),
            )
        )
        for entry, report in members
    )
    columns = (Column("Model"), Column("Per token and GPU", "right"), Column("tp", "right"))
    engine = engine_name(members[0][1])
    return Table(f"{capitalised(kind)}: cache of one token on one GPU under {engine}", columns, rows)


def _parallel(report: Report) -> int | None:
    field = report.inputs.get("tensor_parallel_size")
    return field.value if field is not None and isinstance(field.value, int) else None


def _anchor(kind: str) -> str:
    return "".join(char if char.isalnum() else "-" for char in kind.lower())


def _html(table: Table) -> str:
    return f'<div class="kv-document">\n{html.block(table)}\n</div>\n'
