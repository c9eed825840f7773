"""Mamba-1: a window of the convolution and a diagonal state per channel."""

import math

import pytest

from kvcore.config import read_config
from kvcore.errors import EngineRefusal
from kvcore.layout.mamba1 import jamba_mamba, mamba1

HIDDEN, EXPAND, STATE, KERNEL = 4096, 2, 16, 4
CHANNELS = EXPAND * HIDDEN
FALCON_MAMBA = {
    "architectures": ["FalconMambaForCausalLM"], "model_type": "falcon_mamba", "num_hidden_layers": 64,
    "hidden_size": HIDDEN, "expand": EXPAND, "state_size": STATE, "conv_kernel": KERNEL,
}  # fmt: skip


def elements(config: dict[str, object], ranks: int, draft_columns: int = 0) -> list[int]:
    cache = mamba1(read_config(config), 0)
    return [math.prod(tensor.shape) for tensor in cache.tensors(ranks, draft_columns)]


def test_keeps_the_inputs_before_the_current_one_and_a_state_per_channel() -> None:
    assert elements(FALCON_MAMBA, 1) == [(KERNEL - 1) * CHANNELS, CHANNELS * STATE]


def test_divides_both_tensors_over_the_ranks() -> None:
    assert elements(FALCON_MAMBA, 8) == [(KERNEL - 1) * CHANNELS // 8, CHANNELS * STATE // 8]


def test_speculation_does_not_widen_the_window() -> None:
    assert elements(FALCON_MAMBA, 1, draft_columns=4) == elements(FALCON_MAMBA, 1)


def test_a_stated_inner_width_outranks_the_expansion() -> None:
    stated = 5120
    assert elements({**FALCON_MAMBA, "intermediate_size": stated}, 1) == [(KERNEL - 1) * stated, stated * STATE]


def test_jamba_names_the_same_dimensions_differently() -> None:
    jamba = {
        "architectures": ["JambaForCausalLM"], "model_type": "jamba", "num_hidden_layers": 32, "hidden_size": HIDDEN,
        "num_attention_heads": 32, "mamba_expand": EXPAND, "mamba_d_state": STATE, "mamba_d_conv": KERNEL,
    }  # fmt: skip
    tensors = jamba_mamba(read_config(jamba), 0).tensors(1, 0)
    assert [tensor.shape for tensor in tensors] == [(KERNEL - 1, CHANNELS), (CHANNELS, STATE)]


def test_ranks_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(EngineRefusal, match="tensor_parallel_size"):
        elements(FALCON_MAMBA, 3)
