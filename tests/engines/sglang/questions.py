"""Questions to SGLang: small models whose sizes the tests work with, and a shorthand to ask about them."""

from typing import Any

from kvcore.answer import answer
from kvcore.report.report import Capacity, Report

LAYERS = 4
QUERY_HEADS = 16
KV_HEADS = 4
HEAD_DIM = 64
CONTEXT = 8192
BYTES_OF_BFLOAT16 = 2

DENSE: dict[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "num_hidden_layers": LAYERS,
    "num_attention_heads": QUERY_HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "hidden_size": 1024,
    "max_position_embeddings": CONTEXT,
    "torch_dtype": "bfloat16",
}

WINDOW = 128
WINDOWED: dict[str, Any] = {
    **DENSE,
    "architectures": ["GptOssForCausalLM"],
    "model_type": "gpt_oss",
    "sliding_window": WINDOW,
    "layer_types": ["sliding_attention", "full_attention"] * (LAYERS // 2),
}

KEY_HEADS, VALUE_HEADS, STATE_DIM, CONV_KERNEL = 2, 4, 32, 4
HYBRID: dict[str, Any] = {
    **DENSE,
    "architectures": ["Qwen3NextForCausalLM"],
    "model_type": "qwen3_next",
    "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
    "linear_num_key_heads": KEY_HEADS,
    "linear_num_value_heads": VALUE_HEADS,
    "linear_key_head_dim": STATE_DIM,
    "linear_value_head_dim": STATE_DIM,
    "linear_conv_kernel_dim": CONV_KERNEL,
}

LATENT_RANK, ROTARY, INDEX_DIM = 512, 64, 128
SPARSE: dict[str, Any] = {
    **DENSE,
    "architectures": ["DeepseekV32ForCausalLM"],
    "model_type": "deepseek_v32",
    "kv_lora_rank": LATENT_RANK,
    "qk_rope_head_dim": ROTARY,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "index_topk": 2048,
    "index_head_dim": INDEX_DIM,
    "index_n_heads": 64,
}


def ask(config: dict[str, Any], **fields: Any) -> Report:
    """The report of one question to SGLang, which must not be refused."""
    report = answer({"engine": "sglang", "config": config, **fields})
    assert report.errors == ()
    return report


def capacity_of(config: dict[str, Any], **fields: Any) -> Capacity:
    """The capacity with 10 GiB for pools unless the fields say otherwise."""
    free = {"available_before_load_gib": 20, "available_after_load_gib": 20, "mem_fraction_static": 0.5}
    capacity = ask(config, **{**free, **fields}).capacity
    assert capacity is not None
    return capacity


def refused_field(config: dict[str, Any], **fields: Any) -> str:
    """The field an answer is refused for."""
    report = answer({"engine": "sglang", "config": config, **fields})
    assert report.errors
    error = report.errors[0]
    assert error.rule
    assert error.remedy
    return error.field
