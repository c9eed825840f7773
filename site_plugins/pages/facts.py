"""Facts of a model that pages show beside the answer: published sizes, and the context limit as the engine reads it."""

from kvcore.catalog import ModelEntry
from site_plugins.pages.answers import Ask
from site_plugins.pages.scenarios import HEADLINE_BUDGET, HEADLINE_CONTEXT, headline_parallel

STATUS_WORDS = {
    "engine": "equal to the engine's own code",
    "log": "equal to an engine log",
    "derived": "derived from the config",
}

STATUS_SHORT = {"engine": "engine code", "log": "engine log", "derived": "derived"}


def context_limit(entry: ModelEntry, ask: Ask) -> int | None:
    """Returns the longest request in tokens that the engine allows by default, or ``None`` when it refuses the model."""
    request = ask({"model": entry.id, "kv_cache_memory_bytes": HEADLINE_BUDGET}).request
    return request.max_model_len if request else None


def weight_bytes(entry: ModelEntry) -> int | None:
    """Returns the published size of the weights in bytes, where the entry has it."""
    return _number(entry, "safetensors_bytes")


def parameters(entry: ModelEntry) -> int | None:
    """Returns the published number of parameters, where the entry has it."""
    return _number(entry, "params")


def headline_request(entry: ModelEntry, ask: Ask) -> dict[str, object]:
    """Returns the deployment a model's page opens with: stated budget, smallest fitting tp, a common long context."""
    limit = context_limit(entry, ask)
    return {
        "model": entry.id,
        "tensor_parallel_size": headline_parallel(weight_bytes(entry)),
        "max_model_len": min(HEADLINE_CONTEXT, limit) if limit else HEADLINE_CONTEXT,
        "kv_cache_memory_bytes": HEADLINE_BUDGET,
    }


def _number(entry: ModelEntry, key: str) -> int | None:
    value = entry.weights.get(key)
    return value if isinstance(value, int) else None
