"""Facts of a model that pages show beside the answer: published sizes, and the context limit as the engine reads it."""

from kvcore.catalog import ModelEntry
from kvcore.report.figures import grouped, scaled
from kvcore.report.report import Report
from kvcore.report.sections.wording import capitalised
from site_plugins.pages.answers import Ask
from site_plugins.pages.scenarios import CONTEXTS, HEADLINE_BUDGET, HEADLINE_CONTEXT, headline_parallel

STATUS_WORDS = {
    "engine": "equal to the engine's own code",
    "log": "equal to an engine log",
    "derived": "derived from the config",
}

_COUNTS = ((10**12, "T"), (10**9, "B"), (10**6, "M"))

STATUS_SHORT = {"engine": "engine code", "log": "engine log", "derived": "derived"}

TOKENS_PER_K = 1024
"""Tokens of one k of a context: people count them in powers of two, as they do memory."""

# Longer names first: one of them ends in a shorter one.
KIND_SHORT = {
    "multi-head latent attention": "MLA",
    "multi-head attention": "MHA",
    "multi-query attention": "MQA",
    "grouped-query attention": "GQA",
    "compressed latent attention": "compressed latent",
    "sliding windows": "windows",
    "a sparse indexer": "indexer",
    "local chunks": "chunks",
}


def kind_of(report: Report) -> str:
    """Returns a model's attention kind without its head counts; "refused" where kvcore gave no layout."""
    return report.layout.attention_kind.split(" (")[0] if report.layout else "refused"


def short_kind(kind: str) -> str:
    """Returns a kind with the usual abbreviations: "gated delta-net with grouped-query attention" as with GQA."""
    for name, short in KIND_SHORT.items():
        kind = kind.replace(name, short)
    return capitalised(kind.replace(" with ", " + ").replace(" and ", " + "))


def short_length(tokens: int) -> str:
    """Returns a context as people say it: 131,072 tokens are 128k, and what is no whole multiple stays as it is."""
    return f"{tokens // TOKENS_PER_K}k" if tokens % TOKENS_PER_K == 0 else grouped(tokens)


def contexts(limit: int | None) -> tuple[int, ...]:
    """Returns the context lengths a model's page shows: the usual ones up to its limit, and the limit itself."""
    if limit is None:
        return CONTEXTS
    return tuple(sorted({*(length for length in CONTEXTS if length <= limit), limit}))


def context_limit(entry: ModelEntry, ask: Ask) -> int | None:
    """Returns the longest request in tokens that the engine allows by default, or ``None`` when it refuses the model."""
    request = ask({"model": entry.id, "kv_cache_memory_bytes": HEADLINE_BUDGET}, ("request",)).request
    return request.max_model_len if request else None


def weight_bytes(entry: ModelEntry) -> int | None:
    """Returns about how large the weights are: their published size, else the parameters at their usual width.

    Only the choice of a page's tensor-parallel size rests on it; no figure does.
    """
    published, params = _number(entry, "safetensors_bytes"), parameters(entry)
    if published is not None or params is None:
        return published
    return params if "quantization_config" in entry.config else 2 * params


def parameters(entry: ModelEntry) -> int | None:
    """Returns the published number of parameters, where the entry has it."""
    return _number(entry, "params")


def parameter_count(params: int) -> str:
    """Returns a number of parameters as people say it: ``8.0 B``, ``22.7 M`` of a small model, ``1.6 T`` of a large one."""
    unit, name = next((unit, name) for unit, name in _COUNTS if params >= unit or unit == 10**6)
    return f"{scaled(params, unit, 1)}\u00a0{name}"


def headline_request(entry: ModelEntry, ask: Ask, weighed: int | None = None) -> dict[str, object]:
    """Returns the deployment a model's page opens with: stated budget, smallest fitting tp, a common long context.

    Args:
        entry: The model.
        ask: Answers a request.
        weighed: How large kvcore finds the weights, for models whose size is not published.
    """
    limit = context_limit(entry, ask)
    return {
        "model": entry.id,
        "tensor_parallel_size": headline_parallel(weight_bytes(entry) or weighed),
        "max_model_len": min(HEADLINE_CONTEXT, limit) if limit else HEADLINE_CONTEXT,
        "kv_cache_memory_bytes": HEADLINE_BUDGET,
    }


def _number(entry: ModelEntry, key: str) -> int | None:
    value = entry.weights.get(key)
    return value if isinstance(value, int) else None
