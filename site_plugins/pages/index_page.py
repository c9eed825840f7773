"""The models index: one table that works without script, with what the small script needs to sort and filter it."""

from collections.abc import Sequence
from html import escape

from kvcore.arithmetic import KIB, MIB
from kvcore.catalog import ModelEntry
from kvcore.report.figures import UNKNOWN, grouped, readable_bytes, scaled
from site_plugins.pages.facts import STATUS_SHORT, short_kind
from site_plugins.pages.generated import GeneratedFile, Html, front_matter, page
from site_plugins.pages.scenarios import HEADLINE_BUDGET, INDEX_CONTEXTS
from site_plugins.pages.summary import SIZES, Requests, Summary

Listed = Sequence[tuple[ModelEntry, Summary]]


def index_files(models: Listed) -> tuple[GeneratedFile, ...]:
    """Returns the index page."""
    return (page("models/index.md", index_page(models)),)


def index_page(models: Listed) -> list[str | Html]:
    """Returns the parts of the models index."""
    rows = "\n".join(_row(entry, summary) for entry, summary in models)
    budget = readable_bytes(HEADLINE_BUDGET)
    engine = models[0][1].engine if models else "no engine"
    head = "".join(
        f'<th scope="col" class="{align}" data-kind="{kind}">{title}</th>' for title, align, kind in _columns()
    )
    meta = {
        "title": "Models",
        "description": f"KV cache size of {len(models)} models, computed for {engine}.",
        "hide": ["navigation", "toc"],
    }
    kinds = sorted({summary.kind for _, summary in models})
    organisations = sorted({entry.organisation for entry, _ in models}, key=str.lower)
    table = "\n".join(
        [
            '<div class="kv-index" data-kv-index>',
            '<form class="kv-filter" data-kv-filter hidden>',
            '<label>Find <input type="search" name="q" autocomplete="off" placeholder="name or organisation"></label>',
            _select("kind", "Kind", kinds),
            _select("org", "Organisation", organisations),
            '<output class="kv-filter-count" aria-live="polite"></output>',
            "</form>",
            '<div class="kv-scroll" tabindex="0" role="region" aria-label="Models">',
            '<table class="kv-table kv-table--index">',
            f"<caption><span>KV cache per model under {escape(engine)}, {budget} of cache per GPU</span></caption>",
            f"<thead><tr>{head}</tr></thead>",
            f"<tbody>\n{rows}\n</tbody></table></div></div>",
        ]
    )
    return [front_matter(meta), "# Models\n", _introduction(len(models), engine, budget), Html(table)]


def _introduction(models: int, engine: str, budget: str) -> str:
    return (
        f"{grouped(models)} models, computed for {engine} when this page was built. "
        f"Requests at once are those {engine} would log with {budget} of cache on each GPU.\n"
    )


def _columns() -> tuple[tuple[str, str, str], ...]:
    return (
        ("Model", "", "text"),
        ("Kind", "", "text"),
        *((f'Per token and GPU <span class="kv-unit">KiB, tp {size}</span>', "kv-right", "number") for size in SIZES),
        ('Per request <span class="kv-unit">MiB of state</span>', "kv-right", "number"),
        *(
            (f'Requests <span class="kv-unit">{length // KIB}k, tp {size}</span>', "kv-right", "number")
            for size in SIZES
            for length in INDEX_CONTEXTS
        ),
        ('Context <span class="kv-unit">tokens</span>', "kv-right", "number"),
        ("Status", "", "text"),
    )


def _row(entry: ModelEntry, summary: Summary) -> str:
    limit, state = summary.limit, summary.per_request
    cells = [
        _name(entry),
        f'<td title="{escape(summary.kind)}">{escape(short_kind(summary.kind))}</td>',
        *(_bytes(size, KIB, "layout.bytes_per_token", summary.refusal) for size in summary.per_token),
        _bytes(state, MIB, "layout.bytes_per_request", summary.refusal),
        *(_requests(cell) for cell in summary.requests),
        _number(limit, grouped(limit), "request.max_model_len") if limit else _none(summary.refusal),
        _status(entry),
    ]
    search = escape(f"{entry.id} {entry.title}".lower())
    return (
        f'<tr data-search="{search}" data-kind="{escape(summary.kind)}" data-org="{escape(entry.organisation)}">'
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


def _bytes(size: int | None, unit: int, path: str, refusal: str) -> str:
    if size is None:
        return _none(refusal or "refused at this size")
    return _number(size, scaled(size, unit), path) if size else _none("nothing of this kind is kept")


def _requests(cell: Requests) -> str:
    if cell.value is None:
        return _none(cell.reason)
    return _number(cell.value, f"{cell.value:,.2f}", "capacity.concurrency.engine_log")


def _number(value: float, shown: str, path: str) -> str:
    return f'<td class="kv-right"><data class="kv-figure" data-kv="{path}" value="{value}">{shown}</data></td>'


def _none(reason: str) -> str:
    """An empty cell that says why it is empty to those who ask."""
    title = f' title="{escape(reason)}"' if reason else ""
    return f'<td class="kv-right kv-refused"{title}>{UNKNOWN}</td>'


def _select(name: str, label: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
    return f'<label>{label} <select name="{name}"><option value="">all</option>{options}</select></label>'
