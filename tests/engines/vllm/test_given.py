"""Layouts given by hand as vLLM answers them: its own rules, or the groups and widths the layout states."""

import dataclasses
import json
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.report.report import Report

MEMORY = 4 << 20
ATTENTION = {"name": "attention", "growth": "per_token", "layers": 4, "entry_bytes": 256}
STATE = {"name": "state", "growth": "per_request", "layer_indices": [4, 5, 6, 7], "entry_bytes": 4096}
FIXED = {
    "block_size": 16,
    "groups": [{"parts": ["attention"]}, {"parts": ["state"], "count": 2, "fixed_blocks": 2, "held_blocks": 1}],
}


def report(parts: list[Any], engine: Any = None, **request: Any) -> Report:
    layout = {"parts": parts, "engine": engine or {}}
    return answer({"layout": layout, "max_model_len": 1600, "kv_cache_memory_bytes": MEMORY, **request})


def refused_field(found: Report) -> str:
    return found.errors[0].field


def test_without_groups_the_engine_s_own_rules_fill_in_the_rest() -> None:
    found = report([ATTENTION])
    assert found.capacity is not None
    assert found.plan is not None
    assert found.plan.page_size_bytes == 4 * 16 * 256
    assert found.capacity.num_gpu_blocks == MEMORY // (4 * 16 * 256)
    assert found.capacity.tokens.engine_log == MEMORY // (4 * 256)


def test_given_groups_charge_and_hold_the_blocks_they_state() -> None:
    found = report([ATTENTION, STATE], FIXED)
    assert found.capacity is not None
    assert found.plan is not None
    assert found.request is not None
    width = max(4 * 16 * 256, 2 * 4096)
    assert [group.blocks_per_request for group in found.plan.groups] == [1600 // 16, 2, 2]
    assert found.request.bytes_estimate == (100 + 4) * width
    assert found.request.bytes_held == (100 + 2) * width
    assert found.capacity.num_gpu_blocks == MEMORY // width


def test_a_stated_width_replaces_the_widest_group() -> None:
    found = report([ATTENTION, STATE], {**FIXED, "pool_bytes_per_block": 20_000})
    assert found.capacity is not None
    assert found.capacity.num_gpu_blocks == MEMORY // 20_000


def test_a_width_below_the_widest_group_is_refused() -> None:
    found = report([ATTENTION, STATE], {**FIXED, "pool_bytes_per_block": 16_383})
    assert refused_field(found) == "layout.engine.pool_bytes_per_block"
    assert "16,384" in found.errors[0].rule


def test_there_must_be_as_many_widths_as_stages() -> None:
    found = report([ATTENTION, STATE], {**FIXED, "pool_bytes_per_block": [20_000, 20_000]})
    assert refused_field(found) == "layout.engine.pool_bytes_per_block"


def test_a_group_cannot_be_dealt_out_to_more_groups_than_it_has_layers() -> None:
    groups = [{"parts": ["attention"]}, {"parts": ["state"], "count": 5}]
    assert refused_field(report([ATTENTION, STATE], {"groups": groups})) == "layout.engine.groups.count"


def test_a_kind_of_storage_must_fit_the_growth() -> None:
    found = report([{**ATTENTION, "engine": {"kind": "mamba"}}])
    assert refused_field(found) == "layout.parts.0.engine.kind"


def test_a_page_cannot_be_smaller_than_its_entries() -> None:
    found = report([{**ATTENTION, "engine": {"page_size_bytes": 16 * 256 - 1}}])
    assert refused_field(found) == "layout.parts.0.engine.page_size_bytes"


def test_sizes_are_of_one_gpu_and_are_not_divided_again() -> None:
    assert report([ATTENTION], tensor_parallel_size=8).capacity == report([ATTENTION]).capacity


def test_blocks_set_aside_for_caches_in_transfer_come_off_what_requests_can_hold() -> None:
    found = report([ATTENTION], decode_set_aside_percent=5, kv_cache_memory_bytes=4 * 16 * 256 * 526)
    assert found.capacity is not None
    assert found.capacity.num_gpu_blocks == 526
    assert found.capacity.set_aside_blocks == 526 * 5 // 100
    assert found.capacity.concurrency.engine_log == 526 / 100
    assert found.capacity.concurrency.held == (526 - 1 - 26) / 100


def test_at_least_one_block_is_set_aside() -> None:
    found = report([ATTENTION], decode_set_aside_percent=5, max_model_len=16, kv_cache_memory_bytes=16_384 * 10)
    assert found.capacity is not None
    assert found.capacity.set_aside_blocks == 1


@pytest.mark.parametrize(
    "request_",
    [
        {"model": "deepseek-ai/DeepSeek-V3.2", "tensor_parallel_size": 8},
        {"model": "deepseek-ai/DeepSeek-V4-Flash", "tensor_parallel_size": 8},
        {"model": "zai-org/GLM-5.3-Flash", "tensor_parallel_size": 4},
        {"model": "google/gemma-3-27b-it"},
        {"model": "Qwen/Qwen3.5-27B", "speculative_config": {"method": "mtp", "num_speculative_tokens": 2}},
    ],
    ids=lambda request_: request_["model"],
)
def test_an_exported_layout_gives_the_figures_of_its_model(request_: dict[str, Any]) -> None:
    common = {"max_model_len": 8192, "kv_cache_memory_bytes": 32 << 30, "max_num_batched_tokens": 2048}
    model = answer({**request_, **common})
    assert model.capacity is not None, model.errors
    layout = json.loads(json.dumps(dataclasses.asdict(model.layout)))  # type: ignore[arg-type]
    again = answer({**{key: value for key, value in request_.items() if key != "model"}, **common, "layout": layout})
    assert again.capacity is not None, again.errors
    assert again.capacity.num_gpu_blocks == model.capacity.num_gpu_blocks
    assert again.capacity.tokens == model.capacity.tokens
    assert again.capacity.concurrency == model.capacity.concurrency
