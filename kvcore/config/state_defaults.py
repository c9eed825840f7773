"""Class defaults of models that keep a state per request.

Source of each row: the defaults of the configuration class of transformers 5.20 named by its ``model_type``, and of vLLM
0.33.0's own `KimiLinearConfig`.
"""

from collections.abc import Mapping
from typing import Any

_QWEN_LINEAR: Mapping[str, Any] = {
    "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
    "linear_num_key_heads": 16, "linear_num_value_heads": 32,
}  # fmt: skip

_PURE_MAMBA: Mapping[str, Any] = {
    "hidden_size": 768, "state_size": 16, "num_hidden_layers": 32, "expand": 2, "conv_kernel": 4,
}  # fmt: skip

STATE_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "qwen3_next": _QWEN_LINEAR,
    "qwen3_5_text": _QWEN_LINEAR,
    "qwen3_5_moe_text": _QWEN_LINEAR,
    "mamba": _PURE_MAMBA,
    "falcon_mamba": _PURE_MAMBA,
    "mamba2": {
        "hidden_size": 4096, "num_hidden_layers": 64, "num_heads": 128, "head_dim": 64, "state_size": 128, "expand": 2,
        "conv_kernel": 4, "n_groups": 8, "chunk_size": 256,
    },
    "jamba": {
        "attn_layer_period": 8, "attn_layer_offset": 4, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2,
    },
    "zamba2": {
        "mamba_d_state": 64, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_ngroups": 1, "n_mamba_heads": 8,
        "chunk_size": 256,
    },
    "granitemoehybrid": {
        "mamba_n_heads": 128, "mamba_n_groups": 1, "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2,
        "mamba_chunk_size": 256,
    },
    "falcon_h1": {
        "mamba_d_ssm": 1024, "mamba_n_heads": 128, "mamba_n_groups": 1, "mamba_d_state": 256, "mamba_d_conv": 4,
        "mamba_expand": 2, "mamba_chunk_size": 256,
    },
    "nemotron_h": {
        "ssm_state_size": 128, "mamba_num_heads": 128, "mamba_head_dim": 64, "n_groups": 8, "conv_kernel": 4,
        "chunk_size": 128,
    },
    "olmo_hybrid": {"linear_conv_kernel_dim": 4},
    "lfm2": {"conv_L_cache": 3},
    "lfm2_moe": {"conv_L_cache": 3},
    "kimi_linear": {
        "hidden_size": 4096, "num_hidden_layers": 32, "num_key_value_heads": None, "max_position_embeddings": 4096,
        "kv_lora_rank": None, "qk_rope_head_dim": None,
    },
}  # fmt: skip
"""One row per ``model_type``: keys of the state, and where vLLM has a class of its own, the keys it sets otherwise."""
