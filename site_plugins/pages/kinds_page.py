"""Overview of cache kinds: which models share one, and what a token costs in each."""

from collections import defaultdict

from kvcore.report.document import Column, Figure, Link, Row, Table, Text
from kvcore.report.figures import UNKNOWN, count, kibibytes
from kvcore.report.sections.wording import capitalised
from kvcore.report.writers import html
from site_plugins.pages.generated import GeneratedFile, Html, anchor_of, as_text, boxed, front_matter, page
from site_plugins.pages.index_page import Listed

_INTRODUCTION = (
    "Models by what they keep between decode steps. [How each kind works](../concepts/cache-kinds.md) explains the "
    "rules; the figures below were computed when this page was built.\n"
)


def kinds_files(models: Listed) -> tuple[GeneratedFile, ...]:
    """Returns the overview page."""
    return (page("models/kinds.md", kinds_page(models)),)


def kinds_page(models: Listed) -> list[str | Html]:
    """Returns the parts of the overview: a table of kinds, then one table of models per kind."""
    by_kind: dict[str, Listed] = defaultdict(list)
    for model in models:
        by_kind[model[1].kind] = [*by_kind[model[1].kind], model]
    meta = {
        "title": "Models by cache kind",
        "description": "Models by what they keep between decode steps, and what one token costs in each kind.",
    }
    parts: list[str | Html] = [front_matter(meta), "# Models by cache kind\n", _INTRODUCTION, _html(_overview(by_kind))]
    for kind in sorted(by_kind):
        heading = f"## {as_text(capitalised(kind))} {{#{anchor_of(kind)}}}\n"
        parts += [heading, _html(_models(kind, by_kind[kind]))]
    return parts


def _overview(by_kind: dict[str, Listed]) -> Table:
    rows = []
    for kind in sorted(by_kind):
        costs = [summary.bytes_per_token for _, summary in by_kind[kind] if summary.bytes_per_token is not None]
        low: Text = (kibibytes("layout.bytes_per_token", min(costs)),) if costs else (UNKNOWN,)
        high: Text = (kibibytes("layout.bytes_per_token", max(costs)),) if costs else (UNKNOWN,)
        models = Figure("models", len(by_kind[kind]), str(len(by_kind[kind])))
        rows.append(Row(((Link(capitalised(kind), f"#{anchor_of(kind)}"),), (models,), low, high)))
    columns = (
        Column("Kind"),
        Column("Models", "right"),
        Column("Least", "right", "per token and GPU"),
        Column("Most", "right", "per token and GPU"),
    )
    return Table("Cache kinds in the catalogue, each model at its page's tensor-parallel size", columns, tuple(rows))


def _models(kind: str, members: Listed) -> Table:
    rows = tuple(
        Row(
            (
                (Link(entry.title, f"../{entry.id}/"),),
                (kibibytes("layout.bytes_per_token", summary.bytes_per_token),),
                (count("inputs.tensor_parallel_size.value", summary.tensor_parallel_size),),
            )
        )
        for entry, summary in members
    )
    columns = (Column("Model"), Column("Per token and GPU", "right"), Column("tp", "right"))
    return Table(f"{capitalised(kind)}: cache of one token on one GPU under {members[0][1].engine}", columns, rows)


def _html(table: Table) -> Html:
    return Html(boxed(html.block(table)))
