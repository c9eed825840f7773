"""Kimi Delta Attention: a window over queries, keys and values, and one square state per head."""

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError, EngineRefusal
from kvcore.layout.kimi_delta import glm_kimi_delta, kimi_delta

HEADS, HEAD_DIM, KERNEL = 32, 128, 4
LINEAR = {
    "kda_layers": [1, 2, 3], "full_attn_layers": [4], "num_heads": HEADS, "head_dim": HEAD_DIM,
    "short_conv_kernel_size": KERNEL,
}  # fmt: skip
KIMI_LINEAR = {
    "architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear", "num_hidden_layers": 4,
    "hidden_size": 2304, "num_attention_heads": 32, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
    "linear_attn_config": LINEAR,
}  # fmt: skip


def test_keeps_a_window_over_q_k_and_v_and_a_float32_state_per_head() -> None:
    cache = kimi_delta(read_config(KIMI_LINEAR), 0)
    conv, state = cache.tensors(1, 0)
    assert conv.shape == (KERNEL - 1, 3 * HEADS * HEAD_DIM)
    assert state.shape == (HEADS, HEAD_DIM, HEAD_DIM)
    assert cache.temporal_dtype == "float32"


def test_ranks_divide_the_heads() -> None:
    conv, state = kimi_delta(read_config(KIMI_LINEAR), 0).tensors(4, 2)
    assert conv.shape == (KERNEL - 1 + 2, 3 * HEADS // 4 * HEAD_DIM)
    assert state.shape == (HEADS // 4, HEAD_DIM, HEAD_DIM)


def test_ranks_that_do_not_divide_the_heads_are_refused() -> None:
    with pytest.raises(EngineRefusal, match="Kimi Delta Attention"):
        kimi_delta(read_config(KIMI_LINEAR), 0).tensors(64, 0)


def test_a_full_rank_gate_marks_the_layer_class_of_kimi_k3() -> None:
    k3 = {**KIMI_LINEAR, "linear_attn_config": {**LINEAR, "use_full_rank_gate": True, "gate_lower_bound": -5.0}}
    assert kimi_delta(read_config(KIMI_LINEAR), 0).family == "kimi_linear"
    assert kimi_delta(read_config(k3), 0).family == "kimi_k3"
    assert kimi_delta(read_config(k3), 0).has_bounded_gate


def test_a_config_without_the_linear_dimensions_names_the_missing_key() -> None:
    without = {key: value for key, value in LINEAR.items() if key != "head_dim"}
    with pytest.raises(ConfigError, match=r"linear_attn_config\.head_dim"):
        kimi_delta(read_config({**KIMI_LINEAR, "linear_attn_config": without}), 0)


def test_glm_reads_its_nested_dimensions_before_its_flat_ones() -> None:
    config = {
        "architectures": ["Glm5NextForCausalLM"], "model_type": "glm5_next_text", "num_hidden_layers": 4,
        "hidden_size": 4096, "num_attention_heads": 64, "linear_num_heads": 16, "linear_attn_config": LINEAR,
    }  # fmt: skip
    cache = glm_kimi_delta(read_config(config), 0)
    assert (cache.num_heads, cache.head_dim, cache.conv_kernel_size) == (HEADS, HEAD_DIM, KERNEL)
    assert cache.has_bounded_gate
