"""The browser's door: texts in, one JSON text out, never an exception."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvcore.answer import answer
from kvcore.browser import FORM_READS, answer_form, answer_json, unfolded_form, whole_form
from kvcore.report.json import to_json
from kvcore.request_fields import REQUEST_FIELDS

GIB = 1 << 30
LAYERS, KV_HEADS, HEAD_DIM, DTYPE_BYTES, BLOCK_SIZE = 16, 8, 64, 2, 16
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 2048,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 32,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}
BLOCK_BYTES = BLOCK_SIZE * LAYERS * 2 * KV_HEADS * HEAD_DIM * DTYPE_BYTES
BUDGET = GIB

NAMES = [field.name for field in REQUEST_FIELDS]
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def reply(text: str) -> dict[str, Any]:
    result = json.loads(text)
    assert isinstance(result, dict)
    return result


def errors(text: str) -> list[tuple[str, str]]:
    return [(error["field"], error["rule"]) for error in reply(text)["report"]["errors"]]


def test_the_report_is_the_one_kvcore_answers() -> None:
    request = {"config": CONFIG, "kv_cache_memory_bytes": BUDGET}
    report = reply(answer_json(json.dumps(request)))["report"]
    assert report == json.loads(json.dumps(to_json(answer(request))))
    assert report["capacity"]["num_gpu_blocks"] == BUDGET // BLOCK_BYTES


def test_html_and_markdown_show_the_report() -> None:
    answered = reply(answer_json(json.dumps({"config": CONFIG, "kv_cache_memory_bytes": BUDGET})))
    assert 'data-kv="capacity.tokens.engine_log"' in answered["html"]
    assert f"{BUDGET // BLOCK_BYTES * BLOCK_SIZE:,}" in answered["markdown"]


def test_the_texts_of_a_form_ask_what_their_values_ask() -> None:
    texts = {"config": json.dumps(CONFIG), "kv_cache_memory_bytes": str(BUDGET), "tensor_parallel_size": "2"}
    values = {"config": CONFIG, "kv_cache_memory_bytes": BUDGET, "tensor_parallel_size": 2}
    assert reply(whole_form(json.dumps(texts))) == reply(answer_json(json.dumps(values)))


def test_the_form_is_told_of_a_report_what_it_reads_and_no_more() -> None:
    texts = json.dumps({"config": json.dumps(CONFIG), "kv_cache_memory_bytes": str(BUDGET)})
    told, whole = reply(answer_form(texts)), reply(whole_form(texts))
    assert told["report"] == {name: whole["report"][name] for name in FORM_READS}
    assert ("\n".join(told["blocks"]), told["command"]) == (whole["html"], whole["command"])


def test_what_is_seen_at_once_is_the_whole_answer_without_what_is_folded() -> None:
    texts = json.dumps({"config": json.dumps(CONFIG), "kv_cache_memory_bytes": str(BUDGET)})
    seen, whole = reply(unfolded_form(texts)), reply(answer_form(texts))
    assert seen["report"] == {"errors": []}
    assert seen["command"] == whole["command"]
    emptied = [block for block, full in zip(seen["blocks"], whole["blocks"], strict=True) if block != full]
    assert emptied == [block for block in seen["blocks"] if " data-kv-folded>" in block]
    assert len(emptied) == sum("<details" in block for block in whole["blocks"]) > 0


def test_an_empty_text_is_an_absent_field() -> None:
    texts = {"config": json.dumps(CONFIG), "kv_cache_memory_bytes": str(BUDGET), "max_model_len": " "}
    assert "max_model_len" not in {
        name
        for name, given_input in reply(answer_form(json.dumps(texts)))["report"]["inputs"].items()
        if given_input["origin"] == "given"
    }


def test_a_pasted_config_may_hold_infinity() -> None:
    text = json.dumps(CONFIG)[:-1] + ', "time_step_limit": [0.0, Infinity]}'
    assert errors(answer_form(json.dumps({"config": text, "kv_cache_memory_bytes": str(BUDGET)}))) == []


def test_a_budget_per_stage_is_written_in_brackets() -> None:
    texts = {
        "config": json.dumps(CONFIG),
        "pipeline_parallel_size": "2",
        "kv_cache_memory_bytes": f"[{BUDGET}, {2 * BUDGET}]",
    }
    assert errors(answer_form(json.dumps(texts))) == []


def test_the_command_asks_the_same_question() -> None:
    request = {"model": "org/a b", "tensor_parallel_size": 2, "enable_prefix_caching": False}
    command = reply(answer_json(json.dumps(request)))["command"]
    assert command == "kvcore report 'org/a b' --tensor-parallel-size 2 --no-enable-prefix-caching"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "1.5", '"model"', "NaN", "[" * 100_000, '{"model":' * 9_000])
def test_what_is_no_request_is_named_so(text: str) -> None:
    assert [field for field, _ in errors(answer_json(text))] == ["request"]
    assert [field for field, _ in errors(answer_form(text))] == ["request"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config", "{"),
        ("config", "[" * 100_000),
        ("config", "[1]"),
        ("speculative_config", "mtp"),
        ("speculative_config", "[" * 100_000),
        ("kv_cache_memory_bytes", "[1,"),
        ("tensor_parallel_size", "two"),
        ("tensor_parallel_size", "1e999"),
        ("max_model_len", "9" * 5_000),
    ],
)
def test_a_text_that_does_not_fit_its_field_is_an_error_of_that_field(name: str, text: str) -> None:
    texts = {"config": json.dumps(CONFIG), "kv_cache_memory_bytes": str(BUDGET), name: text}
    assert [field for field, _ in errors(answer_form(json.dumps(texts)))] == [name]


def test_hostile_names_come_back_as_text() -> None:
    answered = reply(answer_json(json.dumps({"<img src=x onerror=alert(1)>": 1, "model": "<script>alert(1)</script>"})))
    assert "<img" not in answered["html"]
    assert "<script" not in answered["html"]


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(), JSON_VALUES, max_size=5))
def test_no_request_raises(request: dict[str, Any]) -> None:
    assert "report" in reply(answer_json(json.dumps(request)))


@given(st.dictionaries(st.sampled_from([*CONFIG, "rope_scaling", "text_config"]), JSON_VALUES))
def test_no_config_raises(changes: dict[str, Any]) -> None:
    request = {"config": {**CONFIG, **changes}, "kv_cache_memory_bytes": BUDGET}
    assert "report" in reply(answer_json(json.dumps(request)))


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(), st.text() | JSON_VALUES, max_size=5))
def test_no_form_raises(texts: dict[str, Any]) -> None:
    assert "report" in reply(answer_form(json.dumps(texts)))
