import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.report.report import Report
from site_plugins.accuracy.build import measured
from site_plugins.accuracy.measure import Outcome, measure
from site_plugins.accuracy.page import accuracy_page
from site_plugins.pages.generated import Html

# A small grouped-query model: 2 layers x 2 (key, value) x 1 head x 64 wide x 2 bytes = 512 bytes a token.
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 64,
    "intermediate_size": 256,
    "max_position_embeddings": 1024,
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "vocab_size": 1000,
}
BLOCK = 16
BLOCKS = 1000
BUDGET = 2 * 2 * 1 * 64 * 2 * BLOCK * BLOCKS
REQUEST = {"kv_cache_memory_bytes": BUDGET, "max_model_len": 1024}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "example__small.json").write_text(json.dumps(CONFIG))
    return tmp_path


def write(folder: Path, file: str, *lines: Mapping[str, Any]) -> None:
    place = folder / file
    place.parent.mkdir(exist_ok=True)
    place.write_text("\n".join(json.dumps(line) for line in lines))


def point(**expected: Any) -> dict[str, Any]:
    return {"config": "example__small", "request": REQUEST, "expected": expected}


def no_answer(_: Mapping[str, Any]) -> Report:
    message = "a kept outcome needs no answer"
    raise AssertionError(message)


def test_a_second_file_of_a_release_counts_for_that_release(golden: Path) -> None:
    for name in ("sglang-0.5.23", "sglang-0.5.23-further"):
        write(golden, f"{name}.jsonl", {**point(result={}), "request": {"engine": "sglang", **REQUEST}})
    assert [outcome.release for outcome in measure(golden)] == ["SGLang 0.5.23"] * 2


def test_a_point_with_every_figure_right_is_equal(golden: Path) -> None:
    write(golden, "vllm-0.33.0/hopper.jsonl", point(fits=True, num_gpu_blocks=BLOCKS, tokens=BLOCKS * BLOCK))
    (outcome,) = measure(golden)
    assert (outcome.equal, outcome.release, outcome.model) == (True, "vLLM 0.33.0", "example/small")


def test_a_figure_that_is_off_by_one_is_a_miss_that_says_which(golden: Path) -> None:
    write(golden, "vllm-0.33.0/hopper.jsonl", point(fits=True, num_gpu_blocks=BLOCKS + 1))
    (outcome,) = measure(golden)
    assert outcome.difference == f"num_gpu_blocks is {BLOCKS} instead of {BLOCKS + 1}"


def test_an_answer_to_what_the_engine_refuses_is_a_miss(golden: Path) -> None:
    write(golden, "vllm-0.33.0/refused.jsonl", {**point(), "reason": "not supported", "cause": "engine"})
    (outcome,) = measure(golden)
    assert outcome.difference == "answered, where the engine refuses: not supported"


def test_what_only_the_machine_could_not_answer_is_no_comparison(golden: Path) -> None:
    line = {"config": "example__small", "request": REQUEST, "reason": "no GPU", "cause": "machine"}
    write(golden, "vllm-0.33.0/refused.jsonl", line)
    assert measure(golden) == ()


def test_a_log_is_reproduced_when_its_figures_lie_between_the_ends_of_its_budget(golden: Path) -> None:
    model, request = "meta-llama/Llama-3.1-8B-Instruct", {"max_model_len": 8192}
    found = answer({"model": model, **request, "available_kv_cache_gib": 40.0}).capacity
    assert found is not None
    line = {"model": model, "request": request, "available_kv_cache_gib": 40.0, "engine_version": "0.33.0"}
    right = {**line, "logged": {"tokens": found.tokens.engine_log}}
    wrong = {**line, "logged": {"tokens": 1}}
    write(golden, "logs/vllm.jsonl", right, wrong)
    assert [outcome.equal for outcome in measure(golden)] == [True, False]


def test_a_log_that_cannot_be_answered_says_why(golden: Path) -> None:
    line = {"request": {}, "logged": {"tokens": 1}, "reason": "The log names no model."}
    write(golden, "logs/vllm.jsonl", line)
    assert [outcome.difference for outcome in measure(golden)] == ["The log names no model."]


def test_outcomes_are_kept_until_a_golden_file_changes(golden: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    write(golden, "vllm-0.33.0/hopper.jsonl", point(fits=True))
    first = measured(golden, cache)
    assert measured(golden, cache) == first
    write(golden, "vllm-0.33.0/hopper.jsonl", point(fits=True), point(fits=False))
    assert [outcome.equal for outcome in measured(golden, cache)] == [True, False]


def test_the_page_counts_and_lists_every_miss() -> None:
    one = {"source": "code", "release": "vLLM 0.33.0", "mechanism": "multi-query attention", "asked": "x=1"}
    outcomes = (
        Outcome(**one, model="a/right", difference=""),
        Outcome(**one, model="a/wrong", difference="tokens is 1 instead of <2>"),
    )
    parts = accuracy_page(outcomes, {"a/right"})
    text = "".join(part.text if isinstance(part, Html) else part for part in parts)
    assert "**1 of 2 points equal; 0 of 0 logs reproduced.**" in text
    assert "tokens is 1 instead of &lt;2&gt;" in text
    assert '<a href="../models/a/right/">a/right</a>' in text
    assert '<tr id="a-wrong">' in text


def test_logs_are_counted_by_release_the_newest_first() -> None:
    releases = (
        "vLLM 0.9.2",
        "SGLang 0.5",
        "vLLM release not stated",
        "vLLM 0.19.2rc1.dev134+gfe9c",
        "vLLM 0.20.0",
        "vLLM 0.19.0",
    )
    log = {"source": "log", "mechanism": "multi-query attention", "asked": "x=1", "model": "a/b", "difference": ""}
    parts = accuracy_page([Outcome(**log, release=release) for release in releases], set())
    text = "".join(part.text if isinstance(part, Html) else part for part in parts)
    places = [text.index(f">{releases[number]}<") for number in (4, 3, 5, 0, 2, 1)]
    assert places == sorted(places)


def test_a_log_of_sglang_counts_within_three_percent(golden: Path) -> None:
    request = {"tp_size": 1, "gpu": "H100", "available_before_load_gib": 78.6, "available_after_load_gib": 63.0}
    model = "meta-llama/Llama-3.1-8B-Instruct"
    found = answer({"engine": "sglang", "model": model, **request}).capacity
    assert found is not None
    assert found.tokens.engine_log is not None
    near = {"model": model, "request": request, "logged": {"tokens": found.tokens.engine_log * 102 // 100}}
    far = {"model": model, "request": request, "logged": {"tokens": found.tokens.engine_log * 110 // 100}}
    write(golden, "logs/sglang.jsonl", near, far)
    assert [outcome.equal for outcome in measure(golden)] == [True, False]
