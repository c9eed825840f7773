"""Gated DeltaNet: a window over queries, keys and values, and one matrix state per value head."""

import math

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError, EngineRefusal
from kvcore.layout.gated_delta_net import olmo_gated_delta_net, qwen_gated_delta_net

KEY_HEADS, VALUE_HEADS, KEY_DIM, VALUE_DIM, KERNEL = 16, 48, 128, 128, 4
QWEN3_5 = {
    "architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text", "num_hidden_layers": 64,
    "hidden_size": 5120, "num_attention_heads": 24, "linear_num_key_heads": KEY_HEADS,
    "linear_num_value_heads": VALUE_HEADS, "linear_key_head_dim": KEY_DIM, "linear_value_head_dim": VALUE_DIM,
    "linear_conv_kernel_dim": KERNEL, "mamba_ssm_dtype": "float32",
}  # fmt: skip
CONV_WIDTH = 2 * KEY_HEADS * KEY_DIM + VALUE_HEADS * VALUE_DIM


def elements(ranks: int, draft_columns: int = 0) -> list[int]:
    cache = qwen_gated_delta_net(read_config(QWEN3_5), 0)
    return [math.prod(tensor.shape) for tensor in cache.tensors(ranks, draft_columns)]


def test_keeps_a_window_over_q_k_and_v_and_a_state_per_value_head() -> None:
    assert elements(1) == [(KERNEL - 1) * CONV_WIDTH, VALUE_HEADS * VALUE_DIM * KEY_DIM]


def test_draft_tokens_widen_the_window_only() -> None:
    assert elements(1, 4) == [(KERNEL - 1 + 4) * CONV_WIDTH, VALUE_HEADS * VALUE_DIM * KEY_DIM]


def test_ranks_divide_window_and_heads() -> None:
    assert elements(4) == [(KERNEL - 1) * CONV_WIDTH // 4, VALUE_HEADS // 4 * VALUE_DIM * KEY_DIM]


def test_ranks_that_do_not_divide_the_value_heads_are_refused() -> None:
    with pytest.raises(EngineRefusal, match="value heads"):
        elements(32)


def test_qwen3_5_names_the_type_of_its_recurrent_state_and_qwen3_next_does_not() -> None:
    assert qwen_gated_delta_net(read_config(QWEN3_5), 0).temporal_dtype == "float32"
    qwen3_next = {**QWEN3_5, "model_type": "qwen3_next", "architectures": ["Qwen3NextForCausalLM"]}
    assert qwen_gated_delta_net(read_config(qwen3_next), 0).temporal_dtype is None


def test_a_state_type_that_is_none_is_an_error() -> None:
    with pytest.raises(ConfigError, match="mamba_ssm_dtype"):
        qwen_gated_delta_net(read_config({**QWEN3_5, "mamba_ssm_dtype": "fp8"}), 0)


def test_olmo_derives_its_heads_from_the_hidden_width() -> None:
    hidden, heads = 3840, 30
    config = {
        "architectures": ["OlmoHybridForCausalLM"], "model_type": "olmo_hybrid", "num_hidden_layers": 32,
        "hidden_size": hidden, "num_attention_heads": heads,
    }  # fmt: skip
    cache = olmo_gated_delta_net(read_config(config), 0)
    key_dim = 96  # 0.75 × 3840 / 30
    assert (cache.num_k_heads, cache.num_v_heads, cache.head_k_dim) == (heads, heads, key_dim)
    assert cache.head_v_dim == 2 * key_dim
