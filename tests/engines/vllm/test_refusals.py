"""Deployments vLLM refuses: each refusal names the field to change."""

from typing import Any

import pytest

from kvcore.answer import answer

SIZES = {
    "num_hidden_layers": 4, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "max_position_embeddings": 8192, "torch_dtype": "bfloat16",
}  # fmt: skip
LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **SIZES}
SEVEN_TO_ONE = {**LLAMA, "num_attention_heads": 28, "num_key_value_heads": 4, "hidden_size": 3584, "vocab_size": 129024}
GPT_OSS = {
    "architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", **SIZES, "num_attention_heads": 64,
    "sliding_window": 128,
}  # fmt: skip
BLOOM = {
    "architectures": ["BloomForCausalLM"], "model_type": "bloom", "n_layer": 2, "n_head": 32, "hidden_size": 4096,
}  # fmt: skip
GEMMA4 = {
    "architectures": ["Gemma4ForCausalLM"], "model_type": "gemma4_text", **SIZES, "head_dim": 256,
    "num_kv_shared_layers": 2, "layer_types": ["sliding_attention", "full_attention"] * 2,
}  # fmt: skip
QWEN_VL = {
    "architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl", **SIZES,
    "vision_config": {"num_heads": 16, "intermediate_size": 3420},
}  # fmt: skip
QWEN3_5 = {
    "architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5",
    "text_config": {
        **SIZES, "model_type": "qwen3_5_text", "head_dim": 256, "linear_num_key_heads": 16,
        "linear_num_value_heads": 16, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
    },
    "vision_config": {"num_heads": 12, "intermediate_size": 3072},
}  # fmt: skip
VOXTRAL = {
    "architectures": ["VoxtralForConditionalGeneration"], "model_type": "voxtral",
    "text_config": {**SIZES, "model_type": "llama"}, "audio_config": {"num_attention_heads": 20},
}  # fmt: skip
LLAVA = {
    "architectures": ["LlavaForConditionalGeneration"], "model_type": "llava",
    "text_config": {**SIZES, "model_type": "llama", "vocab_size": 32_000, "intermediate_size": 14_336},
    "vision_config": {
        "model_type": "siglip_vision_model", "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
        "num_hidden_layers": 4, "image_size": 224, "patch_size": 16,
    },
}  # fmt: skip
QWEN_MOE = {"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", **SIZES, "moe_intermediate_size": 768}
BAILING = {
    "architectures": ["BailingMoeForCausalLM"], "model_type": "bailing_moe", **SIZES, "num_shared_experts": 2,
}  # fmt: skip
MAMBA = {"architectures": ["MambaForCausalLM"], "model_type": "mamba", "num_hidden_layers": 4, "hidden_size": 1024}
BERT = {"architectures": ["BertModel"], "model_type": "bert", **SIZES, "max_position_embeddings": 512}
QWEN_FP8 = {
    "architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", **SIZES, "moe_intermediate_size": 768,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"},
}  # fmt: skip


def first_error(config: dict[str, Any], **request: Any) -> str:
    report = answer({"config": config, "gpu": "H100", "kv_cache_memory_bytes": 42_949_672_960, **request})
    return report.errors[0].message if report.errors else ""


GPTQ = {"quant_method": "gptq", "bits": 4, "sym": True, "group_size": 128}


def quantized(**quantization: Any) -> dict[str, Any]:
    return {**LLAMA, "quantization_config": quantization}


def ordered(actorder: object) -> dict[str, Any]:
    weights = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 128}
    group = {"targets": ["Linear"], "weights": {**weights, "actorder": actorder}}
    return quantized(quant_method="compressed-tensors", format="pack-quantized", config_groups={"group_0": group})


