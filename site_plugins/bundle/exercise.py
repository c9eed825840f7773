"""Requests answered while the standard library is traced, and again against the trimmed library in the tests."""

import json
from collections.abc import Sequence

from kvcore.request_fields import REQUEST_FIELDS, RequestField

_SAMPLES = {
    "integer": 2, "number": 0.5, "boolean": True, "string": "x", "object": {"a": 1}, "budget": 8 << 30,
    "integers": [1, 1], "strings": ["0"], "speculative": {"method": "mtp", "num_speculative_tokens": 1},
}  # fmt: skip


_CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16", "vocab_size": 128256, "intermediate_size": 8192,
}  # fmt: skip
"""A small grouped-query model, as a pasted config.json would state it."""


def exercise_requests(models: Sequence[str]) -> tuple[str, ...]:
    """Lists requests, as JSON texts, that walk through every field of the form and through what can go wrong.

    Args:
        models: Catalogue ids; each is asked once.
    """
    budget = {"available_kv_cache_gib": 20.0}
    questions: list[object] = [{"model": model, **budget} for model in models]
    questions += [{"model": model} for model in models[:1]]
    questions += [{"config": _CONFIG, **budget, field.name: _sample(field)} for field in REQUEST_FIELDS]
    questions += [{"config": _CONFIG, **budget, field.name: "\u2014"} for field in REQUEST_FIELDS]
    questions += [{}, {"model": "no/such-model"}, {"tensor_paralel_size": 2}, {"config": {}}, [], None, 1.5]
    return (*(json.dumps(question) for question in questions), "", "{", '{"model": "\\ud83d"}', "NaN", "[" * 5000)


def _sample(field: RequestField) -> object:
    return field.choices[-1] if field.choices else _SAMPLES[field.type]
