"""The rules of the sizing lab this project grew from, by their feature ids, each worked out by hand.

The lab divides every cache by the tensor-parallel size, a latent too. That is the one rule kvcore departs from on
purpose: see the test of E03.
"""

import json
import socket
from fractions import Fraction
from typing import Any, NoReturn

import pytest

from kvcore.answer import answer
from kvcore.dtypes import ELEMENT_BYTES
from kvcore.report.json import dumps
from kvcore.report.render import render
from kvcore.report.report import Report
from kvcore.report.writers import text

GIB = 1 << 30
KIB = 1 << 10
BFLOAT16 = 2
KEY_AND_VALUE = 2

LAYERS = 32
HEADS = 32
KV_HEADS = 8
HIDDEN_SIZE = 4096
HEAD_DIM = 128
CONTEXT = 8192
GROUPED = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "hidden_size": HIDDEN_SIZE,
    "max_position_embeddings": CONTEXT,
}
GROUPED_TOKEN_BYTES = LAYERS * KEY_AND_VALUE * KV_HEADS * HEAD_DIM * BFLOAT16

LATENT_LAYERS = 61
KV_LORA_RANK = 512
QK_ROPE_HEAD_DIM = 64
LATENT = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "torch_dtype": "bfloat16",
    "num_hidden_layers": LATENT_LAYERS,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "hidden_size": 7168,
    "kv_lora_rank": KV_LORA_RANK,
    "qk_rope_head_dim": QK_ROPE_HEAD_DIM,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "max_position_embeddings": CONTEXT,
}
LATENT_TOKEN_BYTES = LATENT_LAYERS * (KV_LORA_RANK + QK_ROPE_HEAD_DIM) * BFLOAT16

