"""Words that several sections share: the condition an answer holds under, the tone and the growth of a part."""

import math

from kvcore.report.document import Code, Text, Tone
from kvcore.report.figures import grouped, readable_bytes
from kvcore.report.report import PartReport, Report

ENGINE_NAMES = {"vllm": "vLLM", "sglang": "SGLang", "plain": "plain arithmetic"}

GROWTH_WORDS = {
    "per_token": "per token",
    "sliding_window": "sliding window",
    "chunked": "chunk of tokens",
    "per_request": "per request",
    "per_encoder_token": "per encoder token",
}

SPLIT_WORDS = {
    "heads": "split over heads",
    "replicated_heads": "heads, replicated",
    "whole": "whole on every rank",
}

_GROWTH_TONES: dict[str, Tone] = {"sliding_window": "window", "chunked": "window", "per_request": "state"}

# Request field, words before its value; in the order a reader asks for them.
_PARALLEL_WORDS = (
    ("tensor_parallel_size", "tp"),
    ("pipeline_parallel_size", "pp"),
    ("data_parallel_size", "dp"),
    ("decode_context_parallel_size", "dcp"),
    ("tp_size", "tp"),
    ("pp_size", "pp"),
    ("dp_size", "dp"),
)

_SIZES = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "tp_size", "pp_size", "dp_size")


def engine_name(report: Report) -> str:
    """Returns the engine with its version, as every figure must carry it."""
    if report.engine is None:
        return "no engine"
    return f"{ENGINE_NAMES.get(report.engine.name, report.engine.name)} {report.engine.version}"


def value_of(report: Report, field: str) -> object:
    """Returns a request field's value after defaults, or ``None`` where the report does not list it."""
    item = report.inputs.get(field)
    return None if item is None else item.value


def condition(report: Report) -> str:
    """Returns the condition of every figure in one line: engine, GPU, parallel sizes, cache dtype, context, budget."""
    words = [engine_name(report)]
    gpu = report.inputs.get("gpu")
    if gpu is not None and isinstance(gpu.value, str) and gpu.origin == "given":
        words.append(f"{num_gpus(report)} × {gpu.value}")
    words.extend(_parallel(report))
    if report.layout is not None and report.layout.parts:
        # The stored formats say more than the flag: "auto" is no answer to which dtype is meant.
        words.append(f"{' + '.join(dict.fromkeys(part.dtype for part in report.layout.parts))} cache")
    if report.request is not None:
        words.append(f"{grouped(report.request.max_model_len)} tokens of context")
    words.extend(_budget(report))
    return " · ".join(words)


def num_gpus(report: Report) -> int:
    """GPUs of the deployment; under SGLang's data-parallel attention the groups share those of its tensor-parallel size."""
    sharing = value_of(report, "enable_dp_attention") is True
    sizes = [value_of(report, field) for field in _SIZES if not (sharing and field == "dp_size")]
    return math.prod(size for size in sizes if isinstance(size, int))


def _parallel(report: Report) -> list[str]:
    words = []
    for field, short in _PARALLEL_WORDS:
        size = value_of(report, field)
        if isinstance(size, int) and (size > 1 or field == "tensor_parallel_size"):
            words.append(f"{short} {size}")
    return words


def caches_nothing(report: Report) -> bool:
    """Tells whether the model keeps nothing between steps, as encoders do."""
    return report.layout is not None and not report.layout.parts


def _budget(report: Report) -> list[str]:
    budget = report.budget
    if budget is None or budget.kv_cache_bytes is None or caches_nothing(report):
        return []
    words = f"{readable_bytes(budget.kv_cache_bytes)} of cache per GPU ({budget.kind}"
    if budget.kind == "estimated" and budget.interval_bytes is not None:
        low, high = budget.interval_bytes
        words += f", {readable_bytes(low)} to {readable_bytes(high)}"
    return [f"{words})"]


def prose(text: str) -> Text:
    """Returns a sentence of kvcore as inline content, its `back-ticked` words as code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return (text,)
    return tuple(Code(piece) if index % 2 else piece for index, piece in enumerate(pieces) if piece)


def tone(part: PartReport) -> Tone:
    """Returns the colour kind of a part: by growth, and among growing parts by what they hold."""
    name = part.name.lower()
    if part.growth in _GROWTH_TONES:
        return _GROWTH_TONES[part.growth]
    if "index" in name:
        return "indexer"
    if "latent" in name or "compressed" in name:
        return "latent"
    return "token"


def tones_by_name(report: Report) -> dict[str, Tone]:
    """Returns the colour kind of every part by its name."""
    return {} if report.layout is None else {part.name: tone(part) for part in report.layout.parts}


def capitalised(text: str) -> str:
    """Returns a phrase as the start of a sentence, the rest as it is."""
    return text[:1].upper() + text[1:]


def layer_count(number: int) -> str:
    """Returns a number of layers with the right plural."""
    return f"{grouped(number)} {'layer' if number == 1 else 'layers'}"
