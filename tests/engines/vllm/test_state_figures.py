"""Hybrids without a golden file: blocks, block size and tokens that vLLM 0.33.0's own planning gave for an H100.

The engine built its real model class without weights from each config below and planned 40 GiB.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from kvcore.answer import answer

BUDGET = 40 << 30

OLMO_HYBRID: Mapping[str, Any] = {
    "architectures": ["OlmoHybridForCausalLM"], "model_type": "olmo_hybrid", "hidden_size": 3840,
    "num_hidden_layers": 32, "num_attention_heads": 30, "num_key_value_heads": 30, "max_position_embeddings": 65_536,
    "dtype": "bfloat16", "linear_num_key_heads": 30, "linear_num_value_heads": 30, "linear_key_head_dim": 96,
    "linear_value_head_dim": 192, "linear_conv_kernel_dim": 4,
}  # fmt: skip
LFM2_MOE: Mapping[str, Any] = {
    "architectures": ["Lfm2MoeForCausalLM"], "model_type": "lfm2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
    "num_attention_heads": 32, "num_key_value_heads": 8, "conv_L_cache": 3, "max_position_embeddings": 128_000,
    "dtype": "bfloat16",
    "layer_types": ["full_attention" if index in {2, 6, 10, 14, 18, 21} else "conv" for index in range(24)],
}  # fmt: skip
KIMI_LINEAR: Mapping[str, Any] = {
    "architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear", "hidden_size": 2304,
    "num_hidden_layers": 27, "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 72,
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "mla_use_nope": True,
    "model_max_length": 1_048_576, "dtype": "bfloat16",
    "linear_attn_config": {
        "full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "head_dim": 128, "num_heads": 32, "short_conv_kernel_size": 4,
        "kda_layers": [layer for layer in range(1, 27) if layer % 4],
    },
}  # fmt: skip
JAMBA: Mapping[str, Any] = {
    "architectures": ["JambaForCausalLM"], "model_type": "jamba", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 262_144, "dtype": "bfloat16",
    "attn_layer_period": 8, "attn_layer_offset": 4, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2,
}  # fmt: skip
GRANITE: Mapping[str, Any] = {
    "architectures": ["GraniteMoeHybridForCausalLM"], "model_type": "granitemoehybrid", "hidden_size": 4096,
    "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 131_072,
    "dtype": "bfloat16", "mamba_n_heads": 128, "mamba_n_groups": 1, "mamba_d_state": 128, "mamba_d_head": 64,
    "mamba_d_conv": 4, "mamba_expand": 2,
    "layer_types": ["attention" if index % 10 == 5 else "mamba" for index in range(40)],
}  # fmt: skip
FALCON_H1: Mapping[str, Any] = {
    "architectures": ["FalconH1ForCausalLM"], "model_type": "falcon_h1", "hidden_size": 2048, "num_hidden_layers": 24,
    "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 128, "max_position_embeddings": 131_072,
    "dtype": "bfloat16", "mamba_d_ssm": None, "mamba_n_heads": 64, "mamba_d_head": 64, "mamba_n_groups": 1,
    "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2,
}  # fmt: skip
FALCON_MAMBA: Mapping[str, Any] = {
    "architectures": ["FalconMambaForCausalLM"], "model_type": "falcon_mamba", "hidden_size": 4096,
    "num_hidden_layers": 64, "state_size": 16, "conv_kernel": 4, "expand": 2, "intermediate_size": 8192,
    "dtype": "bfloat16",
}  # fmt: skip

OFF = {"enable_prefix_caching": False}

POINTS = [
    pytest.param(OLMO_HYBRID, {"max_model_len": 32_768}, 80, 4_369, 344_142, id="OLMo hybrid"),
    pytest.param(
        OLMO_HYBRID, {"max_model_len": 32_768, "tensor_parallel_size": 2, **OFF}, 80, 8_738, 693_285,
        id="OLMo hybrid on two GPUs without prefix caching",
    ),
    pytest.param(LFM2_MOE, {"max_model_len": 32_768}, 16, 218_453, 3_485_037, id="LFM2 with experts"),
    pytest.param(
        KIMI_LINEAR, {"max_model_len": 32_768, "mamba_ssm_cache_dtype": "bfloat16", "block_size": 2048},
        2048, 2_600, 3_872_581, id="Kimi-Linear with a state dtype its layers ignore",
    ),
    pytest.param(
        JAMBA, {"max_model_len": 8_192, "mamba_ssm_cache_dtype": "float32", "tensor_parallel_size": 2},
        144, 36_408, 4_200_765, id="Jamba with float32 states",
    ),
    pytest.param(
        GRANITE, {"max_model_len": 8_192, "tensor_parallel_size": 16}, 272, 77_101, 10_889_851,
        id="Granite 4 with one group copied to 16 GPUs",
    ),
    pytest.param(
        FALCON_H1, {"max_model_len": 8_192, "tensor_parallel_size": 2}, 2080, 1_680, 1_966_080,
        id="Falcon-H1 with a width left null",
    ),
    pytest.param(
        FALCON_MAMBA, {"max_model_len": 4_096, "enable_prefix_caching": True}, 16, 2_155, 4_413_440,
        id="FalconMamba with prefix caching asked for",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("config", "fields", "block_size", "blocks", "tokens"), POINTS)
def test_plans_what_the_engine_planned(
    config: Mapping[str, Any], fields: Mapping[str, Any], block_size: int, blocks: int, tokens: int
) -> None:
    report = answer({"config": config, "gpu": "H100", "kv_cache_memory_bytes": BUDGET, **fields})
    assert report.plan is not None
    assert report.capacity is not None
    planned = (report.plan.block_size, report.capacity.num_gpu_blocks, report.capacity.tokens.engine_log)
    assert planned == (block_size, blocks, tokens)
