"""The page of one model, with its report and layout as data files beside it."""

import json
from html import escape

from kvcore.catalog import ModelEntry
from kvcore.report import to_json
from kvcore.report.document import Block, Document, Paragraph
from kvcore.report.figures import grouped, scaled
from kvcore.report.render import SECTIONS, render, render_section, review
from kvcore.report.report import Report
from kvcore.report.sections import evidence, headline, inputs
from kvcore.report.sections.wording import capitalised, layer_count, value_of
from kvcore.report.writers import csv, html, markdown, text
from site_plugins.accuracy.page import anchor_of
from site_plugins.charts.drawn import draw
from site_plugins.charts.figure import Draw, chart_figure
from site_plugins.pages.answers import Ask
from site_plugins.pages.deployments import deployment_blocks, deployment_words, deployments, headline_deployment
from site_plugins.pages.facts import STATUS_WORDS, context_limit, contexts, headline_request, parameters
from site_plugins.pages.generated import GeneratedFile, Html, as_text, front_matter, page
from site_plugins.pages.matrix import capacity_matrix
from site_plugins.pages.model_charts import concurrency_chart, part_chart
from site_plugins.pages.requests import calculator_link
from site_plugins.published.places import model_data

# From models/<org>/<name>/ to the site's root.
_ROOT = "../../../"
CALCULATOR = f"{_ROOT}calculator/"


def model_files(entry: ModelEntry, ask: Ask, site_url: str, drawing: Draw = draw) -> tuple[GeneratedFile, ...]:
    """Returns a model's page with its tables as CSV and a snippet to paste, and its report and layout as JSON."""
    request = headline_request(entry, ask)
    report = ask(request)
    place = f"models/{entry.id}"
    permalink = calculator_link(f"{site_url.rstrip('/')}/calculator/", request)
    return (
        page(f"{place}.md", model_page(entry, report, ask, drawing)),
        GeneratedFile(f"{model_data(entry.id)}/report.json", _json(to_json(report))),
        GeneratedFile(f"{model_data(entry.id)}/layout.json", _json(to_json(report.layout))),
        GeneratedFile(f"{place}/report.csv", csv.write(render(report))),
        GeneratedFile(f"{place}/review.txt", markdown.write(review(report, permalink))),
    )


def model_page(entry: ModelEntry, report: Report, ask: Ask, drawing: Draw = draw) -> list[str | Html]:
    """Returns the parts of a model's page; all but its headings is HTML of kvcore's own writer."""
    found = deployments(entry, ask)
    summary = description(entry, report, deployment_words(found))
    parts: list[str | Html] = [
        front_matter({"title": escape(entry.title), "description": escape(summary), "hide": ["navigation"]}),
        f'<p class="kv-crumbs"><a href="../../">Models</a> / {escape(entry.organisation)}</p>\n',
        f"# {as_text(entry.title)} {{#model}}\n",
        _facts(entry, report, ask),
        _html(evidence.errors(report) + headline.headline(report)),
        _actions(entry, headline_request(entry, ask)),
        _html(inputs.inputs(report)),
    ]
    if found:
        parts += ["## Common deployments {#deployments}\n", _html(deployment_blocks(found, CALCULATOR))]
    quoted = headline_deployment(found)
    for anchor, (title, _) in SECTIONS.items():
        if anchor == "evidence":
            continue
        blocks = render_section(quoted.report if quoted and anchor == "memory" else report, anchor)
        if quoted and anchor == "memory":
            blocks = (Paragraph((f"{quoted.name}, tensor-parallel over all of them.",)), *blocks)
        if anchor == "capacity" and not report.errors:
            blocks = (*blocks, capacity_matrix(entry.id, contexts(context_limit(entry, ask)), ask, CALCULATOR))
        if blocks:
            parts += [f"## {title} {{#{anchor}}}\n", _html(blocks), *_chart(entry, report, anchor, ask, drawing)]
    proof = (_catalogue_entry(entry), *evidence.sources(report))
    return [*parts, "## Evidence {#evidence}\n", _html(proof)]


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
    limit, params = context_limit(entry, ask), parameters(entry)
    facts += [f"{grouped(limit)} tokens of context"] if limit else []
    facts += [f"{scaled(params, 10**9, 1)} B parameters"] if params else []
    dtype = value_of(report, "dtype")
    if isinstance(dtype, str):
        facts.append(dtype)
    status = STATUS_WORDS.get(entry.status, entry.status)
    proof = "evidence/#status" if entry.status == "derived" else f"accuracy/#{anchor_of(entry.id)}"
    return (
        f'<p class="kv-facts">{escape(" · ".join(facts))} '
        f'<a class="kv-status kv-status--{escape(entry.status)}" href="{_ROOT}{escape(proof)}">{escape(status)}</a></p>\n'
    )


def _actions(entry: ModelEntry, request: dict[str, object]) -> str:
    address = calculator_link(CALCULATOR, request)
    data = escape(f"{_ROOT}{model_data(entry.id)}")
    return (
        f'<p class="kv-actions"><a class="md-button md-button--primary" href="{escape(address)}">Change something</a> '
        '<a class="md-button" href="review.txt" data-kv-copy>Copy for a design review</a> '
        '<a class="md-button" href="report.csv" download>CSV</a> '
        f'<a class="md-button" href="{data}/report.json">JSON</a> '
        f'<a class="md-button" href="{data}/layout.json">Layout alone</a> '
        '<span class="kv-copied" role="status"></span></p>\n'
    )


def _catalogue_entry(entry: ModelEntry) -> Paragraph:
    revision = f" at revision {entry.revision}" if entry.revision else ""
    proofs = f" Compared with: {', '.join(entry.evidence)}." if entry.evidence else ""
    status = STATUS_WORDS.get(entry.status, entry.status)
    return Paragraph((f"Catalogue entry of {entry.id}{revision}. Status: {status}.{proofs}",))


def _chart(entry: ModelEntry, report: Report, anchor: str, ask: Ask, drawing: Draw) -> list[Html]:
    """The chart that ends a section, where it has one."""
    limit = context_limit(entry, ask)
    if report.errors or limit is None:
        return []
    match anchor:
        case "one-request":
            chart = part_chart(headline_request(entry, ask), limit, ask)
        case "capacity":
            chart = concurrency_chart(entry.id, contexts(limit), ask)
        case _:
            chart = None
    return [Html(f'<div class="kv-document">\n{chart_figure(chart, drawing)}\n</div>')] if chart else []


def _html(blocks: tuple[Block, ...]) -> Html:
    return Html(f'<div class="kv-document">\n{html.blocks(blocks)}\n</div>' if blocks else "")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
