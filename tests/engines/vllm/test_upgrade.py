"""What an upgrade does to a deployment, switch by switch."""

import math
from typing import Any

import pytest

from kvcore.engines.vllm.profile_table import PROFILES
from kvcore.engines.vllm.switches import SWITCHES
from kvcore.engines.vllm.upgrade import turn, upgrade
from kvcore.errors import InputError
from kvcore.request import Request, parse_request

LENGTH, BATCH, BLOCK, WINDOW = 8192, 2048, 16, 1024
ENTRY = 2 * 128 * 2 * 2
PAGE = BLOCK * ENTRY
LAYERS_PER_GROUP = 2
BUDGET = 4 << 30

FULL_BLOCKS = LENGTH // BLOCK
WINDOW_BLOCKS = math.ceil((WINDOW - 1 + BATCH) / BLOCK) + 1
WINDOW_BLOCKS_OF_TWO_BATCHES = math.ceil((WINDOW - 1 + 2 * BATCH) / BLOCK) + 1
POOL = BUDGET // (LAYERS_PER_GROUP * PAGE)

GEMMA = {
    "architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "hidden_size": 1024, "num_hidden_layers": 4,
    "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 128, "max_position_embeddings": LENGTH,
    "torch_dtype": "bfloat16", "sliding_window": WINDOW,
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention", "full_attention"],
}  # fmt: skip


def request(**more: Any) -> Request:
    """Two window layers and two full ones."""
    fields = {
        "config": GEMMA,
        "max_model_len": LENGTH,
        "max_num_batched_tokens": BATCH,
        "kv_cache_memory_bytes": BUDGET,
    }
    return parse_request({**fields, **more})


def test_each_switch_that_matters_shows_the_figures_before_and_after_it() -> None:
    batches, printed = upgrade(request(), "0.19.1", "0.33.0").effective_changes

    assert batches.switch.field == "in_flight_window"
    assert batches.before.concurrency == POOL / (WINDOW_BLOCKS + FULL_BLOCKS)
    assert batches.after.concurrency == POOL / (WINDOW_BLOCKS_OF_TWO_BATCHES + FULL_BLOCKS)
    assert printed.switch.field == "printed_tokens"
    assert printed.before.tokens == POOL // 2 * BLOCK
    assert printed.after.tokens == int(POOL / (WINDOW_BLOCKS_OF_TWO_BATCHES + FULL_BLOCKS) * LENGTH)


def test_the_last_change_ends_at_the_figures_of_the_release_after() -> None:
    for older in PROFILES[1:-1]:
        found = upgrade(request(), older.version, "0.33.0")

        assert found.changes[-1].after == found.after


def test_a_way_back_shows_the_same_switches() -> None:
    there, back = upgrade(request(), "0.16.0", "0.30.0"), upgrade(request(), "0.30.0", "0.16.0")

    assert [change.switch for change in there.changes] == [change.switch for change in back.changes]
    assert (there.before, there.after) == (back.after, back.before)


def test_releases_without_a_difference_change_nothing() -> None:
    found = upgrade(request(), "0.30.0", "0.31.0")

    assert found.changes == ()
    assert found.before == found.after


def test_a_release_that_refuses_says_why() -> None:
    ministral = {**GEMMA, "architectures": ["Ministral3ForCausalLM"], "model_type": "ministral3"}

    found = upgrade(request(config=ministral), "0.19.1", "0.20.0")

    assert found.before.refusal.startswith("engine_version = '0.19.1': vLLM 0.19.0 has no model class")
    assert found.after.refusal == ""


def test_a_release_that_is_not_known_is_an_error() -> None:
    with pytest.raises(InputError, match="engine_version"):
        upgrade(request(), "0.4.0", "0.33.0")


def test_a_newer_release_is_noted() -> None:
    (note,) = upgrade(request(), "0.33.0", "0.50.0").notes

    assert note.startswith("vLLM 0.50.0 is newer than kvcore")


def test_turning_every_switch_makes_one_profile_of_another() -> None:
    profile, target = PROFILES[0], PROFILES[-1]

    for switch in SWITCHES:
        profile = turn(profile, switch, target)

    assert profile == target


def test_values_are_put_into_words() -> None:
    oldest, newest = PROFILES[0], PROFILES[-1]
    words = {switch.field: (switch.words(oldest), switch.words(newest)) for switch in SWITCHES}

    assert words["gpu_memory_utilization"] == ("0.9", "0.92")
    assert words["auto_fit"] == ("no", "yes")
    assert words["checkpointing_states"] == ("none", "gated delta net, kimi delta, mamba2")
    assert words["state_reuse"] == ("not kept", "the last ones")
