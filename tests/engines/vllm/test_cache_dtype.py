"""Layers of two cache dtypes in one pool: which keep the model dtype, and the page they share."""

from typing import Any

from kvcore.answer import answer

LAYERS, HEADS, SIZE, BF16 = 36, 8, 128, 2
QWEN3_8B = {
    "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": LAYERS, "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": HEADS, "head_dim": SIZE, "max_position_embeddings": 40_960,
    "torch_dtype": "bfloat16",
}  # fmt: skip
GEMMA2 = {
    "architectures": ["Gemma2ForCausalLM"], "model_type": "gemma2", "num_hidden_layers": 26, "hidden_size": 2304,
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096,
    "max_position_embeddings": 8192, "torch_dtype": "bfloat16",
}  # fmt: skip
BUDGET = {"kv_cache_memory_bytes": 10_737_418_240}


def report(config: dict[str, Any], **request: Any) -> Any:
    found = answer({"config": config, "gpu": "H100", **BUDGET, **request})
    assert not found.errors
    return found


def layers_by_dtype(found: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for part in found.layout.parts:
        counts[part.dtype] = counts.get(part.dtype, 0) + part.layers
    return counts


def test_turboquant_leaves_the_first_and_last_two_layers_in_the_model_dtype() -> None:
    found = report(QWEN3_8B, kv_cache_dtype="turboquant_4bit_nc", max_model_len=32_768)
    assert layers_by_dtype(found) == {"bfloat16": 4, "turboquant_4bit_nc": LAYERS - 4}


def test_turboquant_doubles_the_block_until_plain_bytes_hold_a_block_in_the_model_dtype() -> None:
    found = report(QWEN3_8B, kv_cache_dtype="turboquant_4bit_nc", max_model_len=32_768)
    plain = HEADS * 2 * SIZE * BF16
    packed = HEADS * (SIZE // 2 + 2 + SIZE // 2 + 4)
    block = 32
    assert found.plan.block_size == block
    assert found.plan.page_size_bytes == block * (4 * plain + (LAYERS - 4) * packed)


def test_layers_named_by_number_keep_the_model_dtype() -> None:
    found = report(QWEN3_8B, kv_cache_dtype="fp8", kv_cache_dtype_skip_layers=["0", "35"], max_model_len=32_768)
    assert layers_by_dtype(found) == {"bfloat16": 2, "fp8": LAYERS - 2}


def test_window_layers_named_by_kind_keep_the_model_dtype() -> None:
    found = report(GEMMA2, kv_cache_dtype="fp8", kv_cache_dtype_skip_layers=["sliding_window"])
    assert layers_by_dtype(found) == {"bfloat16": 13, "fp8": 13}


def test_window_layers_in_the_model_dtype_are_padded_to_the_shared_page() -> None:
    found = report(GEMMA2, kv_cache_dtype="fp8", kv_cache_dtype_skip_layers=["sliding_window"])
    heads, size = 4, 256
    fp8_token, bf16_token = heads * 2 * size, heads * 2 * size * BF16
    block = 32  # 16 tokens in the model dtype weigh as much as 32 in fp8
    assert block * fp8_token == 16 * bf16_token
    assert {group.page_size_bytes // group.layers for group in found.plan.groups} == {block * fp8_token}


def test_skipping_layers_without_a_quantized_cache_changes_nothing() -> None:
    plain = report(QWEN3_8B, max_model_len=32_768)
    skipping = report(QWEN3_8B, kv_cache_dtype_skip_layers=["0"], max_model_len=32_768)
    assert skipping.capacity.num_gpu_blocks == plain.capacity.num_gpu_blocks


def test_a_full_layer_left_unquantized_beside_padded_windows_is_refused() -> None:
    found = answer({
        "config": GEMMA2, "gpu": "H100", **BUDGET, "kv_cache_dtype": "fp8",
        "kv_cache_dtype_skip_layers": ["0", "1"],
    })  # fmt: skip
    assert found.errors[0].field == "kv_cache_dtype_skip_layers"


def test_a_latent_left_in_the_model_dtype_doubles_the_block_of_fp8_latents() -> None:
    """The engine measures latents as keys and values: twice the bytes per token need twice FlashMLA's block of 64."""
    kernel_block, rank, rope, layers = 64, 512, 64, 4
    config = {
        "architectures": ["DeepseekV2ForCausalLM"], "model_type": "deepseek_v2", "num_hidden_layers": layers,
        "hidden_size": 2048, "num_attention_heads": 16, "kv_lora_rank": rank, "qk_rope_head_dim": rope,
        "qk_nope_head_dim": 128, "v_head_dim": 128, "max_position_embeddings": 40_960, "torch_dtype": "bfloat16",
    }  # fmt: skip
    fp8 = report(config, kv_cache_dtype="fp8")
    mixed = report(config, kv_cache_dtype="fp8", kv_cache_dtype_skip_layers=["1"])
    assert fp8.plan.block_size == kernel_block
    assert mixed.plan.block_size == 2 * kernel_block
    assert mixed.plan.page_size_bytes == 2 * kernel_block * (rank + rope) * (layers - 1 + BF16)
    assert report(config, kv_cache_dtype="fp8", kv_cache_dtype_skip_layers=["0"]).plan.block_size == kernel_block
