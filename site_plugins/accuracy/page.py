"""The accuracy page: counts per release, mechanism and model, and every miss with its reason. Written by no one."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from typing import Any

from kvcore import __version__
from kvcore.report.document import Code, Column, Figure, Link, Row, Table, Text
from kvcore.report.figures import count
from kvcore.report.sections.wording import capitalised
from kvcore.report.writers import html
from site_plugins.accuracy.measure import Outcome, equal_and_all
from site_plugins.accuracy.memory import budget_table, weights_table
from site_plugins.accuracy.memory_page import budget_rows, budget_summary, weights_rows, weights_summary
from site_plugins.pages.generated import GeneratedFile, Html, anchor_of, boxed, front_matter, page

PLACE = "accuracy.md"
_SOURCES = {"code": "planning code", "log": "posted logs", "estimate": "estimated budgets"}
_AGAINST = {"code": "planning code", "log": "log", "estimate": "budget of a log"}
_UNKNOWN_KIND = "no layout (refused)"
_LONGEST_DIFFERENCE = 240

_RULES = """A **point** is a question put to an engine's own planning code: its real model classes, built without weights, and
its real planner, run without a GPU. It counts as equal when every figure does: whether it fits, blocks, tokens,
concurrency, block size, groups and page sizes; for SGLang, tokens, running requests, fraction and pools. No difference is tolerated, and a
question the engine refuses must be refused.

A **log** is a start-up log that somebody posted. It prints its budget with two decimals, so kvcore is asked at both ends
of what that can mean, and the printed figures must lie between the two answers. SGLang takes the least free memory of all
ranks and reads it once more after printing it: its tokens count as reproduced within 3 %.

An **estimated budget** counts as equal when the memory that a posted log printed lies within the interval kvcore gives
for that GPU, model and share of memory. The interval is meant to hold for four logs in five, and its width was fitted on
these same logs. A given budget needs no estimate and is exact.
"""


def accuracy_files(outcomes: Sequence[Outcome], models: Collection[str]) -> tuple[GeneratedFile, ...]:
    """Returns the accuracy page.

    Args:
        outcomes: Every comparison.
        models: Catalogue ids that have a page.
    """
    return (page(PLACE, accuracy_page(outcomes, models)),)


def accuracy_page(outcomes: Sequence[Outcome], models: Collection[str]) -> list[str | Html]:
    """Returns the parts of the page."""
    code = [outcome for outcome in outcomes if outcome.source == "code"]
    logs = [outcome for outcome in outcomes if outcome.source == "log"]
    estimates = [outcome for outcome in outcomes if outcome.source == "estimate"]
    misses = sorted((outcome for outcome in outcomes if not outcome.equal), key=lambda outcome: outcome.explained)
    explained = sum(outcome.explained for outcome in misses)
    (equal, points), (reproduced, posted) = equal_and_all(code), equal_and_all(logs)
    meta = {
        "title": "Accuracy",
        "description": f"kvcore against the engines: {equal:,} of {points:,} points of their own planning code equal, "
        f"{reproduced} of {posted} posted logs reproduced.",
    }
    parts: list[str | Html] = [
        front_matter(meta),
        "# Accuracy\n",
        (
            f"This page was computed when the site was built: kvcore {__version__} answered every question below again. "
            f"**{equal:,} of {points:,} points equal; {reproduced} of {posted} logs reproduced.**\n"
        ),
        _RULES,
        "## By release {#releases}\n",
        _html(_counted("Equal points by engine release", "Release", _grouped(code, lambda item: item.release))),
        "## By mechanism {#mechanisms}\n",
        _html(_counted("Equal points by mechanism", "Mechanism", _grouped(code, _kind, order=str))),
        "## Posted logs {#logs}\n",
        _html(
            _counted("Reproduced logs by release", "Release", _grouped(logs, lambda item: item.release, order=_newest))
        ),
        "## Estimated budgets {#estimates}\n",
        _html(
            _counted(
                "Logged budgets inside the estimated interval",
                "Release",
                _grouped(estimates, lambda item: item.release, order=_newest),
            )
        ),
        "## Weights beside logs {#weights}\n",
        f"{weights_summary(weights_table())}\n",
        _html(weights_rows()),
        "## Budgets beside logs {#budgets}\n",
        f"{budget_summary(budget_table())}\n",
        _html(budget_rows()),
        (
            f"## Misses {{#misses}}\n\n{len(misses)} of {len(outcomes):,} comparisons are not equal. For {explained} of them "
            "the reason is known beforehand: the log lacks a fact, or is of a build of its own.\n"
        ),
    ]
    parts += [_html(_misses(misses))] if misses else []
    return [*parts, "## By model {#models}\n", Html(_models(outcomes, models))]


def _kind(outcome: Outcome) -> str:
    return capitalised(outcome.mechanism) or _UNKNOWN_KIND


def _newest(release: str) -> tuple[bool, bool, list[int], str]:
    """Orders releases as logs print them, builds between them included: vLLM's, the newest first, then others."""
    engine, _, version = release.partition(" ")
    numbers = [-int(number) for number in re.findall(r"\d+", version.partition("+")[0])]
    return engine != "vLLM", not numbers, numbers, version


