"""What vLLM's classes read of a config: keys they pass over change nothing."""

from typing import Any

import pytest

from kvcore.answer import answer

TOKENS, LAYERS, HIDDEN, HEADS, KV_HEADS, BFLOAT16 = 16, 4, 1024, 16, 4, 2
SIZES = {
    "num_hidden_layers": LAYERS, "hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
    "max_position_embeddings": 4096, "torch_dtype": "bfloat16",
}  # fmt: skip


def page_bytes(architecture: str, model_type: str, **keys: Any) -> int:
    """Bytes of one block of one layer."""
    config = {"architectures": [architecture], "model_type": model_type, **SIZES, **keys}
    report = answer({"config": config, "kv_cache_memory_bytes": 1 << 30})
    assert report.plan is not None, report.errors
    return report.plan.stage_page_size_bytes[0] // LAYERS


@pytest.mark.parametrize(
    ("architecture", "model_type"), [("Qwen2ForCausalLM", "qwen2"), ("InternLM2ForCausalLM", "internlm2")]
)
def test_a_class_of_whole_heads_reads_no_head_dim(architecture: str, model_type: str) -> None:
    assert page_bytes(architecture, model_type, head_dim=128) == TOKENS * KV_HEADS * 2 * (HIDDEN // HEADS) * BFLOAT16


def test_other_classes_read_it() -> None:
    assert page_bytes("Qwen3ForCausalLM", "qwen3", head_dim=128) == TOKENS * KV_HEADS * 2 * 128 * BFLOAT16


def test_classes_of_before_grouped_queries_read_no_kv_heads() -> None:
    assert page_bytes("OPTForCausalLM", "opt", ffn_dim=4096) == TOKENS * HEADS * 2 * (HIDDEN // HEADS) * BFLOAT16


def test_a_nested_config_is_read_the_same_way() -> None:
    text = {**SIZES, "model_type": "qwen2_5_vl_text", "head_dim": 128}
    found = page_bytes("Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl", text_config=text)
    assert found == TOKENS * KV_HEADS * 2 * (HIDDEN // HEADS) * BFLOAT16
