"""The page of one model, with its report and layout as data files beside it."""

import re
from collections.abc import Mapping
from html import escape

from kvcore.catalog import ModelEntry
from kvcore.report import to_json
from kvcore.report.document import Block, Chart, Document, Link, Paragraph, Shares
from kvcore.report.figures import grouped
from kvcore.report.render import SECTIONS, render, render_section, review
from kvcore.report.report import Report
from kvcore.report.sections import evidence, headline, inputs
from kvcore.report.sections.wording import caches_nothing, capitalised, layer_count, value_of
from kvcore.report.writers import csv, html, markdown, text
from site_plugins.charts.drawn import draw
from site_plugins.charts.figure import SOURCE, Draw, chart_figure, chart_file
from site_plugins.pages.actions import actions, badge_of
from site_plugins.pages.answers import Ask
from site_plugins.pages.badge import Badge, badge_svg
from site_plugins.pages.deployments import (
    Deployment,
    deployment_blocks,
    deployment_words,
    deployments,
    headline_deployment,
    opening_request,
    too_large,
)
from site_plugins.pages.engines_beside import engine_blocks
from site_plugins.pages.facts import STATUS_WORDS, context_limit, contexts, parameter_count, parameters
from site_plugins.pages.generated import GeneratedFile, Html, anchor_of, as_text, boxed, front_matter, json_text, page
from site_plugins.pages.matrix import capacity_blocks
from site_plugins.pages.model_charts import concurrency_chart, drawn_deployments, memory_chart, part_chart
from site_plugins.pages.requests import calculator_link
from site_plugins.pages.scenarios import HEADLINE_CONTEXT
from site_plugins.published.places import model_data

# From models/<org>/<name>/ to the site's root.
_ROOT = "../../../"
CALCULATOR = f"{_ROOT}calculator/"
_NUMBER_AND_NOUN = re.compile(r"(?<=\d) (?=[a-z])")


def model_files(entry: ModelEntry, ask: Ask, site_url: str, drawing: Draw = draw) -> tuple[GeneratedFile, ...]:
    """Returns a model's page with its tables as CSV and a snippet to paste, and its report and layout as JSON."""
    request = opening_request(entry, ask)
    report = ask(request)
    place = f"models/{entry.id}"
    permalink = calculator_link(f"{site_url.rstrip('/')}/calculator/", request)
    charts = _charts(entry, report, ask)
    return (
        page(f"{place}.md", model_page(entry, report, ask, charts, site_url, drawing)),
        GeneratedFile(f"{place}/{SOURCE}", chart_file(charts.values())),
        GeneratedFile(f"{model_data(entry.id)}/report.json", json_text(to_json(report))),
        GeneratedFile(f"{model_data(entry.id)}/layout.json", json_text(to_json(report.layout))),
        GeneratedFile(f"{place}/report.csv", csv.write(render(report))),
        GeneratedFile(f"{place}/review.txt", markdown.write(review(report, permalink))),
        GeneratedFile(f"{place}/badge.svg", badge_svg(_badge(entry, report, ask))),
    )


def model_page(
    entry: ModelEntry, report: Report, ask: Ask, charts: Mapping[str, Chart], site_url: str, drawing: Draw = draw
) -> list[str | Html]:
    """Returns the parts of a model's page; all but its headings is HTML of kvcore's own writer."""
    found = deployments(entry, ask)
    summary = description(entry, report, deployment_words(found))
    parts: list[str | Html] = [
        front_matter({"title": escape(entry.title), "description": escape(summary), "hide": ["navigation"]}),
        f'<p class="kv-crumbs"><a href="../../">Models</a> / {escape(entry.organisation)}</p>\n',
        f"# {as_text(entry.title)} {{#model}}\n",
        _facts(entry, report, ask),
        _html(evidence.errors(report) + headline.headline(report)),
        actions(entry.id, opening_request(entry, ask), _badge(entry, report, ask), site_url, _ROOT),
        _html(inputs.inputs(report)),
    ]
    parts += [_html(too_large(entry, ask))] if not found else []
    if found:
        parts += ["## Common deployments {#deployments}\n", _html(deployment_blocks(found, CALCULATOR))]
    for anchor in SECTIONS:
        if anchor != "evidence":
            drawn = _figure(charts[anchor], drawing) if anchor in charts else None
            parts += _section(anchor, _blocks(anchor, entry, report, found, ask), drawn)
        if anchor == "capacity" and found:
            beside = engine_blocks(entry.id, found, ask, CALCULATOR)
            parts += ["## SGLang beside vLLM {#engines}\n", _html(beside)]
    proof = (_catalogue_entry(entry), *evidence.sources(report))
    return [*parts, "## Evidence {#evidence}\n", _html(proof)]


