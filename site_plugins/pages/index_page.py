"""The models index: one table that works without script, with what the small script needs to sort and filter it."""

from collections.abc import Sequence
from html import escape

from kvcore.arithmetic import KIB, MIB
from kvcore.catalog import ModelEntry
from kvcore.report.figures import UNKNOWN, grouped, readable_bytes, scaled
from kvcore.report.report import Report
from kvcore.report.sections.wording import engine_name
from site_plugins.pages.answers import Ask
from site_plugins.pages.facts import STATUS_SHORT, context_limit, headline_request, kind_of, short_kind
from site_plugins.pages.generated import GeneratedFile, front_matter
from site_plugins.pages.matrix import cell_request, layout_request
from site_plugins.pages.scenarios import HEADLINE_BUDGET, INDEX_CONTEXTS

_SIZES = (1, 8)


def index_files(entries: Sequence[ModelEntry], ask: Ask) -> tuple[GeneratedFile, ...]:
    """Returns the index page."""
    return (GeneratedFile("models/index.md", index_page(entries, ask)),)


def index_page(entries: Sequence[ModelEntry], ask: Ask) -> str:
    """Returns the Markdown of the models index."""
    rows = "\n".join(_row(entry, ask) for entry in entries)
    budget = readable_bytes(HEADLINE_BUDGET)
    engine = _engine(entries, ask)
    head = "".join(
        f'<th scope="col" class="{align}" data-kind="{kind}">{title}</th>' for title, align, kind in _columns(budget)
    )
    meta = {
        "title": "Models",
        "description": f"KV cache size of {len(entries)} models, computed for {engine}.",
        "hide": ["navigation", "toc"],
    }
    return "\n".join(
        [
            front_matter(meta),
            "# Models\n",
            _introduction(len(entries), engine, budget),
            '<div class="kv-index" data-kv-index>',
            '<form class="kv-filter" data-kv-filter hidden>',
            '<label>Find <input type="search" name="q" autocomplete="off" placeholder="name or organisation"></label>',
            _choice("kind", "Kind", [ask(headline_request(entry, ask)) for entry in entries]),
            _organisations(entries),
            '<output class="kv-filter-count" aria-live="polite"></output>',
            "</form>",
            '<div class="kv-scroll" tabindex="0" role="region" aria-label="Models">',
            '<table class="kv-table kv-table--index">',
            f"<caption><span>KV cache per model under {escape(engine)}, {escape(budget)} of cache per GPU</span></caption>",
            f"<thead><tr>{head}</tr></thead>",
            f"<tbody>\n{rows}\n</tbody></table></div></div>\n",
        ]
    )


def _introduction(models: int, engine: str, budget: str) -> str:
    return (
        f"{grouped(models)} models, computed for {engine} when this page was built. "
        f"Requests at once are those {engine} would log with {budget} of cache on each GPU.\n"
    )


def _columns(budget: str) -> tuple[tuple[str, str, str], ...]:
    return (
        ("Model", "", "text"),
        ("Kind", "", "text"),
        *((f'Per token and GPU <span class="kv-unit">KiB, tp {size}</span>', "kv-right", "number") for size in _SIZES),
        ('Per request <span class="kv-unit">MiB of state</span>', "kv-right", "number"),
        *(
            (f'Requests <span class="kv-unit">{length // KIB}k, tp {size}</span>', "kv-right", "number")
            for size in _SIZES
            for length in INDEX_CONTEXTS
        ),
        ('Context <span class="kv-unit">tokens</span>', "kv-right", "number"),
        ("Status", "", "text"),
    )


def _row(entry: ModelEntry, ask: Ask) -> str:
    kind = kind_of(ask(headline_request(entry, ask)))
    limit = context_limit(entry, ask)
    by_size = [ask(layout_request(entry.id, size)) for size in _SIZES]
    cells = [
        _name(entry),
        f'<td title="{escape(kind)}">{escape(short_kind(kind))}</td>',
        *(_per_token(report) for report in by_size),
        _per_request(by_size[0]),
        *(_requests(entry.id, size, length, limit, ask) for size in _SIZES for length in INDEX_CONTEXTS),
        _number(limit, grouped(limit) if limit else UNKNOWN, "request.max_model_len"),
        _status(entry),
    ]
    search = escape(f"{entry.id} {entry.title}".lower())
    return (
        f'<tr data-search="{search}" data-kind="{escape(kind)}" data-org="{escape(entry.organisation)}">'
        f"{''.join(cells)}</tr>"
    )


def _name(entry: ModelEntry) -> str:
    return (
        f'<th scope="row"><a href="{escape(entry.id)}/">{escape(entry.title)}</a>'
        f'<span class="kv-organisation">{escape(entry.organisation)}</span></th>'
    )


def _status(entry: ModelEntry) -> str:
    short = escape(STATUS_SHORT.get(entry.status, entry.status))
    return f'<td><span class="kv-status kv-status--{escape(entry.status)}">{short}</span></td>'


def _per_token(report: Report) -> str:
    if report.layout is None or report.errors:
        return _refused(report)
    size = report.layout.bytes_per_token
    return _number(size, scaled(size, KIB), "layout.bytes_per_token")


def _per_request(report: Report) -> str:
    if report.layout is None:
        return _refused(report)
    size = report.layout.bytes_per_request
    return _number(size, scaled(size, MIB) if size else UNKNOWN, "layout.bytes_per_request")


def _requests(model: str, size: int, length: int, limit: int | None, ask: Ask) -> str:
    if limit is not None and length > limit:
        return f'<td class="kv-right kv-refused" title="longer than the model\'s limit">{UNKNOWN}</td>'
    return _concurrency(ask(cell_request(model, HEADLINE_BUDGET, size, length)))


def _concurrency(report: Report) -> str:
    if report.errors or report.capacity is None:
        return _refused(report)
    value = report.capacity.concurrency.engine_log
    shown = f"{value:,.2f}" if value is not None and report.capacity.fits else "does not fit"
    return _number(value if report.capacity.fits else None, shown, "capacity.concurrency.engine_log")


def _number(value: float | None, shown: str, path: str) -> str:
    exact = "" if value is None else str(value)
    return f'<td class="kv-right"><data class="kv-figure" data-kv="{path}" value="{exact}">{escape(shown)}</data></td>'


def _refused(report: Report) -> str:
    reason = report.errors[0].message if report.errors else "no layout"
    return f'<td class="kv-right kv-refused" title="{escape(reason)}">refused</td>'


def _choice(name: str, label: str, reports: Sequence[Report]) -> str:
    kinds = sorted({kind_of(report) for report in reports})
    return _select(name, label, kinds)


def _organisations(entries: Sequence[ModelEntry]) -> str:
    return _select("org", "Organisation", sorted({entry.organisation for entry in entries}, key=str.lower))


def _select(name: str, label: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
    return f'<label>{label} <select name="{name}"><option value="">all</option>{options}</select></label>'


def _engine(entries: Sequence[ModelEntry], ask: Ask) -> str:
    return engine_name(ask(headline_request(entries[0], ask))) if entries else "no engine"
