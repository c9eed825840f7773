"""A request written as an engine command reads back as the same request."""

from typing import Any

import pytest

from kvcore.commandline import engine_command, read_command
from kvcore.request import parse_request

REQUESTS: tuple[dict[str, Any], ...] = (
    {"model": "org/name"},
    {"model": "org/name", "tensor_parallel_size": 8, "max_model_len": 131_072, "kv_cache_dtype": "fp8"},
    {"model": "org/name", "enable_prefix_caching": False, "enforce_eager": True},
    {"model": "org/name", "speculative_config": {"method": "mtp", "num_speculative_tokens": 1}},
    {"model": "org/name", "kv_cache_memory_bytes": 42_949_672_960, "block_size": 64},
    {"model": "org/name", "kv_cache_dtype_skip_layers": ["0", "31"]},
    {"model": "org/name", "pipeline_parallel_size": 2, "pipeline_layer_partition": [20, 44]},
    {"engine": "sglang", "model": "org/name", "tp_size": 4, "mem_fraction_static": 0.8},
)


@pytest.mark.parametrize("request_fields", REQUESTS, ids=[" ".join(fields) for fields in REQUESTS])
def test_the_command_reads_back(request_fields: dict[str, Any]) -> None:
    read = read_command(engine_command(request_fields))
    assert parse_request(read.request) == parse_request(request_fields)
    assert read.unknown == ()


def test_words_a_shell_would_read_are_quoted() -> None:
    command = engine_command({"model": "a b; rm -rf '/'"})
    assert read_command(command).request["model"] == "a b; rm -rf '/'"


def test_a_pasted_config_leaves_a_name_to_fill_in() -> None:
    assert engine_command({"tensor_parallel_size": 2}) == "vllm serve ORG/NAME --tensor-parallel-size 2"


def test_a_logged_budget_is_asked_for_in_bytes() -> None:
    logged_gib, gib = 12.5, 1 << 30
    read = read_command(engine_command({"model": "org/name", "available_kv_cache_gib": logged_gib}))
    assert read.request == {"model": "org/name", "kv_cache_memory_bytes": int(logged_gib * gib)}


@pytest.mark.parametrize("text", ["", "many", "nan", "1e999", "-4", "0", None])
def test_what_is_no_budget_leaves_the_command_as_it_is(text: str | None) -> None:
    assert engine_command({"model": "org/name", "available_kv_cache_gib": text}) == "vllm serve org/name"


def test_sglang_has_no_opposite_of_a_switch() -> None:
    request = {"engine": "sglang", "model": "org/name", "disable_radix_cache": False, "enable_dp_attention": True}
    assert engine_command(request) == "python -m sglang.launch_server --model-path org/name --enable-dp-attention"


def test_names_of_layers_are_words_of_their_own_as_the_engine_reads_them() -> None:
    command = engine_command({"model": "org/name", "kv_cache_dtype_skip_layers": "0, 31"})
    assert command == "vllm serve org/name --kv-cache-dtype-skip-layers 0 31"