def _section(anchor: str, blocks: tuple[Block, ...], drawn: Html | None) -> list[str | Html]:
    """A section with its chart: where memory goes is seen first, everything else is read first and then seen."""
    title, _ = SECTIONS[anchor]
    pieces = [_html(blocks)] if blocks else []
    if drawn is not None and anchor == "memory":
        pieces = [drawn, *pieces]
    elif drawn is not None and pieces:
        pieces = [*pieces, drawn]
    return [f"## {title} {{#{anchor}}}\n", *pieces] if pieces else []


def _blocks(
    anchor: str, entry: ModelEntry, report: Report, found: tuple[Deployment, ...], ask: Ask
) -> tuple[Block, ...]:
    """What a section of the report says, and what the page adds to it."""
    blocks = render_section(report, anchor)
    quoted = headline_deployment(found)
    if anchor == "memory" and quoted:
        # The chart above draws the same, of several cards.
        blocks = tuple(block for block in blocks if not isinstance(block, Shares))
        split = ", tensor-parallel over all of them" if quoted.size > 1 else ""
        return (Paragraph((f"{quoted.name} in detail{split}.",)), *blocks)
    if anchor == "capacity" and blocks and not report.errors:
        return (*blocks, *capacity_blocks(entry.id, contexts(context_limit(entry, ask)), ask, CALCULATOR))
    return blocks


def description(entry: ModelEntry, report: Report, deployment: str = "") -> str:
    """Returns the page's description: the headline sentence as text, for search engines and link previews."""
    if deployment:
        return f"KV cache of {entry.id} on {deployment}."
    blocks = headline.headline(report)
    answer = text.write(Document(blocks)).strip().splitlines()[-1] if blocks else "not answered yet"
    return f"KV cache of {entry.id}: {answer.removeprefix(f'{entry.id}: ')}"


def _facts(entry: ModelEntry, report: Report, ask: Ask) -> str:
    facts = [capitalised(report.layout.attention_kind)] if report.layout else []
    if report.plan and report.plan.stage_layers:
        facts.append(layer_count(sum(report.plan.stage_layers)))
    limit, weights = context_limit(entry, ask), report.weights
    params = parameters(entry) or (weights.params if weights else None)
    facts += [f"{grouped(limit)} tokens of context"] if limit else []
    facts += [f"{parameter_count(params)} parameters"] if params else []
    dtype = value_of(report, "dtype")
    if weights and weights.quantization:
        facts.append(f"{weights.quantization} weights")
    elif isinstance(dtype, str):
        facts.append(dtype)
    # A narrow screen breaks between facts: the dot stays with the one before, a number with what it counts.
    line = "\u00a0· ".join(_NUMBER_AND_NOUN.sub("\u00a0", fact) for fact in facts)
    status = STATUS_WORDS.get(entry.status, entry.status)
    proof = "evidence/#status" if entry.status == "derived" else f"accuracy/#{anchor_of(entry.id)}"
    return (
        f'<p class="kv-facts">{escape(line)} '
        f'<a class="kv-status kv-status--{escape(entry.status)}" href="{_ROOT}{escape(proof)}">{escape(status)}</a></p>\n'
    )


def _badge(entry: ModelEntry, report: Report, ask: Ask) -> Badge:
    return badge_of(entry.id, report, headline_deployment(deployments(entry, ask)))


def _catalogue_entry(entry: ModelEntry) -> Paragraph:
    revision = f" at revision {entry.revision}" if entry.revision else ""
    words = f"Catalogue entry of {entry.id}{revision}. Status: {STATUS_WORDS.get(entry.status, entry.status)}."
    if not entry.evidence:
        return Paragraph((words,))
    # Each names the model as its file is called, which the page need not repeat.
    proofs = ", ".join(proof.removesuffix(f" of {entry.id.replace('/', '__')}") for proof in entry.evidence)
    comparison = Link("accuracy page", f"{_ROOT}accuracy/#{anchor_of(entry.id)}")
    return Paragraph((f"{words} Compared with: {proofs}; point by point on the ", comparison, "."))


def _charts(entry: ModelEntry, report: Report, ask: Ask) -> dict[str, Chart]:
    """The charts of a page by the section they belong to."""
    limit = context_limit(entry, ask)
    if report.errors or limit is None or caches_nothing(report):
        return {}
    drawn = drawn_deployments(entry, min(HEADLINE_CONTEXT, limit), ask)
    charts = {
        "one-request": part_chart(opening_request(entry, ask), limit, ask),
        "capacity": concurrency_chart(entry.id, drawn, contexts(limit), ask),
        "memory": memory_chart(drawn),
    }
    return {anchor: chart for anchor, chart in charts.items() if chart is not None}


def _figure(chart: Chart, drawing: Draw) -> Html:
    return Html(boxed(chart_figure(chart, drawing)))


def _html(blocks: tuple[Block, ...]) -> Html:
    return Html(boxed(html.blocks(blocks)))
