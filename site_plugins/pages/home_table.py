"""The home page's table: a few models that people ask for, on the cards that the models index shows first."""

from collections.abc import Sequence

from kvcore.arithmetic import KIB
from kvcore.catalog import ModelEntry
from kvcore.report.document import Column, Figure, Link, Row, Table, Text
from kvcore.report.figures import UNKNOWN, grouped, scaled
from site_plugins.pages.facts import short_kind
from site_plugins.pages.scenarios import HEADLINE_CONTEXT, INDEX_CONTEXTS, INDEX_GPU, INDEX_SIZE
from site_plugins.pages.summary import SIZES, Summary

ASKED_FOR = (
    "deepseek-ai/DeepSeek-V3.2",
    "moonshotai/Kimi-K2.5",
    "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8",
    "Qwen/Qwen3-Next-80B-A3B-Instruct",
    "openai/gpt-oss-120b",
    "meta-llama/Llama-3.1-70B-Instruct",
)
"""One model of each common mechanism and size; those that are not built are left out."""


def home_table(models: Sequence[tuple[ModelEntry, Summary]]) -> Table:
    """Returns the requests at once of well-known models, each with a link to its page."""
    known = {entry.id: (entry, summary) for entry, summary in models}
    rows = tuple(_row(*known[model]) for model in ASKED_FOR if model in known)
    columns = (
        Column("Model"),
        Column("Requests", "right", "at once"),
        Column("Per token", "right", "KiB per GPU"),
        Column("Mechanism"),
    )
    engine = models[0][1].engine if models else ""
    caption = (
        f"Requests of {grouped(HEADLINE_CONTEXT)} tokens at once on {INDEX_SIZE} × {INDEX_GPU} as {engine} logs them, "
        "memory for the cache estimated"
    )
    return Table(caption, columns, rows, id="asked-for")


def _row(entry: ModelEntry, summary: Summary) -> Row:
    size = summary.per_token[SIZES.index(INDEX_SIZE)]
    per_token: Text = (Figure("layout.bytes_per_token", size, scaled(size, KIB)),) if size else (UNKNOWN,)
    return Row(
        ((Link(entry.title, f"models/{entry.id}/"),), _requests(summary), per_token, (short_kind(summary.kind),))
    )


def _requests(summary: Summary) -> Text:
    found = summary.on(INDEX_GPU, INDEX_SIZE).requests[INDEX_CONTEXTS.index(HEADLINE_CONTEXT)].requests
    return (Figure("capacity.concurrency.engine_log", found, f"{found:,.2f}"),) if found is not None else (UNKNOWN,)
