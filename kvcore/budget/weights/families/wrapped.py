"""Models that see or hear, built around the language model their config names."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.families.dense_others import DENSE_OTHERS
from kvcore.budget.weights.families.gemma import GEMMA
from kvcore.budget.weights.families.mixture_others import DEEPSEEK_MOE, MIXTURE_OTHERS
from kvcore.budget.weights.families.mixtures import GLM4_MOE_BLOCKS
from kvcore.budget.weights.families.older import OLDER
from kvcore.budget.weights.families.qwen import QWEN
from kvcore.budget.weights.families.text import LLAMA_BLOCKS, QWEN2_BLOCKS, QWEN3_BLOCKS, TEXT
from kvcore.budget.weights.modules import Network
from kvcore.budget.weights.parts.attention import grouped_query
from kvcore.budget.weights.parts.deepseek_towers import (
    deepseek_ocr2_vision,
    deepseek_ocr_vision,
    row_separators,
    view_separator,
)
from kvcore.budget.weights.parts.facts import ModelBlock, flag
from kvcore.budget.weights.parts.feed_forward import gated_mlp
from kvcore.budget.weights.parts.glm_towers import glm4v_vision, glm_ocr_vision
from kvcore.budget.weights.parts.image_towers import (
    llava_next_vision,
    llava_onevision_vision,
    llava_vision,
    pixtral_vision,
    unbuilt_clip_params,
)
from kvcore.budget.weights.parts.other_image_towers import (
    cohere2_vision,
    intern_vision,
    llava_next_video_vision,
    paligemma_vision,
)
from kvcore.budget.weights.parts.speech_towers import audio_flamingo, glm_asr, qwen2_audio, qwen3_asr, voxtral
from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.architectures.wrappers import stated_language_model

TERSE_LLAMA = Decoder(blocks=(LLAMA_BLOCKS[0], gated_mlp(intermediate="intermediate_size=11008", bias="mlp_bias")))
"""A Llama whose nested config leaves out what Hugging Face `LlamaConfig` supplies."""

LANGUAGE_MODELS: Mapping[str, Builder] = {
    **TEXT, **QWEN, **GEMMA, **OLDER, **DENSE_OTHERS, **MIXTURE_OTHERS, "LlamaForCausalLM": TERSE_LLAMA,
}  # fmt: skip
"""Language models a wrapper may name."""


def around(*towers: ModelBlock, unloaded: Callable[[ModelConfig], int | None] | None = None) -> Builder:
    """A wrapper that builds the language model its config names (vLLM 0.33.0 `init_vllm_registered_model`).

    Args:
        towers: What stands before the language model, on the first stage.
        unloaded: Published parameters the engine does not load.
    """

    def build(config: ModelConfig) -> Network:
        name = stated_language_model(config)
        row = LANGUAGE_MODELS.get(name)
        if not isinstance(row, Decoder):
            rule = f"kvcore does not know the tensors of a wrapped {name}, so the weights are unknown"
            raise config_error(config.path("architectures"), name, rule, "Give weights_gib from the log instead.")
        published = unloaded or row.unloaded
        return replace(row, first=towers, nested=True, unloaded=published)(config)

    return build


def dropped_biases(config: ModelConfig) -> int:
    """Biases of queries, keys and values that a config without a text section states at its root.

    The engine's config class does not pass them on to the language model (transformers 5.20 `Glm4vConfig`).
    """
    is_dropped = bool(config.root.get("attention_bias")) and not flag(config, "attention_bias")
    outputs = (config.num_attention_heads + 2 * config.num_key_value_heads) * config.head_dim
    return config.num_hidden_layers * outputs if is_dropped else 0


GLM4_BLOCKS = (grouped_query(qkv_bias="attention_bias"), gated_mlp(intermediate="intermediate_size=13696"))
"""GLM-4 with what Hugging Face `Glm4vTextConfig` supplies."""


WRAPPED: Mapping[str, Builder] = {
    "AudioFlamingo3ForConditionalGeneration": Decoder(blocks=QWEN2_BLOCKS, first=(audio_flamingo,), nested=True),
    "Cohere2VisionForConditionalGeneration": around(cohere2_vision),
    "DeepseekOCRForCausalLM": replace(DEEPSEEK_MOE, first=(deepseek_ocr_vision,), every=(row_separators,), nested=True),
    "DeepseekOCR2ForCausalLM": replace(
        DEEPSEEK_MOE, first=(deepseek_ocr2_vision,), every=(view_separator,), nested=True
    ),
    "Glm4vForConditionalGeneration": Decoder(
        blocks=GLM4_BLOCKS, norms=4, first=(glm4v_vision,), nested=True, unloaded=dropped_biases
    ),
    "Glm4vMoeForConditionalGeneration": Decoder(blocks=GLM4_MOE_BLOCKS, first=(glm4v_vision,), nested=True),
    "GlmAsrForConditionalGeneration": Decoder(
        blocks=(grouped_query(qkv_bias="attention_bias"), gated_mlp()), first=(glm_asr,), nested=True
    ),
    "GlmOcrForConditionalGeneration": Decoder(blocks=GLM4_BLOCKS, norms=4, first=(glm_ocr_vision,), nested=True),
    "InternVLForConditionalGeneration": around(intern_vision),
    "LlavaForConditionalGeneration": around(llava_vision, unloaded=unbuilt_clip_params),
    "LlavaNextForConditionalGeneration": around(llava_next_vision, unloaded=unbuilt_clip_params),
    "LlavaNextVideoForConditionalGeneration": around(llava_next_video_vision, unloaded=unbuilt_clip_params),
    "LlavaOnevisionForConditionalGeneration": around(llava_onevision_vision),
    "Mistral3ForConditionalGeneration": around(pixtral_vision),
    "PaliGemmaForConditionalGeneration": around(paligemma_vision),
    "Qwen2AudioForConditionalGeneration": Decoder(blocks=QWEN2_BLOCKS, first=(qwen2_audio,), nested=True),
    "Qwen3ASRForConditionalGeneration": Decoder(blocks=QWEN3_BLOCKS, first=(qwen3_asr,), nested=True),
    "VoxtralForConditionalGeneration": around(voxtral),
}
"""Builders of wrappers."""
