"""Lightning attention: one square state per head, in the type of convolution states."""

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError, EngineRefusal
from kvcore.layout.lightning_attention import lightning_attention

HEADS, HEAD_DIM, NORM_GROUPS = 32, 64, 8
LING = {
    "architectures": ["BailingMoeV2_5ForCausalLM"], "model_type": "bailing_hybrid", "num_hidden_layers": 32,
    "hidden_size": 4096, "num_attention_heads": HEADS, "head_dim": HEAD_DIM, "qk_rope_head_dim": HEAD_DIM,
    "kv_lora_rank": 512, "group_norm_size": NORM_GROUPS,
}  # fmt: skip


def test_keeps_one_square_state_per_head_on_its_rank() -> None:
    (state,) = lightning_attention(read_config(LING), 0).tensors(4, 3)
    assert state.shape == (HEADS // 4, HEAD_DIM, HEAD_DIM)


def test_ranks_must_divide_the_groups_of_the_output_norm() -> None:
    with pytest.raises(EngineRefusal, match="output norm"):
        lightning_attention(read_config(LING), 0).tensors(2 * NORM_GROUPS, 0)


def test_a_head_size_the_config_class_would_overwrite_is_not_guessed() -> None:
    with pytest.raises(ConfigError, match="head_dim"):
        lightning_attention(read_config({**LING, "head_dim": 2 * HEAD_DIM}), 0)
