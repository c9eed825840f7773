"""Short convolution: nothing but a window of inputs."""

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError
from kvcore.layout.short_convolution import moe_short_convolution, short_convolution

WIDTH, KERNEL = 2048, 3
LFM2 = {
    "architectures": ["Lfm2ForCausalLM"], "model_type": "lfm2", "num_hidden_layers": 16, "hidden_size": WIDTH,
    "num_attention_heads": 32, "conv_L_cache": KERNEL, "conv_dim": WIDTH,
}  # fmt: skip


def test_keeps_the_inputs_before_the_current_one() -> None:
    (window,) = short_convolution(read_config(LFM2), 0).tensors(1, 0)
    assert window.shape == (KERNEL - 1, WIDTH)


def test_ranks_divide_the_channels_and_draft_tokens_add_inputs() -> None:
    (window,) = short_convolution(read_config(LFM2), 0).tensors(8, 4)
    assert window.shape == (KERNEL - 1 + 4, WIDTH // 8)


def test_a_config_without_channels_names_the_missing_key() -> None:
    without = {key: value for key, value in LFM2.items() if key != "conv_dim"}
    with pytest.raises(ConfigError, match="conv_dim"):
        short_convolution(read_config(without), 0)


def test_the_expert_model_convolves_over_its_hidden_width() -> None:
    moe = {**LFM2, "model_type": "lfm2_moe", "architectures": ["Lfm2MoeForCausalLM"], "conv_dim": 1}
    (window,) = moe_short_convolution(read_config(moe), 0).tensors(1, 0)
    assert window.shape == (KERNEL - 1, WIDTH)
