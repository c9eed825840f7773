"""Small configs and figures the tests of releases share."""

import math
from collections.abc import Mapping
from typing import Any

from kvcore.answer import answer
from kvcore.report.report import Report

GIB = 1 << 30
BUDGET = 4 * GIB
LENGTH = 8192
BATCH = 2048
BLOCK = 16
WINDOW = 1024
ENTRY = 2 * 128 * 2 * 2
"""KV heads × head size × (key and value) × bytes of bfloat16: 1,024."""
PAGE = BLOCK * ENTRY

FULL_BLOCKS = LENGTH // BLOCK
WINDOW_BLOCKS = math.ceil((WINDOW - 1 + BATCH) / BLOCK) + 1
WINDOW_BLOCKS_OF_TWO_BATCHES = math.ceil((WINDOW - 1 + 2 * BATCH) / BLOCK) + 1

DENSE: Mapping[str, Any] = {
    "hidden_size": 1024, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 128, "vocab_size": 1024,
    "intermediate_size": 1024, "max_position_embeddings": LENGTH, "torch_dtype": "bfloat16",
}  # fmt: skip


def windows(sliding: int, full: int) -> dict[str, Any]:
    """A Gemma 3 decoder with layers that slide, then layers that keep every token."""
    return {
        **DENSE,
        "architectures": ["Gemma3ForCausalLM"],
        "model_type": "gemma3_text",
        "num_hidden_layers": sliding + full,
        "sliding_window": WINDOW,
        "layer_types": ["sliding_attention"] * sliding + ["full_attention"] * full,
    }


def nemotron(**more: Any) -> dict[str, Any]:
    """A Nemotron-H hybrid: one Mamba-2 layer and one attention layer."""
    return {
        **DENSE, "architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "num_hidden_layers": 2,
        "hybrid_override_pattern": "M*", "mamba_num_heads": 16, "mamba_head_dim": 64, "n_groups": 2, "ssm_state_size": 128,
        "conv_kernel": 4, "chunk_size": 128, **more,
    }  # fmt: skip


LATENT: Mapping[str, Any] = {
    **DENSE, "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "num_hidden_layers": 2,
    "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "q_lora_rank": 256,
}  # fmt: skip
DELTA_NET: Mapping[str, Any] = {
    **DENSE, "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_hidden_layers": 4,
    "linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4, "full_attention_interval": 4,
}  # fmt: skip
CHUNKED: Mapping[str, Any] = {
    **DENSE, "architectures": ["Llama4ForCausalLM"], "model_type": "llama4_text", "num_hidden_layers": 4,
    "attention_chunk_size": 1024, "no_rope_layers": [1, 1, 1, 0],
}  # fmt: skip
LLAMA: Mapping[str, Any] = {
    **DENSE, "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2,
}  # fmt: skip
MIXTURE: Mapping[str, Any] = {
    **DENSE, "architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "num_hidden_layers": 2,
    "num_local_experts": 8,
}  # fmt: skip


def report(config: Mapping[str, Any], release: str, **more: Any) -> Report:
    """The answer of a release."""
    fields = {"max_model_len": LENGTH, "max_num_batched_tokens": BATCH, "kv_cache_memory_bytes": BUDGET, **more}
    found = answer({"config": config, "engine_version": release, **fields})
    assert found.errors == ()
    return found


def blocks(config: Mapping[str, Any], release: str, **more: Any) -> list[int]:
    """Blocks one request is charged, group by group."""
    plan = report(config, release, **more).plan
    assert plan is not None
    return [group.blocks_per_request for group in plan.groups]


def block_size(config: Mapping[str, Any], release: str, **more: Any) -> int | None:
    """Tokens per block."""
    plan = report(config, release, **more).plan
    assert plan is not None
    return plan.block_size


def refused(config: Mapping[str, Any], release: str, **more: Any) -> str:
    """Field of the error a release answers with."""
    (error,) = answer({"config": config, "engine_version": release, **more}).errors
    return error.field
