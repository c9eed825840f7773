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
