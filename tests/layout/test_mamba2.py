"""Mamba-2: a window over inputs and groups, and a matrix state per head."""

import math

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError, EngineRefusal
from kvcore.layout.mamba2 import falcon_h1_mamba2, granite_mamba2, mamba2, nemotron_mamba2, zamba2_mamba2

HEADS, HEAD_DIM, GROUPS, STATE, KERNEL = 128, 64, 8, 128, 4
WIDTH = HEADS * HEAD_DIM
NEMOTRON = {
    "architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "hidden_size": 4096,
    "hybrid_override_pattern": "M*", "mamba_num_heads": HEADS, "mamba_head_dim": HEAD_DIM, "n_groups": GROUPS,
    "ssm_state_size": STATE, "conv_kernel": KERNEL,
}  # fmt: skip


def elements(config: dict[str, object], ranks: int, draft_columns: int = 0) -> list[int]:
    cache = nemotron_mamba2(read_config(config), 0)
    return [math.prod(tensor.shape) for tensor in cache.tensors(ranks, draft_columns)]


def test_the_window_spans_the_inner_width_and_the_projections_of_every_group() -> None:
    assert elements(NEMOTRON, 1) == [(KERNEL - 1) * (WIDTH + 2 * GROUPS * STATE), HEADS * HEAD_DIM * STATE]


def test_each_draft_token_widens_the_window_by_one_input() -> None:
    drafts = 3
    assert elements(NEMOTRON, 1, drafts)[0] == (KERNEL - 1 + drafts) * (WIDTH + 2 * GROUPS * STATE)


def test_ranks_divide_groups_and_heads() -> None:
    ranks = 8
    per_rank = (WIDTH + 2 * GROUPS * STATE) // ranks
    assert elements(NEMOTRON, ranks) == [(KERNEL - 1) * per_rank, HEADS // ranks * HEAD_DIM * STATE]


def test_a_single_group_is_copied_to_every_rank() -> None:
    ranks = 16
    conv, _ = elements({**NEMOTRON, "n_groups": 1}, ranks)
    assert conv == (KERNEL - 1) * (WIDTH + 2 * ranks * STATE) // ranks


def test_several_groups_that_the_ranks_do_not_divide_are_refused() -> None:
    with pytest.raises(EngineRefusal, match="8 groups"):
        elements(NEMOTRON, 16)


def test_heads_that_the_ranks_do_not_divide_are_refused() -> None:
    with pytest.raises(EngineRefusal, match="heads"):
        elements({**NEMOTRON, "mamba_num_heads": 8, "n_groups": 1}, 16)


def test_nemotron_keeps_its_recurrent_state_in_float32_unless_the_config_says_otherwise() -> None:
    assert nemotron_mamba2(read_config(NEMOTRON), 0).temporal_dtype == "float32"
    halved = {**NEMOTRON, "mamba_ssm_cache_dtype": "bfloat16"}
    assert nemotron_mamba2(read_config(halved), 0).temporal_dtype == "bfloat16"


def test_an_unknown_state_dtype_is_named() -> None:
    with pytest.raises(ConfigError, match="mamba_ssm_cache_dtype"):
        nemotron_mamba2(read_config({**NEMOTRON, "mamba_ssm_cache_dtype": "int4"}), 0)


def test_zamba2_divides_its_inner_width_over_its_heads() -> None:
    hidden, heads, state = 2560, 8, 64
    config = {
        "architectures": ["Zamba2ForCausalLM"], "model_type": "zamba2", "num_hidden_layers": 54, "hidden_size": hidden,
        "num_attention_heads": 32, "n_mamba_heads": heads, "mamba_d_state": state, "mamba_expand": 2,
        "mamba_ngroups": 1, "mamba_d_conv": KERNEL,
    }  # fmt: skip
    shapes = [tensor.shape for tensor in zamba2_mamba2(read_config(config), 0).tensors(1, 0)]
    assert shapes == [(KERNEL - 1, 2 * hidden + 2 * state), (heads, 2 * hidden // heads, state)]


GRANITE = {
    "architectures": ["GraniteMoeHybridForCausalLM"], "model_type": "granitemoehybrid", "num_hidden_layers": 40,
    "hidden_size": 4096, "num_attention_heads": 32, "mamba_expand": 2, "mamba_n_heads": 128, "mamba_n_groups": 1,
    "mamba_d_state": 128, "mamba_d_conv": 4,
}  # fmt: skip


def test_granites_automatic_head_size_follows_from_the_width() -> None:
    assert granite_mamba2(read_config({**GRANITE, "mamba_d_head": "auto"}), 0).head_dim == 2 * 4096 // 128


def test_a_head_size_that_contradicts_the_width_is_an_error() -> None:
    with pytest.raises(ConfigError, match="mamba_d_head"):
        granite_mamba2(read_config({**GRANITE, "mamba_d_head": 63}), 0)


def test_falcon_h1_expands_the_hidden_width_where_its_own_width_is_null() -> None:
    config = {
        "architectures": ["FalconH1ForCausalLM"], "model_type": "falcon_h1", "num_hidden_layers": 24,
        "hidden_size": 2048, "num_attention_heads": 8, "mamba_expand": 2, "mamba_n_heads": 64, "mamba_n_groups": 1,
        "mamba_d_state": 256, "mamba_d_conv": 4,
    }  # fmt: skip
    assert falcon_h1_mamba2(read_config({**config, "mamba_d_ssm": None}), 0).intermediate_size == 2 * 2048
    assert falcon_h1_mamba2(read_config({**config, "mamba_d_ssm": 3072}), 0).intermediate_size == 3072
    class_default = 1024
    assert falcon_h1_mamba2(read_config(config), 0).intermediate_size == class_default


def test_pure_mamba2_checks_its_heads_against_its_width() -> None:
    config = {
        "architectures": ["Mamba2ForCausalLM"], "model_type": "mamba2", "num_hidden_layers": 64, "hidden_size": 2560,
        "expand": 2, "num_heads": 80, "head_dim": 64, "n_groups": 1, "state_size": 128, "conv_kernel": 4,
    }  # fmt: skip
    assert mamba2(read_config(config), 0).intermediate_size == 2 * 2560
    with pytest.raises(ConfigError, match="num_heads"):
        mamba2(read_config({**config, "num_heads": 81}), 0)