@pytest.mark.parametrize(
    ("config", "request_fields", "names"),
    [
        (LLAMA, {"tensor_parallel_size": 3}, "tensor_parallel_size"),
        (GPT_OSS, {"tensor_parallel_size": 16}, "does not replicate"),
        (GPT_OSS, {"tensor_parallel_size": 16, "decode_context_parallel_size": 2}, "sliding-window"),
        (SEVEN_TO_ONE, {"tensor_parallel_size": 14, "decode_context_parallel_size": 2}, "7 query heads"),
        (BLOOM, {"max_model_len": -1}, "max_model_len"),
        (BLOOM, {"kv_cache_dtype": "fp8"}, "ALiBi"),
        (GEMMA4, {"pipeline_parallel_size": 2}, "whose cache it reads"),
        (QWEN_VL, {"tensor_parallel_size": 8}, "vision_config.intermediate_size"),
        (QWEN3_5, {"tensor_parallel_size": 8}, "vision_config.num_heads"),
        (VOXTRAL, {"tensor_parallel_size": 8}, "audio_config.num_attention_heads"),
        (LLAMA, {"enable_expert_parallel": True}, "without experts"),
        (LLAVA, {"tensor_parallel_size": 8}, "vision_config.num_attention_heads"),
        (BERT, {"kv_cache_dtype": "nvfp4"}, "no attention backend"),
        (BERT, {"attention_backend": "FLASHINFER"}, "encoder_only"),
        (BERT, {"pipeline_parallel_size": 2}, "pipeline_parallel_size"),
        (BERT, {"tensor_parallel_size": 2, "decode_context_parallel_size": 2}, "8 KV heads"),
        (MAMBA, {"tensor_parallel_size": 2, "decode_context_parallel_size": 2}, "decode_context_parallel_size"),
        ({**LLAMA, "num_attention_heads": 24, "head_dim": 128}, {}, "num_attention_heads"),
        ({**BAILING, "use_bias": True}, {}, "use_bias"),
        ({**QWEN_MOE, "num_experts": 8}, {"tensor_parallel_size": 16}, "8 experts"),
        (LLAMA, {"max_num_batched_tokens": 512, "max_num_seqs": 513}, "max_num_seqs"),
        (LLAMA, {"max_num_seqs": 8193}, "8,192 batched tokens"),
        (QWEN_FP8, {"tensor_parallel_size": 16}, "tensor_parallel_size"),
        (QWEN_FP8, {"kv_cache_dtype": "fp8_e5m2"}, "fp8_e5m2"),
        (quantized(quant_method="fbgemm_fp8"), {}, "deprecated"),
        (quantized(quant_method="gptq", bits=3, sym=True), {}, "quantization_config.bits"),
        (quantized(quant_method="modelslim"), {}, "modelslim"),
        (quantized(**GPTQ, desc_act=True), {}, "quantization_config.desc_act"),
        (quantized(**GPTQ, desc_act=False, dynamic={"+:.*down.*": {"desc_act": True}}), {}, "desc_act"),
        (quantized(quant_method="mxfp4"), {"dtype": "float16"}, "dtype"),
        (quantized(**GPTQ), {"dtype": "float32"}, "gptq"),
        (quantized(quant_method="modelopt", quant_algo="MXFP8"), {"dtype": "float16"}, "dtype"),
        (ordered("group"), {}, "actorder"),
        (ordered(True), {}, "actorder"),
    ],
)
def test_a_deployment_is_refused(config: dict[str, Any], request_fields: dict[str, Any], names: str) -> None:
    assert names in first_error(config, **request_fields)


@pytest.mark.parametrize(
    ("config", "request_fields"),
    [
        (QWEN_FP8, {"tensor_parallel_size": 8}),  # 96 columns still share blocks of 32
        (QWEN_FP8, {"tensor_parallel_size": 16, "enable_expert_parallel": True}),
        (QWEN_VL, {"tensor_parallel_size": 4}),
        (LLAVA, {"tensor_parallel_size": 4}),
        ({**QWEN_MOE, "num_experts": 16}, {"enable_expert_parallel": True}),
        (QWEN3_5, {"tensor_parallel_size": 4}),
        (BERT, {"kv_cache_dtype": "fp8"}),
        (LLAMA, {"max_num_batched_tokens": 512, "max_num_seqs": 512}),
        (quantized(quant_method="gptq", bits=4, sym=True), {}),
        (quantized(**{**GPTQ, "group_size": -1}, desc_act=True), {}),  # one group a column has no order
        (quantized(**GPTQ, desc_act=False, dynamic={"-:.*down.*": {"desc_act": True}}), {}),  # left unquantized
        (quantized(**GPTQ, desc_act=True), {"engine_version": "0.29.0"}),
        (quantized(**GPTQ), {"dtype": "float16"}),
        (ordered("weight"), {}),
        ({**GEMMA4, "num_kv_shared_layers": 0}, {"pipeline_parallel_size": 2}),
        ({**LLAMA, "num_attention_heads": 24, "head_dim": 128}, {"engine_version": "0.32.0"}),
        ({**BAILING, "use_bias": True, "num_shared_experts": 0}, {}),
        ({**QWEN_MOE, "num_experts": 16}, {"tensor_parallel_size": 16}),
        (BLOOM, {"max_model_len": 2048}),
    ],
)
def test_a_deployment_next_to_it_is_answered(config: dict[str, Any], request_fields: dict[str, Any]) -> None:
    assert first_error(config, **request_fields) == ""


def test_an_fp8_cache_needs_more_than_ampere_where_head_sizes_mix() -> None:
    gemma4 = {**GEMMA4, "num_kv_shared_layers": 0}
    assert "several head sizes" in first_error(gemma4, gpu="A100", kv_cache_dtype="fp8")
    assert first_error(gemma4, gpu="A100") == ""


def test_dual_chunk_attention_is_refused() -> None:
    config = {**LLAMA, "dual_chunk_attention_config": {"chunk_size": 262_144}}
    assert "dual_chunk_attention_config" in first_error(config)
