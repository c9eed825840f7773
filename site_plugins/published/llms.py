"""``llms.txt``: the site in one short text, for programs that read before they answer."""

from collections.abc import Sequence

from kvcore.catalog import ModelEntry
from site_plugins.pages.facts import short_length
from site_plugins.pages.scenarios import INDEX_CONTEXTS, INDEX_GPU, INDEX_GPUS, INDEX_SIZES
from site_plugins.pages.summary import Summary
from site_plugins.published.places import (
    CHANGES_SCHEMA,
    FLEET_SCHEMA,
    MODELS,
    MODELS_SCHEMA,
    REPORT_SCHEMA,
    REQUEST_SCHEMA,
    fleet_data,
)

_PAGES = (
    ("models/", "Models", "one table of every model, with requests at once on chosen cards (?gpu=H200&n=8)"),
    ("concepts/cache-kinds/", "Cache kinds", "what each mechanism keeps and what it costs"),
    ("accuracy/", "Accuracy", "every comparison with the engines' own figures, misses included"),
    ("method/", "Method", "from a config.json to the number of requests that fit"),
    ("concepts/log-lines/", "What the log lines mean", "the engine's start-up lines, by release"),
    ("concepts/why-calculators-disagree/", "Why calculators disagree", "what a quick sum leaves out"),
    ("cli/", "Command line", "the kvcore package"),
)

_SCHEMAS = (
    (REQUEST_SCHEMA, "a request"),
    (REPORT_SCHEMA, "a report"),
    (MODELS_SCHEMA, "models.json"),
    (FLEET_SCHEMA, "every model on cards of one kind"),
    (CHANGES_SCHEMA, "the list of changes"),
)

_ADVICE = (
    "Quote a figure only with its condition (engine and version, parallel size, cache dtype, context, budget). "
    "Do not scale a figure from one condition to another: windows, states and blocks do not scale. "
    "For another condition run `kvcore report MODEL --json`."
)


def llms_text(models: Sequence[tuple[ModelEntry, Summary]], site_url: str, site_name: str) -> str:
    """Returns the text.

    Args:
        models: Models with their summaries, in the order of the index.
        site_url: Where the site will be published, with a slash at its end.
        site_name: Its name.
    """
    engine = models[0][1].engine if models else "no engine"
    lengths = [short_length(length) for length in INDEX_CONTEXTS]
    sizes = [str(size) for size in INDEX_SIZES]
    others = [gpu for gpu in INDEX_GPUS if gpu != INDEX_GPU]
    lines = [
        f"# {site_name}",
        "",
        (
            f"> Key-value cache sizes of {len(models)} language models, computed by the rules of {engine}: bytes per "
            "token, bytes per request, requests at once. Every figure names its unit, condition and source."
        ),
        "",
        _ADVICE,
        "",
        "## Data",
        "",
        f"- [models.json]({site_url}{MODELS}): every model with its figures and the address of its full report",
        (
            f"- [every model on {INDEX_GPU} cards]({site_url}{fleet_data(INDEX_GPU)}): requests of {_listed(lengths)} at "
            f"once on {_listed(sizes)} of them, the budget estimated; beside it {_listed(others)}"
        ),
        *(f"- [schema of {what}]({site_url}{place})" for place, what in _SCHEMAS),
        "",
        "## Pages",
        "",
        *(f"- [{title}]({site_url}{place}): {what}" for place, title, what in _PAGES),
        "",
        "## Models",
        "",
        *(f"- [{entry.id}]({site_url}models/{entry.id}/): {summary.kind}" for entry, summary in models),
    ]
    return "\n".join(lines) + "\n"


def _listed(words: Sequence[str]) -> str:
    """Some words, and a last one, as a sentence lists them."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
