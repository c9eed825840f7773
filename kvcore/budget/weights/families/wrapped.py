"""Models that see or hear, built around the language model their config names."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.families.deepseek import DEEPSEEK_BLOCKS, kimi_vision
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
from kvcore.budget.weights.parts.facts import ModelBlock, flag, size
from kvcore.budget.weights.parts.feed_forward import gated_mlp
from kvcore.budget.weights.parts.glm_towers import GLM_OCR_DEFAULTS, glm4v_vision, glm_ocr_vision
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
    paddle_vision,
    paligemma_vision,
)
from kvcore.budget.weights.parts.speech_towers import audio_flamingo, glm_asr, qwen2_audio, qwen3_asr, voxtral
from kvcore.budget.weights.parts.towers import tower_config
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
    """Biases of queries, keys and values that GLM-4.1V publishes and the engine loads only where the config says so.

    Its config class keeps what stands beside the text section from it (transformers 5.20 `Glm4vConfig`).
    """
    outputs = (config.num_attention_heads + 2 * config.num_key_value_heads) * config.head_dim
    return 0 if flag(config, "attention_bias") else config.num_hidden_layers * outputs


def key_biases(config: ModelConfig) -> int:
    """Biases of keys that the engine keeps in a tower that hears and the checkpoint does not have."""
    tower = tower_config(config, "audio_config")
    return -size(tower, "num_hidden_layers") * size(tower, "hidden_size")


def end_of_row(config: ModelConfig) -> int:
    """The published end of an image row, and what LLaVA's tower leaves unbuilt."""
    return unbuilt_clip_params(config) + config.hidden_size


def merger_width(config: ModelConfig) -> int | None:
    """Nothing, where the published merger is as wide as the language model, as the engine builds it; else unknown."""
    tower = tower_config(config, "vision_config", GLM_OCR_DEFAULTS)
    published = size(tower, "out_hidden_size") * size(tower, "in_channels")
    return 0 if config.integer("intermediate_size") == published else None


def pooling_head(config: ModelConfig) -> int | None:
    """Nothing, unless the tower is published with a pooling head, which the engine does not build: then unknown."""
    return None if flag(tower_config(config, "vision_config"), "vision_use_head=true") else 0


GLM4_BLOCKS = (grouped_query(qkv_bias="attention_bias"), gated_mlp(intermediate="intermediate_size=13696"))
"""GLM-4 with what Hugging Face `Glm4vTextConfig` supplies."""


WRAPPED: Mapping[str, Builder] = {
    "AudioFlamingo3ForConditionalGeneration": Decoder(blocks=QWEN2_BLOCKS, first=(audio_flamingo,), nested=True),
    "Cohere2VisionForConditionalGeneration": around(cohere2_vision, unloaded=pooling_head),
    "DeepseekOCRForCausalLM": replace(DEEPSEEK_MOE, first=(deepseek_ocr_vision,), every=(row_separators,), nested=True),
    "DeepseekOCR2ForCausalLM": replace(
        DEEPSEEK_MOE, first=(deepseek_ocr2_vision,), every=(view_separator,), nested=True
    ),
    "Glm4vForConditionalGeneration": Decoder(
        blocks=GLM4_BLOCKS, norms=4, first=(glm4v_vision,), nested=True, unloaded=dropped_biases
    ),
    "Glm4vMoeForConditionalGeneration": Decoder(blocks=GLM4_MOE_BLOCKS, first=(glm4v_vision,), nested=True),
    "GlmAsrForConditionalGeneration": Decoder(
        blocks=(grouped_query(qkv_bias="attention_bias"), gated_mlp()),
        first=(glm_asr,),
        nested=True,
        unloaded=key_biases,
    ),
    "GlmOcrForConditionalGeneration": Decoder(
        blocks=GLM4_BLOCKS, norms=4, first=(glm_ocr_vision,), nested=True, unloaded=merger_width
    ),
    "InternVLForConditionalGeneration": around(intern_vision),
    "KimiVLForConditionalGeneration": Decoder(blocks=DEEPSEEK_BLOCKS, first=(kimi_vision,), nested=True),
    "LightOnOCRForConditionalGeneration": around(pixtral_vision),
    "LlavaForConditionalGeneration": around(llava_vision, unloaded=unbuilt_clip_params),
    "LlavaNextForConditionalGeneration": around(llava_next_vision, unloaded=unbuilt_clip_params),
    "LlavaNextVideoForConditionalGeneration": around(llava_next_video_vision, unloaded=end_of_row),
    "LlavaOnevisionForConditionalGeneration": around(llava_onevision_vision),
    "Mistral3ForConditionalGeneration": around(pixtral_vision),
    "PaddleOCRVLForConditionalGeneration": Decoder(
        blocks=(grouped_query(), gated_mlp()), tied_by_default=True, first=(paddle_vision,), nested=True
    ),
    "PaliGemmaForConditionalGeneration": around(paligemma_vision),
    "Qwen2AudioForConditionalGeneration": Decoder(blocks=QWEN2_BLOCKS, first=(qwen2_audio,), nested=True),
    "Qwen3ASRForConditionalGeneration": Decoder(blocks=QWEN3_BLOCKS, first=(qwen3_asr,), nested=True),
    "VoxtralForConditionalGeneration": around(voxtral, unloaded=key_biases),
}
"""Builders of wrappers."""