def _grouped(
    outcomes: Sequence[Outcome], key: Callable[[Outcome], str], *, order: Callable[[str], Any] | None = None
) -> Mapping[str, Sequence[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(key(outcome), []).append(outcome)
    return {name: found[name] for name in sorted(found, key=order)} if order else found


def _counted(caption: str, title: str, groups: Mapping[str, Sequence[Outcome]]) -> Table:
    rows = [_counts_row((name,), members) for name, members in groups.items()]
    rows.append(_counts_row(("all",), [item for members in groups.values() for item in members], total=True))
    columns = (Column(title), Column("Equal", "right"), Column("All", "right"), Column("Models", "right"))
    return Table(caption, columns, tuple(rows))


def _counts_row(name: Text, members: Sequence[Outcome], *, total: bool = False) -> Row:
    equal, every = equal_and_all(members)
    models = len({item.model for item in members})
    cells = (name, _count("equal", equal), _count("all", every), _count("models", models))
    return Row(cells, total=total)


def _count(path: str, value: int) -> Text:
    return (count(f"accuracy.{path}", value),)


def _misses(misses: Sequence[Outcome]) -> Table:
    rows = tuple(
        Row(((item.model,), _origin(item), (Code(item.asked),), (_shortened(item.difference),))) for item in misses
    )
    columns = (Column("Model"), Column("Against"), Column("Asked"), Column("Difference or reason"))
    return Table("Every comparison that is not equal", columns, rows)


def _origin(item: Outcome) -> Text:
    words = f"{item.release}, {_AGAINST[item.source]}"
    return (Link(words, item.address),) if item.address.startswith("https://") else (words,)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_DIFFERENCE else f"{text[:_LONGEST_DIFFERENCE]}…"


def _models(outcomes: Sequence[Outcome], models: Collection[str]) -> str:
    rows = []
    for model, members in _grouped(outcomes, lambda item: item.model, order=str).items():
        name = f'<a href="../models/{escape(model)}/">{escape(model)}</a>' if model in models else escape(model)
        cells = "".join(
            f'<td class="kv-right">{html.inline(_equal_of([item for item in members if item.source == source]))}</td>'
            for source in _SOURCES
        )
        rows.append(f'<tr id="{escape(anchor_of(model))}"><th scope="row">{name}</th>{cells}</tr>')
    heads = "".join(f'<th scope="col" class="kv-right">Equal, {words}</th>' for words in _SOURCES.values())
    return (
        '<div class="kv-document"><div class="kv-scroll" tabindex="0" role="region" aria-label="Equal by model">'
        '<table class="kv-table"><caption><span>Equal comparisons of each model, all releases together</span></caption>'
        f'<thead><tr><th scope="col">Model</th>{heads}</tr></thead>\n<tbody>\n' + "\n".join(rows) + "\n</tbody></table>"
        "</div></div>"
    )


def _equal_of(members: Sequence[Outcome]) -> Text:
    if not members:
        return ("–",)
    equal, every = equal_and_all(members)
    return (Figure("accuracy.equal", equal, f"{equal:,}"), f" of {every:,}")


def _html(table: Table) -> Html:
    return Html(boxed(html.block(table)))
