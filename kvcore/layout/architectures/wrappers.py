"""Multimodal wrappers: rows that take the language model's own row, since vision and audio towers keep no cache."""

from collections.abc import Callable, Mapping, Sequence

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.architecture import Architecture
from kvcore.layout.architectures.rows import NO_PIPELINE, PLAIN
from kvcore.layout.traits import Traits

TEXT_ARCHITECTURES: Mapping[str, str] = {
    "aria_text": "LlamaForCausalLM", "cohere": "CohereForCausalLM", "cohere2": "Cohere2ForCausalLM",
    "deepseek_v3": "DeepseekV3ForCausalLM", "gemma": "GemmaForCausalLM", "gemma2": "Gemma2ForCausalLM",
    "gemma3_text": "Gemma3ForCausalLM", "gemma4_text": "Gemma4ForCausalLM", "glm4": "Glm4ForCausalLM",
    "glm4_moe": "Glm4MoeForCausalLM", "gpt_oss": "GptOssForCausalLM", "granite": "GraniteForCausalLM",
    "granitemoehybrid": "GraniteMoeHybridForCausalLM", "internlm2": "InternLM2ForCausalLM",
    "hyperclovax": "HyperCLOVAXForCausalLM", "llama": "LlamaForCausalLM", "ministral3": "Ministral3ForCausalLM",
    "mistral": "MistralForCausalLM", "mixtral": "MixtralForCausalLM", "olmo2": "Olmo2ForCausalLM",
    "opt": "OPTForCausalLM", "phi": "PhiForCausalLM", "phi3": "Phi3ForCausalLM", "qwen2": "Qwen2ForCausalLM",
    "qwen2_moe": "Qwen2MoeForCausalLM", "qwen3": "Qwen3ForCausalLM", "qwen3_moe": "Qwen3MoeForCausalLM",
    "smollm3": "SmolLM3ForCausalLM", "step3p5": "Step3p5ForCausalLM",
}  # fmt: skip
"""Causal language model of a text model type (transformers 5.20, its causal-LM mapping)."""


VISION = ("vision_config.num_heads", "vision_config.intermediate_size")
"""Sizes vision towers divide over the ranks (vLLM 0.33.0, for example `Qwen2_5_VisionAttention`)."""

SIGLIP = ("vision_config.num_attention_heads", "vision_config.intermediate_size")
"""Sizes of CLIP's and SigLIP's encoders and their like (vLLM 0.33.0, for example `SiglipAttention`)."""

WHISPER = ("audio_config.num_attention_heads",)
"""Heads of a Whisper encoder, whose `WhisperAttention` divides them."""

OMNI = tuple(f"thinker_config.{key}" for key in (*VISION, "audio_config.encoder_attention_heads"))
MIMO_OMNI = (*VISION, "vision_config.num_key_value_heads")
NO_TOWER: tuple[str, ...] = ()
"""Towers that run whole on every rank, or whose division is not checked here."""


def _no_layers(config: ModelConfig) -> Sequence[str]:
    raise AssertionError("a wrapper's row is replaced by its language model's")


def wrapper(
    module: str,
    language_model: str | None = None,
    traits: Traits = PLAIN,
    towers: tuple[str, ...] = NO_TOWER,
) -> Architecture:
    """A wrapper around a language model.

    Args:
        module: The engine's module under ``model_executor/models``.
        language_model: Architecture the engine's class always builds; None: the text config's own.
        traits: What the wrapper means to engines.
        towers: Sizes of the towers that tensor parallelism must divide.
    """
    return Architecture(
        layer_kinds=_no_layers,
        caches={},
        traits=traits,
        tower_keys=towers,
        language_model=_always(language_model) if language_model else stated_language_model,
        source=f"vLLM 0.33.0 `models/{module}.py`",
    )


