"""What is kept from one question to the next changes no answer, and a part of a report says what the whole one says."""

from dataclasses import replace
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.engines.vllm.answer import SECTIONS
from kvcore.permalink.link import figure_at
from kvcore.questions.sweep import DEFAULT_FIGURES, sweep
from kvcore.report.json import to_json
from kvcore.subject import forget

LLAMA: dict[str, Any] = {"model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "H100"}
WINDOWS: dict[str, Any] = {"model": "google/gemma-3-27b-it", "available_kv_cache_gib": 20}
STATES: dict[str, Any] = {"model": "Qwen/Qwen3-Next-80B-A3B-Instruct", "gpu": "H200", "tensor_parallel_size": 4}
COMPRESSED: dict[str, Any] = {"model": "deepseek-ai/DeepSeek-V4-Pro", "gpu": "B200", "tensor_parallel_size": 8}
SGLANG: dict[str, Any] = {**LLAMA, "engine": "sglang"}
DEPLOYMENTS = {"llama": LLAMA, "windows": WINDOWS, "states": STATES, "compressed": COMPRESSED, "sglang": SGLANG}
CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "vocab_size": 32_000,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}
AXES: dict[str, list[Any]] = {
    "max_model_len": [1, 1000, 8192, 10**7],
    "available_kv_cache_gib": [0.5, 8, 40],
    "max_num_seqs": [1, 300],
    "tensor_parallel_size": [1, 3, 8],
    "enable_prefix_caching": [True, False],
    "kv_cache_dtype": ["auto", "fp8"],
    "engine_version": ["0.12.0", "0.33.0"],
    "model": [LLAMA["model"], WINDOWS["model"], "no/such-model"],
    "layout": [{"parts": []}],
}


@pytest.mark.parametrize("name", DEPLOYMENTS)
@pytest.mark.parametrize("axis", AXES)
def test_the_points_of_a_sweep_are_what_each_would_answer_alone(name: str, axis: str) -> None:
    figures = (
        *DEFAULT_FIGURES,
        "request.bytes_held",
        "plan.block_size",
        "budget.kv_cache_bytes",
        "weights.params",
        "model",
    )
    for point in sweep(DEPLOYMENTS[name], {axis: AXES[axis]}, figures).points:
        forget()
        report = answer({**DEPLOYMENTS[name], **point.inputs})
        assert point.figures == {path: figure_at(report, path) for path in figures}
        assert point.fits == (report.capacity.fits if report.capacity else None)
        assert point.error == (report.errors[0].message if report.errors else "")


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_section_asked_for_alone_is_the_one_of_the_whole_report(name: str) -> None:
    whole = answer(DEPLOYMENTS[name])
    assert whole.capacity is not None
    # An estimate's interval takes two plans more: it comes with the whole report.
    own = whole.capacity if name == "sglang" else replace(whole.capacity, interval=None)
    for section in SECTIONS:
        alone = answer(DEPLOYMENTS[name], (section,))
        assert getattr(alone, section) == (own if section == "capacity" else getattr(whole, section))


def test_the_interval_of_an_estimate_is_swept_too() -> None:
    path = "capacity.interval.tokens"
    (point,) = sweep(LLAMA, {"max_model_len": [8192]}, (path,)).points
    assert point.figures[path] == figure_at(answer({**LLAMA, "max_model_len": 8192}), path)
    assert point.figures[path] is not None


def test_questions_in_between_do_not_change_an_answer() -> None:
    before = {name: to_json(answer(fields)) for name, fields in DEPLOYMENTS.items()}
    for fields in DEPLOYMENTS.values():
        for changed in ({"max_num_seqs": 3}, {"kv_cache_dtype": "fp8"}, {"pipeline_parallel_size": 2}):
            answer({**fields, **changed})
    assert {name: to_json(answer(fields)) for name, fields in DEPLOYMENTS.items()} == before


def test_a_config_changed_in_place_is_another_config() -> None:
    config = dict(CONFIG)
    fields = {"config": config, "available_kv_cache_gib": 8}
    first = answer(fields).layout
    config["num_hidden_layers"] *= 2
    second = answer(fields).layout
    assert first is not None
    assert second is not None
    assert second.bytes_per_token == 2 * first.bytes_per_token


def test_two_drafters_of_one_method_are_told_apart() -> None:
    # The drafter's heads are all that differs between the two questions.
    def bytes_per_token(heads: int) -> int:
        drafter = {**CONFIG, "num_key_value_heads": heads, "num_hidden_layers": 1}
        speculative = {"method": "draft_model", "num_speculative_tokens": 2, "config": drafter}
        report = answer({"config": CONFIG, "available_kv_cache_gib": 8, "speculative_config": speculative})
        assert report.layout is not None
        return report.layout.bytes_per_token

    head_size, bf16, keys_and_values = 1024 // 8, 2, 2
    assert bytes_per_token(4) - bytes_per_token(2) == 2 * head_size * bf16 * keys_and_values