MINIMAL = {"num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "head_dim": HEAD_DIM}


def without(config: dict[str, Any], *keys: str) -> dict[str, Any]:
    """A config that leaves keys out."""
    return {key: value for key, value in config.items() if key not in keys}


def answered(config: dict[str, Any], **fields: object) -> Report:
    """The report on a config, which is expected to be answered."""
    report = answer({"config": config, "max_model_len": CONTEXT, **fields})
    assert report.errors == ()
    return report


def token_bytes(config: dict[str, Any], **fields: object) -> int:
    """Bytes of one token over all layers on one GPU."""
    layout = answered(config, **fields).layout
    assert layout is not None
    return layout.bytes_per_token


def shown(config: dict[str, Any], **fields: object) -> str:
    """The report as a terminal shows it."""
    return text.write(render(answered(config, **fields)))


def test_a01_exactly_one_of_model_and_config_is_taken() -> None:
    both = answer({"model": "meta-llama/Llama-3.1-8B-Instruct", "config": GROUPED})
    neither = answer({"max_model_len": CONTEXT})

    assert [error.field for error in both.errors] == ["config"]
    assert [error.field for error in neither.errors] == ["model"]


def test_a02_no_connection_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        pytest.fail("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)

    assert token_bytes(GROUPED, kv_cache_memory_bytes=GIB) == GROUPED_TOKEN_BYTES


def test_a03_a_nested_text_config_is_read_before_the_root() -> None:
    wrapped = {
        "architectures": ["Qwen3VLForConditionalGeneration"],
        "model_type": "qwen3_vl",
        "num_hidden_layers": 1,
        "text_config": without(GROUPED, "architectures") | {"model_type": "qwen3_vl_text", "head_dim": HEAD_DIM},
        "vision_config": {"depth": 27},
    }

    assert token_bytes(wrapped) == GROUPED_TOKEN_BYTES


@pytest.mark.parametrize("key", ["num_hidden_layers", "n_layer", "num_layers"])
def test_a04_the_layer_count_is_found_under_each_of_its_names(key: str) -> None:
    assert token_bytes(without(GROUPED, "num_hidden_layers") | {key: LAYERS}) == GROUPED_TOKEN_BYTES


def test_a04_the_first_name_wins() -> None:
    assert token_bytes(GROUPED | {"n_layer": 1, "num_layers": 2}) == GROUPED_TOKEN_BYTES


def test_a05_without_a_layer_count_there_is_an_error_and_no_number() -> None:
    report = answer({"config": without(MINIMAL, "num_hidden_layers")})

    assert report.errors[0].field == "num_hidden_layers"
    assert "n_layer, n_layers, num_layers" in report.errors[0].rule
    assert report.layout is None


def test_a06_kv_heads_default_to_the_query_heads() -> None:
    every_head = LAYERS * KEY_AND_VALUE * HEADS * HEAD_DIM * BFLOAT16

    assert token_bytes(without(GROUPED, "num_key_value_heads")) == every_head


def test_a07_the_head_size_is_the_width_over_the_query_heads() -> None:
    assert HIDDEN_SIZE // HEADS == HEAD_DIM
    assert token_bytes(GROUPED) == token_bytes(GROUPED | {"head_dim": HEAD_DIM})


def test_a07_a_stated_head_size_wins() -> None:
    assert token_bytes(GROUPED | {"head_dim": HEAD_DIM // 2}) == GROUPED_TOKEN_BYTES // 2


@pytest.mark.parametrize(
    ("missing", "looked_for"),
    [
        (("num_attention_heads", "num_key_value_heads"), ("num_attention_heads", "n_head")),
        (("hidden_size",), ("head_dim", "hidden_size", "num_attention_heads")),
    ],
)
def test_a08_without_heads_or_head_size_the_error_lists_the_fields_looked_for(
    missing: tuple[str, ...], looked_for: tuple[str, ...]
) -> None:
    minimal = without(without(MINIMAL, "head_dim") | {"hidden_size": HIDDEN_SIZE}, *missing)
    report = answer({"config": minimal, "max_model_len": CONTEXT})

    rules = " ".join(error.rule for error in report.errors)
    assert [name for name in looked_for if name not in rules] == []
    assert report.layout is None


def test_a10_an_unknown_model_is_reported_and_not_guessed() -> None:
    report = answer({"model": "meta-llama/Llama-3.1-8B-Instrukt"})

    assert report.errors[0].field == "model"
    assert "Did you mean meta-llama/Llama-3.1-8B-Instruct?" in report.errors[0].remedy
    assert report.layout is None


def test_a10_the_config_of_a_model_is_cited() -> None:
    report = answer({"model": "meta-llama/Llama-3.1-8B-Instruct"})

    assert any(source.ref.startswith("config.json: https://") for source in report.sources)


def test_b01_a_latent_is_one_entry_per_token_without_a_factor_of_two() -> None:
    assert token_bytes(LATENT) == LATENT_TOKEN_BYTES


def test_b01_a_minimal_config_with_a_latent_rank_is_a_latent() -> None:
    minimal = MINIMAL | {"kv_lora_rank": KV_LORA_RANK, "qk_rope_head_dim": QK_ROPE_HEAD_DIM}

    assert token_bytes(minimal) == LAYERS * (KV_LORA_RANK + QK_ROPE_HEAD_DIM) * BFLOAT16


def test_b01_the_rotary_part_defaults_to_nothing() -> None:
    assert token_bytes(MINIMAL | {"kv_lora_rank": KV_LORA_RANK}) == LAYERS * KV_LORA_RANK * BFLOAT16


@pytest.mark.parametrize(
    ("kv_heads", "label"),
    [(HEADS, "multi-head attention"), (KV_HEADS, "grouped-query attention"), (1, "multi-query attention")],
)
def test_b02_attention_is_named_after_its_kv_heads(kv_heads: int, label: str) -> None:
    layout = answered(GROUPED | {"num_key_value_heads": kv_heads}).layout

    assert layout is not None
    assert layout.attention_kind.startswith(label)


def test_c01_the_cache_dtype_is_chosen_apart_from_the_model_dtype() -> None:
    assert token_bytes(GROUPED, kv_cache_dtype="auto") == GROUPED_TOKEN_BYTES
    assert token_bytes(GROUPED, kv_cache_dtype="fp8") == GROUPED_TOKEN_BYTES // BFLOAT16


@pytest.mark.parametrize(
    ("names", "size"),
    [
        (("float32", "fp32"), 4),
        (("float16", "fp16", "half"), 2),
        (("bfloat16", "bf16"), 2),
        (("float8_e4m3fn", "fp8", "fp8_e4m3", "fp8_e5m2"), 1),
        (("int8",), 1),
    ],
)
def test_c02_every_dtype_of_the_lab_has_its_bytes(names: tuple[str, ...], size: int) -> None:
    assert {ELEMENT_BYTES[name] for name in names} == {size}


@pytest.mark.parametrize(
    ("model_dtype", "cache_dtypes", "size"),
    [
        ("bfloat16", ("bfloat16", "bf16"), 2),
        ("float16", ("float16", "fp16", "half"), 2),
        ("bfloat16", ("float8_e4m3fn", "fp8", "fp8_e4m3", "fp8_e5m2"), 1),
    ],
)
def test_c02_a_cache_takes_the_bytes_of_its_dtype(model_dtype: str, cache_dtypes: tuple[str, ...], size: int) -> None:
    elements = GROUPED_TOKEN_BYTES // BFLOAT16

    assert {token_bytes(GROUPED, dtype=model_dtype, kv_cache_dtype=name) for name in cache_dtypes} == {elements * size}


@pytest.mark.parametrize("name", ["float32", "int8"])
def test_c02_a_cache_dtype_the_engine_cannot_store_is_refused_by_name(name: str) -> None:
    report = answer({"config": GROUPED, "kv_cache_dtype": name})

    assert name in report.errors[0].message
    assert report.layout is None


def test_d06_a_budget_is_given_in_bytes_or_as_logged_and_wins_over_the_estimate() -> None:
    exact = answered(GROUPED, kv_cache_memory_bytes=30 * GIB, gpu_memory_utilization=0.5)
    logged = answered(GROUPED, available_kv_cache_gib=30, gpu_memory_utilization=0.5)

    assert exact.budget is not None
    assert logged.budget is not None
    assert (exact.budget.kv_cache_bytes, exact.budget.kind) == (30 * GIB, "given")
    assert logged.budget.kv_cache_bytes == 30 * GIB


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_e03_a_latent_is_whole_on_every_rank(ranks: int) -> None:
    # The lab's figure would be LATENT_TOKEN_BYTES / ranks; the engine keeps the latent whole.
    assert token_bytes(LATENT, tensor_parallel_size=ranks) == LATENT_TOKEN_BYTES


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_e03_kv_heads_are_divided_over_the_ranks(ranks: int) -> None:
    assert token_bytes(GROUPED, tensor_parallel_size=ranks) == GROUPED_TOKEN_BYTES // ranks


def test_e03_kv_heads_are_never_divided_below_one() -> None:
    ranks = 16

    assert token_bytes(GROUPED, tensor_parallel_size=ranks) == GROUPED_TOKEN_BYTES // KV_HEADS


def test_f01_the_derivation_shows_every_factor() -> None:
    printed = shown(GROUPED)

    thousand_tokens = Fraction(GROUPED_TOKEN_BYTES * 1000, KIB * KIB)
    for figure in (
        "rouped-query attention",
        f"{KV_HEADS} × ({HEAD_DIM} + {HEAD_DIM}) × {BFLOAT16}",
        f"{KEY_AND_VALUE * KV_HEADS * HEAD_DIM * BFLOAT16:,}",
        f"{GROUPED_TOKEN_BYTES:,}",
        f"{GROUPED_TOKEN_BYTES // KIB}.00 KiB",
        f"{float(thousand_tokens):.2f} MiB",
    ):
        assert figure in printed


def test_f02_the_figures_are_called_arithmetic_and_not_a_measurement() -> None:
    printed = shown(GROUPED)

    assert "not a measurement" in printed
    assert "None was measured" in printed


def test_f03_the_prediction_names_what_is_left_for_the_cache() -> None:
    assert f"{30 * GIB:,}" in shown(GROUPED, available_kv_cache_gib=30)


def test_f04_numbers_carry_thousands_separators() -> None:
    assert "131,072" in shown(GROUPED)
    assert "131072" not in shown(GROUPED)


def test_f05_every_step_shows_formula_values_and_result() -> None:
    steps = answered(GROUPED, kv_cache_memory_bytes=30 * GIB).derivation

    assert steps
    assert [step.label for step in steps if not (step.formula and step.substituted and step.source)] == []


def test_f06_a_budget_too_small_for_one_request_is_never_a_negative_capacity() -> None:
    report = answer({"config": GROUPED, "kv_cache_memory_bytes": GIB // 2})

    assert report.capacity is not None
    assert report.capacity.fits is False
    assert report.capacity.num_gpu_blocks is None
    assert report.capacity.short_bytes is not None
    assert report.capacity.short_bytes > 0


@pytest.mark.parametrize("ranks", [1, 2])
def test_j07_tokens_without_overhead_are_the_free_bytes_over_the_bytes_of_a_token(ranks: int) -> None:
    free = 30 * GIB + 12_345
    report = answered(GROUPED, kv_cache_memory_bytes=free, tensor_parallel_size=ranks)

    tokens = free // (GROUPED_TOKEN_BYTES // ranks)
    assert report.capacity is not None
    assert report.capacity.concurrency.plain == float(Fraction(free, GROUPED_TOKEN_BYTES // ranks * CONTEXT))
    assert int(Fraction(report.capacity.concurrency.plain) * CONTEXT) == tokens


def test_l03_the_whole_report_is_json() -> None:
    report = json.loads(dumps(answered(GROUPED, kv_cache_memory_bytes=30 * GIB)))

    assert report["layout"]["bytes_per_token"] == GROUPED_TOKEN_BYTES
    assert {
        "inputs",
        "budget",
        "layout",
        "plan",
        "request",
        "capacity",
        "tax",
        "weights",
        "warnings",
        "errors",
        "sources",
    } <= report.keys()