def stated_language_model(config: ModelConfig) -> str:
    """The text config's own architecture, else the one its model type implies (vLLM `init_vllm_registered_model`).

    Raises:
        ConfigError: Neither is stated or known.
    """
    stated = config.text.get("architectures") if config.text_path else None
    if isinstance(stated, list | tuple) and stated and isinstance(stated[0], str):
        return stated[0]
    implied = TEXT_ARCHITECTURES.get(config.model_type)
    if implied is None:
        rule = "kvcore does not know which language model this type is"
        source = "The wrapper's code in the engine (its language_model) would settle it."
        raise config_error(config.path("model_type"), config.model_type or None, rule, source)
    return implied


def _always(name: str) -> Callable[[ModelConfig], str]:
    return lambda _config: name


WRAPPERS: Mapping[str, Architecture] = {
    "AriaForConditionalGeneration": wrapper("aria", "LlamaForCausalLM", NO_PIPELINE, towers=SIGLIP),
    "AudioFlamingo3ForConditionalGeneration": wrapper("audioflamingo3", "Qwen2ForCausalLM"),
    "Blip2ForConditionalGeneration": wrapper("blip2"),
    "Cohere2VisionForConditionalGeneration": wrapper("cohere2_vision", towers=SIGLIP),
    "DotsOCRForCausalLM": wrapper("dots_ocr", "Qwen2ForCausalLM"),
    "Eagle2_5_VLForConditionalGeneration": wrapper("eagle2_5_vl", towers=SIGLIP),
    "Emu3ForConditionalGeneration": wrapper("transformers/multimodal", "LlamaForCausalLM"),
    "Ernie4_5_VLMoeForConditionalGeneration": wrapper("ernie45_vl", "Ernie4_5_MoeForCausalLM"),
    "Exaone4_5_ForConditionalGeneration": wrapper("exaone4_5", "Exaone4ForCausalLM"),
    "FunAudioChatForConditionalGeneration": wrapper("funaudiochat", "Qwen3ForCausalLM"),
    "GLM4VForCausalLM": wrapper("glm4v", "ChatGLMForConditionalGeneration"),
    "Gemma3ForConditionalGeneration": wrapper("gemma3_mm", "Gemma3ForCausalLM", towers=SIGLIP),
    "Gemma3nForConditionalGeneration": wrapper("gemma3n_mm", "Gemma3nForCausalLM", NO_PIPELINE),
    "Gemma4ForConditionalGeneration": wrapper("gemma4_mm", "Gemma4ForCausalLM"),
    "Gemma4UnifiedForConditionalGeneration": wrapper("gemma4_unified", "Gemma4ForCausalLM"),
    "GlmAsrForConditionalGeneration": wrapper("glmasr", "LlamaForCausalLM"),
    "GlmOcrForConditionalGeneration": wrapper("glm_ocr", "Glm4ForCausalLM"),
    "Glm4vForConditionalGeneration": wrapper("glm4_1v", "Glm4ForCausalLM", towers=VISION),
    "Glm4vMoeForConditionalGeneration": wrapper("glm4_1v", "Glm4MoeForCausalLM", towers=VISION),
    "GraniteSpeechForConditionalGeneration": wrapper("granite_speech"),
    "H2OVLChatModel": wrapper("h2ovl"),
    "HCXVisionV2ForCausalLM": wrapper("hyperclovax_vision_v2"),
    "HunYuanVLForConditionalGeneration": wrapper("transformers/multimodal", "HunYuanDenseV1ForCausalLM"),
    "Idefics3ForConditionalGeneration": wrapper("idefics3", "LlamaForCausalLM", NO_PIPELINE, towers=SIGLIP),
    "InternS1ForConditionalGeneration": wrapper("interns1"),
    "InternVLForConditionalGeneration": wrapper("interns1"),
    "IsaacForConditionalGeneration": wrapper("isaac", "Qwen3ForCausalLM"),
    "KeyeForConditionalGeneration": wrapper("keye", "Qwen3ForCausalLM"),
    "KeyeVL1_5ForConditionalGeneration": wrapper("keye_vl1_5", "Qwen3ForCausalLM"),
    "LightOnOCRForConditionalGeneration": wrapper("lightonocr"),
    "Llama4ForConditionalGeneration": wrapper("mllama4", "Llama4ForCausalLM"),
    "LlavaForConditionalGeneration": wrapper("llava", towers=SIGLIP),
    "LlavaNextForConditionalGeneration": wrapper("llava_next", towers=SIGLIP),
    "LlavaNextVideoForConditionalGeneration": wrapper("llava_next_video", towers=SIGLIP),
    "LlavaOnevisionForConditionalGeneration": wrapper("llava_onevision", towers=SIGLIP),
    "MiDashengLMModel": wrapper("midashenglm", "Qwen2ForCausalLM"),
    "MiMoV2OmniForCausalLM": wrapper("mimo_v2_omni", "MiMoV2ForCausalLM", towers=MIMO_OMNI),
    "Mistral3ForConditionalGeneration": wrapper("mistral3"),
    "Molmo2ForConditionalGeneration": wrapper("molmo2", "Qwen3ForCausalLM"),
    "MolmoForCausalLM": wrapper("molmo", "GlmForCausalLM"),
    "MuseGlimmerForConditionalGeneration": wrapper("muse_glimmer", "MuseGlimmerForCausalLM"),
    "OpenPanguVLForConditionalGeneration": wrapper("openpangu_vl", "PanguEmbeddedForCausalLM"),
    "PaddleOCRVLForConditionalGeneration": wrapper("paddleocr_vl", "Ernie4_5ForCausalLM", NO_PIPELINE),
    "PaliGemmaForConditionalGeneration": wrapper("paligemma", towers=SIGLIP),
    "Phi3VForCausalLM": wrapper("phi3v", "LlamaForCausalLM"),
    "Phi4ForCausalLMV": wrapper("phi4siglip", "Phi3ForCausalLM"),
    "Phi4MMForCausalLM": wrapper("phi4mm", "LlamaForCausalLM", NO_PIPELINE),
    "PixtralForConditionalGeneration": wrapper("pixtral"),
    "Qwen2AudioForConditionalGeneration": wrapper("qwen2_audio", "Qwen2ForCausalLM"),
    "Qwen2VLForConditionalGeneration": wrapper("qwen2_vl", "Qwen2ForCausalLM", towers=VISION),
    "Qwen2_5OmniForConditionalGeneration": wrapper("qwen2_5_omni_thinker", "Qwen2ForCausalLM", towers=OMNI),
    "Qwen2_5OmniModel": wrapper("qwen2_5_omni_thinker", "Qwen2ForCausalLM", towers=OMNI),
    "Qwen2_5_VLForConditionalGeneration": wrapper("qwen2_5_vl", "Qwen2ForCausalLM", towers=VISION),
    "Qwen3ASRForConditionalGeneration": wrapper("qwen3_asr", "Qwen3ForCausalLM"),
    "Qwen3OmniMoeForConditionalGeneration": wrapper("qwen3_omni_moe_thinker", "Qwen3MoeForCausalLM", towers=OMNI),
    "Qwen3VLForConditionalGeneration": wrapper("qwen3_vl", "Qwen3ForCausalLM", towers=VISION),
    "Qwen3VLMoeForConditionalGeneration": wrapper("qwen3_vl_moe", "Qwen3MoeForCausalLM", towers=VISION),
    "SmolVLMForConditionalGeneration": wrapper("smolvlm", "LlamaForCausalLM", NO_PIPELINE, towers=SIGLIP),
    "Step3p7ForConditionalGeneration": wrapper("step3p7"),
    "UltravoxModel": wrapper("ultravox"),
    "VoxtralForConditionalGeneration": wrapper("voxtral", towers=WHISPER),
}
"""One row per wrapper."""
