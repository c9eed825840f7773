"""The models index: one table that works without script, with what the small script needs to sort and filter it."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from kvcore.arithmetic import KIB, MIB
from kvcore.catalog import ModelEntry
from kvcore.questions.many import Outcome
from kvcore.report.figures import UNKNOWN, grouped, scaled
from site_plugins.pages.facts import STATUS_SHORT, short_kind, short_length
from site_plugins.pages.fleet import fewest
from site_plugins.pages.generated import GeneratedFile, Html, front_matter, page
from site_plugins.pages.scenarios import INDEX_CONTEXTS, INDEX_GPU, INDEX_GPUS, INDEX_SIZE, INDEX_SIZES
from site_plugins.pages.summary import SIZES, Summary
from site_plugins.published.places import fleet_data

Listed = Sequence[tuple[ModelEntry, Summary]]


def index_files(models: Listed) -> tuple[GeneratedFile, ...]:
    """Returns the index page."""
    return (page("models/index.md", index_page(models)),)


def index_page(models: Listed) -> list[str | Html]:
    """Returns the parts of the models index."""
    rows = "\n".join(_row(entry, summary) for entry, summary in newest_first(models))
    engine = models[0][1].engine if models else "no engine"
    meta = {
        "title": "Models",
        "description": f"KV cache of {len(models)} models and how many requests fit, computed for {engine}.",
        "hide": ["navigation", "toc"],
    }
    head = "".join(
        f'<th scope="col" class="{column.align}" data-kind="{column.kind}" data-name="{column.name}">'
        f'{column.title} <span class="kv-unit"{column.mark}>{column.unit}</span></th>'
        for column in _columns()
    )
    caption = (
        f"KV cache of one request and requests at once under {escape(engine)} on "
        f"<span data-kv-deployment>{INDEX_SIZE} × {INDEX_GPU}</span>, memory for the cache estimated"
    )
    table = "\n".join(
        [
            f'<div class="kv-index" data-kv-index data-figures="../{fleet_data("")}">',
            _form(models),
            '<div class="kv-scroll" tabindex="0" role="region" aria-label="Models">',
            '<table class="kv-table kv-table--index">',
            f"<caption><span>{caption}</span></caption>",
            f"<thead><tr>{head}</tr></thead>",
            f"<tbody>\n{rows}\n</tbody></table></div></div>",
        ]
    )
    return [front_matter(meta), "# Models\n", _introduction(len(models), engine), Html(table)]


def newest_first(models: Listed) -> Listed:
    """Returns models by their date, newest first; those without one follow in the order given."""
    return sorted(models, key=lambda model: model[0].released, reverse=True)


def _introduction(models: int, engine: str) -> str:
    return (
        f"{grouped(models)} models, newest first, computed for {engine} when this page was built. Requests at once are "
        f"those {engine} would log on the cards chosen, tensor-parallel over all of them, with the memory for the cache "
        "[estimated](../gpus.md) at the engine's default share. Figures for a given budget are exact and stand on each "
        "model's page.\n"
    )


def _form(models: Listed) -> str:
    """Filters and the choice of cards; hidden until the script that acts on them runs."""
    kinds = sorted({summary.kind for _, summary in models})
    families = sorted({entry.family for entry, _ in models if entry.family}, key=str.lower)
    organisations = sorted({entry.organisation for entry, _ in models}, key=str.lower)
    return "\n".join(
        [
            '<form class="kv-filter" data-kv-filter hidden>',
            '<fieldset class="kv-filter-group"><legend>Which models</legend>',
            '<label>Find <input type="search" name="q" autocomplete="off" placeholder="name"></label>',
            _select("kind", "Mechanism", kinds),
            _select("family", "Family", families),
            _select("org", "Organisation", organisations),
            "</fieldset>",
            '<fieldset class="kv-filter-group"><legend>On which cards</legend>',
            _choice("n", "Number", [str(size) for size in INDEX_SIZES], str(INDEX_SIZE)),
            _choice("gpu", "GPU", INDEX_GPUS, INDEX_GPU),
            '<label class="kv-filter-tick"><input type="checkbox" name="fits" value="1"> Only what fits on them</label>',
            "</fieldset>",
            '<p class="kv-filter-line"><output class="kv-filter-count" aria-live="polite"></output>',
            '<button class="kv-filter-reset" type="reset">Show all</button></p>',
            "</form>",
        ]
    )


STOPS = "stops"
"""Beside a figure that the engine logs before it stops; the script of the page writes the same."""


@dataclass(frozen=True)
class _Column:
    """A column of the index: ``name`` stands in the address of a sorted list."""

    name: str
    title: str
    unit: str = ""
    kind: str = "number"
    mark: str = ""

    @property
    def align(self) -> str:
        return "kv-right" if self.kind == "number" else ""


def _columns() -> tuple[_Column, ...]:
    # The answer first: a narrow screen shows the first columns only.
    return (
        _Column("model", "Model", kind="text"),
        *(
            _Column(f"requests-{short_length(length)}", f"Requests of {short_length(length)}", "at once")
            for length in INDEX_CONTEXTS
        ),
        _Column("fewest", "Starts on", f"{INDEX_GPU}, fewest", mark=" data-kv-fewest"),
        _Column("kind", "Mechanism", kind="text"),
        *(_Column(f"token-tp{size}", "Per token", f"KiB per GPU, tp {size}") for size in SIZES),
        _Column("state", "Per request", "MiB of state"),
        _Column("context", "Context", "tokens"),
        _Column("status", "Status", kind="text"),
    )


def _row(entry: ModelEntry, summary: Summary) -> str:
    limit, state = summary.limit, summary.per_request
    cells = [
        _name(entry),
        *_shown_on(summary),
        f'<td title="{escape(summary.kind)}">{escape(short_kind(summary.kind))}</td>',
        *(_bytes(size, KIB, "layout.bytes_per_token", summary.refusal) for size in summary.per_token),
        _bytes(state, MIB, "layout.bytes_per_request", summary.refusal),
        _number(limit, grouped(limit), "request.max_model_len") if limit else _none(summary.refusal),
        _status(entry),
    ]
    search = escape(f"{entry.id} {entry.title}".lower())
    return (
        f'<tr id="{escape(entry.id)}" data-search="{search}" data-kind="{escape(summary.kind)}" '
        f'data-family="{escape(entry.family)}" data-org="{escape(entry.organisation)}">{"".join(cells)}</tr>'
    )


def _shown_on(summary: Summary) -> list[str]:
    """The cells that follow the choice of cards, for the cards shown first."""
    shown = summary.on(INDEX_GPU, INDEX_SIZE)
    number = fewest(summary.on_gpus, INDEX_GPU)
    start = _none(shown.reason) if number is None else _number(number, grouped(number), "capacity.fits")
    return [*(_requests(outcome) for outcome in shown.requests), start]


def _name(entry: ModelEntry) -> str:
    return (
        f'<th scope="row"><a href="{escape(entry.id)}/">{escape(entry.title)}</a>'
        f'<span class="kv-organisation">{escape(" · ".join(filter(None, (entry.organisation, entry.released[:7]))))}</span></th>'
    )


def _status(entry: ModelEntry) -> str:
    short = escape(STATUS_SHORT.get(entry.status, entry.status))
    return f'<td><span class="kv-status kv-status--{escape(entry.status)}">{short}</span></td>'


def _bytes(size: int | None, unit: int, path: str, refusal: str) -> str:
    if size is None:
        return _none(refusal or "refused at this size")
    return _number(size, scaled(size, unit), path) if size else _none("nothing of this kind is kept")


def _requests(outcome: Outcome) -> str:
    if outcome.requests is None:
        return _none(outcome.reason)
    shown, path = f"{outcome.requests:,.2f}", "capacity.concurrency.engine_log"
    return _number(outcome.requests, shown, path, stops=outcome.reason)


def _number(value: float, shown: str, path: str, stops: str = "") -> str:
    """A figure; with a word to it, and the reason for those who ask, where the engine logs it and then stops."""
    title, word = (f' title="{escape(stops)}"', f" {STOPS}") if stops else ("", "")
    return f'<td class="kv-right"{title}><data class="kv-figure" data-kv="{path}" value="{value}">{shown}</data>{word}</td>'


def _none(reason: str) -> str:
    """An empty cell that says why it is empty to those who ask."""
    title = f' title="{escape(reason)}"' if reason else ""
    return f'<td class="kv-right kv-refused"{title}>{UNKNOWN}</td>'


def _select(name: str, label: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
    return f'<label>{label} <select name="{name}"><option value="">all</option>{options}</select></label>'


def _choice(name: str, label: str, values: Sequence[str], chosen: str) -> str:
    options = "".join(f"<option{' selected' if value == chosen else ''}>{escape(value)}</option>" for value in values)
    return f'<label>{label} <select name="{name}">{options}</select></label>'
