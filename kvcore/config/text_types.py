"""Model type of a language model whose config does not state one.

Source: the sub-configuration classes that the wrapper classes of transformers 5.20 name, and its causal-LM mapping.
"""

from collections.abc import Mapping

WRAPPER_TEXT_TYPES: Mapping[str, str] = {
    "aria": "aria_text", "aya_vision": "cohere2", "cohere2_vision": "cohere2", "emu3": "emu3_text_model",
    "ernie4_5_vl_moe": "ernie4_5_vl_moe_text", "exaone4_5": "exaone4", "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text", "gemma4": "gemma4_text", "gemma4_unified": "gemma4_unified_text",
    "glm46v": "glm4v_text", "glm4v": "glm4v_text", "glm4v_moe": "glm4v_moe_text", "glm_ocr": "glm_ocr_text",
    "glmasr": "llama", "got_ocr2": "qwen2", "granite4_vision": "granite4_vision_text", "granite_speech": "granite",
    "hunyuan_vl": "hunyuan_vl_text", "idefics2": "mistral", "idefics3": "llama", "internvl": "qwen2",
    "kimi_k25": "deepseek_v3", "lfm2_vl": "lfm2", "lighton_ocr": "qwen3", "llama4": "llama4_text", "llava": "llama",
    "llava_next": "llama", "llava_next_video": "llama", "llava_onevision": "qwen2", "mistral3": "mistral",
    "molmo2": "molmo2_text", "muse_glimmer": "muse_glimmer_text", "nemotron_h_omni": "nemotron_h",
    "ovis2": "qwen2", "paddleocr_vl": "paddleocr_vl_text", "paligemma": "gemma", "qianfan_ocr": "qwen3",
    "qwen2_5_omni": "qwen2_5_omni_text", "qwen2_5_omni_thinker": "qwen2_5_omni_text",
    "qwen2_5_vl": "qwen2_5_vl_text", "qwen2_audio": "qwen2", "qwen2_vl": "qwen2_vl_text", "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text", "qwen3_asr": "qwen3", "qwen3_omni_moe": "qwen3_omni_moe_text",
    "qwen3_omni_moe_thinker": "qwen3_omni_moe_text", "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text", "smolvlm": "llama", "step3p7": "step3p5", "vipllava": "llama",
    "voxtral": "llama", "voxtral_realtime": "voxtral_realtime_text",
}  # fmt: skip
"""Text model type by the wrapper's, where the nested config names none or stands flat in the root."""

NESTED_ONLY = frozenset({"glm4v", "glm4v_moe", "glm_ocr", "qwen3_vl", "qwen3_vl_moe"})
"""Wrappers whose class reads the language model's facts from ``text_config`` only: flat keys give way to its defaults."""

ARCHITECTURE_TYPES: Mapping[str, str] = {
    "Cohere2ForCausalLM": "cohere2", "Exaone4ForCausalLM": "exaone4", "FalconForCausalLM": "falcon",
    "GPTBigCodeForCausalLM": "gpt_bigcode", "Gemma2ForCausalLM": "gemma2", "Gemma3ForCausalLM": "gemma3_text",
    "Gemma3nForCausalLM": "gemma3n_text", "Gemma4ForCausalLM": "gemma4_text", "GemmaForCausalLM": "gemma",
    "GptOssForCausalLM": "gpt_oss", "LlamaForCausalLM": "llama", "Llama4ForCausalLM": "llama4_text",
    "MistralForCausalLM": "mistral", "MixtralForCausalLM": "mixtral", "Olmo3ForCausalLM": "olmo3",
    "Qwen2ForCausalLM": "qwen2", "Qwen2MoeForCausalLM": "qwen2_moe", "Qwen3ForCausalLM": "qwen3",
    "Qwen3MoeForCausalLM": "qwen3_moe", "SmolLM3ForCausalLM": "smollm3", "Starcoder2ForCausalLM": "starcoder2",
}  # fmt: skip
"""Model type by architecture, for configs that leave ``model_type`` out."""
