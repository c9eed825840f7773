"""A model's layout stated by hand asks the same question, over the catalogue."""

import dataclasses
import json
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.catalog import load_models
from kvcore.errors import InputError
from kvcore.layout.edited import edited, rows_of
from kvcore.questions.layout_by_hand import layout_by_hand
from kvcore.report.sections.wording import caches_nothing

EVERY = 6
MODELS = [entry.id for entry in load_models()][::EVERY]
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"max_model_len": 2048, "kv_cache_memory_bytes": 32 << 30},
    {"max_model_len": 2048, "gpu": "B200", "tensor_parallel_size": 8, "kv_cache_dtype": "fp8"},
)


@pytest.mark.parametrize("model", MODELS)
def test_a_layout_by_hand_has_the_capacity_of_its_model_and_fits_an_address(model: str) -> None:
    for question in QUESTIONS:
        fields = {"model": model, **question}
        report = answer(fields)
        if report.errors or report.layout is None or not report.layout.parts:
            assert report.errors or caches_nothing(report)
            continue
        by_hand = layout_by_hand(fields)
        assert edited(by_hand["layout"], rows_of(by_hand["layout"])) == by_hand["layout"]
        assert len(json.dumps(by_hand["layout"])) < 8000
        if report.budget is not None and report.budget.kv_cache_bytes:
            assert report.capacity is not None
            # The budget is stated now, so nothing of an estimate's interval is left.
            assert answer(by_hand).capacity == dataclasses.replace(report.capacity, interval=None)


def test_what_the_bytes_already_hold_is_not_asked_again() -> None:
    by_hand = layout_by_hand(
        {"model": "meta-llama/Llama-3.1-8B-Instruct", "kv_cache_dtype": "fp8", "gpu": "H100", "tensor_parallel_size": 2}
    )
    assert {"model", "kv_cache_dtype"}.isdisjoint(by_hand)
    assert by_hand["max_model_len"] == 131_072
    assert by_hand["kv_cache_memory_bytes"] > 0


def test_sglang_has_no_layout_by_hand() -> None:
    with pytest.raises(InputError, match="vLLM's rules only"):
        layout_by_hand({"model": "meta-llama/Llama-3.1-8B-Instruct", "engine": "sglang"})


def test_a_model_that_caches_nothing_has_no_parts_to_edit() -> None:
    with pytest.raises(InputError, match="caches nothing"):
        layout_by_hand({"model": "Alibaba-NLP/gte-Qwen2-7B-instruct"})
