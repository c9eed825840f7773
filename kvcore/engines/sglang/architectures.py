"""Architectures by what SGLang 0.5.23 makes of them: tables of names, read from the symbols each states."""

from collections.abc import Mapping

HYBRID_WINDOW = frozenset({
    "GptOssForCausalLM", "GraniteSWAForCausalLM", "GraniteMoeSWAForCausalLM", "Llama4ForConditionalGeneration",
    "MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM", "Step3p5ForCausalLM", "Step3p7ForConditionalGeneration",
    "Gemma4ForCausalLM", "Gemma4ForConditionalGeneration", "Gemma4UnifiedForConditionalGeneration", "LagunaForCausalLM",
    "MellumForCausalLM", "MuseGlimmerForCausalLM", "MuseGlimmerForConditionalGeneration",
})  # fmt: skip
"""Window layers get a pool of their own (`is_hybrid_swa_model`); all others bill windows as full attention."""

WINDOW_LEAVES_OUT_QUERY = frozenset({
    "GptOssForCausalLM", "GraniteSWAForCausalLM", "GraniteMoeSWAForCausalLM", "Gemma4ForCausalLM",
    "Gemma4ForConditionalGeneration", "Gemma4UnifiedForConditionalGeneration", "MellumForCausalLM",
    "MuseGlimmerForCausalLM", "MuseGlimmerForConditionalGeneration",
})  # fmt: skip
"""Classes whose `get_attention_sliding_window_size` answers one less than the config's window."""

LATENT = frozenset({
    "DeepseekV2ForCausalLM", "DeepseekV32ForCausalLM", "DeepseekV3ForCausalLM", "Glm4MoeLiteForCausalLM",
    "GlmMoeDsaForCausalLM", "LongcatFlashForCausalLM", "DotsVLMForCausalLM", "MistralLarge3ForCausalLM",
    "PixtralForConditionalGeneration", "KimiK25ForConditionalGeneration", "KimiVLForConditionalGeneration",
    "KimiLinearForCausalLM", "DeepseekVL2ForCausalLM", "BailingMoeV2_5ForCausalLM", "SarvamMLAForCausalLM",
})  # fmt: skip
"""Latents stored as such (`ModelConfig._derive_model_shapes`, `AttentionArch.MLA`)."""

LATENT_WHERE_STATED = frozenset({"PixtralForConditionalGeneration"})
"""Latent only where the config states ``kv_lora_rank``: the name is shared with a model of plain attention."""

ATTENTION_SINKS = frozenset({"GptOssForCausalLM", "GraniteSWAForCausalLM", "GraniteMoeSWAForCausalLM"})
"""Learned sinks, which FlashInfer cannot read (`SWA_SINK_ARCHS`)."""

SINKS_WHERE_STATED = frozenset({"MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM"})
"""Learned sinks where the config says so (`ModelConfig._detect_attention_sinks`)."""

SMALL_PREFILL_CAPTURES = frozenset({"MuseGlimmerForCausalLM", "MuseGlimmerForConditionalGeneration"})
"""Prefill is captured up to 512 tokens only (`apply_muse_glimmer_prefill_cuda_graph_max_bs_default`)."""

NO_ATTENTION_DP = frozenset({"MiniCPMForCausalLM", "Ernie4_5_VLMoeForConditionalGeneration"})
"""Data-parallel attention is refused (`_minicpm_sala_overrides`, `_ernie45_vl_overrides`)."""


SPARSE_LATENT = frozenset({
    "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "MistralLarge3ForCausalLM", "PixtralForConditionalGeneration",
    "GlmMoeDsaForCausalLM", "LongcatFlashForCausalLM",
})  # fmt: skip
"""With ``index_topk`` an indexer chooses tokens (`is_deepseek_dsa`)."""

DEEPSEEK_FAMILY = frozenset({
    "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "KimiK25ForConditionalGeneration", "MistralLarge3ForCausalLM",
    "PixtralForConditionalGeneration", "GlmMoeDsaForCausalLM", "LongcatFlashForCausalLM",
})  # fmt: skip
"""Latent models with backend defaults of their own on Blackwell (`_DEEPSEEK_FAMILY_ARCHS`)."""

STATES = frozenset({
    "KimiLinearForCausalLM", "Qwen3NextForCausalLM", "Qwen3_5MoeForConditionalGeneration",
    "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForCausalLM", "Qwen3_5ForCausalLM", "NemotronHForCausalLM",
    "FalconH1ForCausalLM", "Lfm2ForCausalLM", "Lfm2MoeForCausalLM", "GraniteMoeHybridForCausalLM",
    "Lfm2VlForConditionalGeneration",
})  # fmt: skip
"""Hybrids whose states get a pool of slots (`mambaish_config`)."""

STRATEGY_LEFT_OPEN = frozenset({"Lfm2VlForConditionalGeneration"})
"""Hybrids for which ``auto`` is never settled: no snapshots, and the scheduler stays ahead (`_MAMBA_RADIX_CACHE_ARCHS`)."""

EXTRA_BUFFER = STATES - {"Lfm2ForCausalLM", "Lfm2MoeForCausalLM", *STRATEGY_LEFT_OPEN}
"""Hybrids that can keep snapshots beside the running state (`_MAMBA_EXTRA_BUFFER_ARCHS`)."""

QWEN_HYBRIDS = frozenset({
    "Qwen3NextForCausalLM", "Qwen3_5MoeForConditionalGeneration", "Qwen3_5ForConditionalGeneration",
})  # fmt: skip

KIMI_DELTA = frozenset({"KimiLinearForCausalLM"})
"""Kimi Delta Attention, under which prefill is not captured (`uses_kda_attention`)."""

DEEPSEEK_V4 = "DeepseekV4ForCausalLM"

FUSED_QUERY_HEADS = frozenset({"MiMoV2ForCausalLM"})
"""Where the config says so, query, key and value weights are fused per KV head, which attention ranks must divide."""

TEXT_ONLY_BY_DEFAULT = frozenset({
    "Gemma3ForConditionalGeneration", "Llama4ForConditionalGeneration", "Step3VLForConditionalGeneration",
})  # fmt: skip
"""Vision is off unless ``--enable-multimodal`` is given (`ModelConfig.__init__`)."""

MIMO_MULTIMODAL = frozenset({"MiMoV2ForCausalLM"})
"""Multimodal where the config states both a vision and an audio tower (`MIMO_V2_MULTIMODAL_ARCHS`)."""

FLAT_MULTIMODAL = frozenset({
    "BailingMM2NativeForConditionalGeneration", "BailingMMNativeForConditionalGeneration",
    "Cohere2VisionForConditionalGeneration", "DeepseekOCRForCausalLM", "DeepseekVL2ForCausalLM", "DotsOCRForCausalLM",
    "DotsVLMForCausalLM", "Ernie4_5_VLMoeForConditionalGeneration", "Gemma3ForConditionalGeneration",
    "Gemma3nForConditionalGeneration", "Gemma4ForConditionalGeneration", "Gemma4UnifiedForConditionalGeneration",
    "Glm4vForConditionalGeneration", "Glm4vMoeForConditionalGeneration", "GlmAsrForConditionalGeneration",
    "GlmOcrForConditionalGeneration", "InternS1ForConditionalGeneration", "InternS2PreviewForConditionalGeneration",
    "InternVLChatModel", "KimiK25ForConditionalGeneration", "KimiVLForConditionalGeneration",
    "Lfm2VlForConditionalGeneration", "LightOnOCRForConditionalGeneration", "Llama4ForConditionalGeneration",
    "LlavaForConditionalGeneration", "LlavaLlamaForCausalLM", "LlavaMistralForCausalLM", "LlavaQwenForCausalLM",
    "LlavaVidForCausalLM", "MiDashengLMModel", "MiMoV2ForCausalLM", "MiniCPMO", "MiniCPMV",
    "Mistral3ForConditionalGeneration", "MultiModalityCausalLM", "MuseGlimmerForConditionalGeneration",
    "NemotronH_Nano_VL_V2", "PaddleOCRVLForConditionalGeneration", "Phi4MMForCausalLM",
    "PixtralForConditionalGeneration", "Qwen2AudioForConditionalGeneration", "Qwen2VLForConditionalGeneration",
    "Qwen2_5_VLForConditionalGeneration", "Qwen3ASRForConditionalGeneration", "Qwen3OmniMoeForConditionalGeneration",
    "Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration", "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration", "Step3p7ForConditionalGeneration", "VoxtralForConditionalGeneration",
})  # fmt: skip
"""Multimodal even where the config does not nest its language model (`multimodal_model_archs`)."""

CAPTURED_MULTIMODAL = frozenset({
    "MiniMaxM3SparseForConditionalGeneration", "Cohere2VisionForConditionalGeneration",
    "PaddleOCRVLForConditionalGeneration", "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration",
    "MuseGlimmerForConditionalGeneration", "KimiK25ForConditionalGeneration",
})  # fmt: skip
"""Multimodal models whose prefill is captured all the same (`multimodal_breakable_cuda_graph_supported_model_archs`)."""

VISION_AS_PLAIN_MAPPING = frozenset({"MiMoV2ForCausalLM", "Step3p7ForConditionalGeneration"})
"""Config classes in whose ``vision_config`` SGLang's attribute reads find neither name, whatever it states."""

VISION_DEFAULTS: Mapping[str, tuple[int | None, int | None]] = {
    "Cohere2VisionForConditionalGeneration": (12, 768),
    "Ernie4_5_VLMoeForConditionalGeneration": (None, 1280),
    "Gemma3ForConditionalGeneration": (12, 768),
    "Gemma3nForConditionalGeneration": (None, 2048),
    "Gemma4ForConditionalGeneration": (16, 768),
    "Gemma4UnifiedForConditionalGeneration": (16, 768),
    "Glm4vForConditionalGeneration": (None, 1536),
    "Glm4vMoeForConditionalGeneration": (None, 1536),
    "GlmOcrForConditionalGeneration": (None, 1024),
    "KimiK25ForConditionalGeneration": (27, 1152),
    "KimiVLForConditionalGeneration": (27, 1152),
    "Lfm2VlForConditionalGeneration": (12, 768),
    "Llama4ForConditionalGeneration": (34, 768),
    "LlavaForConditionalGeneration": (12, 768),
    "MuseGlimmerForConditionalGeneration": (50, 1536),
    "PaddleOCRVLForConditionalGeneration": (27, 1152),
    "Qwen2VLForConditionalGeneration": (None, 3584),
    "Qwen2_5_VLForConditionalGeneration": (None, 3584),
    "Qwen3VLForConditionalGeneration": (None, 1152),
    "Qwen3VLMoeForConditionalGeneration": (None, 1152),
    "Qwen3_5ForConditionalGeneration": (None, 1152),
    "Qwen3_5MoeForConditionalGeneration": (None, 1152),
}
"""Layers and width the class of a ``vision_config`` fills in where the checkpoint leaves them out or names them otherwise.

None: the class has no such name, and SGLang takes the size of a base tower (SGLang 0.5.23 `adjust_mem_fraction_for_vlm`;
classes of its `configs` and of transformers 5.19).
"""

TOWERS_BUILT: Mapping[str, tuple[int, int]] = {
    "Gemma3ForConditionalGeneration": (12, 768),
    "Glm4vForConditionalGeneration": (24, 1536),
    "KimiK25ForConditionalGeneration": (27, 1152),
    "Llama4ForConditionalGeneration": (34, 768),
    "LlavaForConditionalGeneration": (24, 1024),
    "Mistral3ForConditionalGeneration": (24, 1024),
    "Qwen2VLForConditionalGeneration": (24, 3584),
    "Qwen2_5_VLForConditionalGeneration": (24, 3584),
    "Qwen3VLForConditionalGeneration": (24, 1152),
    "Qwen3VLMoeForConditionalGeneration": (24, 1152),
    "Qwen3_5ForConditionalGeneration": (24, 1152),
    "Qwen3_5MoeForConditionalGeneration": (24, 1152),
}
"""Layers and width of the tower a class builds where the checkpoint states no ``vision_config`` at all."""

TOWERS_LEFT_OUT = frozenset({
    "Gemma4ForConditionalGeneration", "Gemma4UnifiedForConditionalGeneration", "MuseGlimmerForConditionalGeneration",
})  # fmt: skip
"""Classes that build no tower where the checkpoint states none."""

_GEMMA_4_BACKENDS = frozenset({"trtllm_mha", "triton", "fa4"})

ACCEPTED_BACKENDS: Mapping[str, frozenset[str]] = {
    "GptOssForCausalLM": frozenset({"triton", "trtllm_mha", "fa3", "fa4"}),
    "Llama4ForConditionalGeneration": frozenset({"fa3", "triton", "trtllm_mha"}),
    "Llama4ForCausalLM": frozenset({"fa3", "triton", "trtllm_mha"}),
    "Gemma4ForConditionalGeneration": _GEMMA_4_BACKENDS,
    "Gemma4ForCausalLM": _GEMMA_4_BACKENDS,
    "Gemma4UnifiedForConditionalGeneration": _GEMMA_4_BACKENDS,
}
"""Backends a family is read with on NVIDIA GPUs (`handle_model_specific_adjustments`); others have no such list."""

NEVER_TRITON = frozenset({"Lfm2ForCausalLM", "Lfm2MoeForCausalLM"})
"""Their first layer need not attend, which the triton backend needs (`handle_model_specific_adjustments`)."""

BLACKWELL_OF_EVERY_KIND = frozenset({"Step3p5ForCausalLM", "Step3p7ForConditionalGeneration"})
"""Families with fa4 on Blackwell, consumer GPUs included (`_step3p_overrides`)."""

UNREAD = frozenset({
    "DeciLMForCausalLM", "WhisperForConditionalGeneration", "MllamaForConditionalGeneration", "MiniCPM3ForCausalLM",
    "InklingForConditionalGeneration", "MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration",
    "KimiK3ForConditionalGeneration", "Glm5NextForConditionalGeneration", "BailingMoeV2_5ForCausalLM",
    "BailingMoeV3ForCausalLM", "Mamba2ForCausalLM", "MambaForCausalLM", "FalconMambaForCausalLM", "ZayaForCausalLM",
    "JetNemotronForCausalLM", "Qwen4ExpForConditionalGeneration", "HYV4ForCausalLM", "MiniCPMSALAForCausalLM",
    "Dots3NoteForCausalLM", "LongcatFlashForCausalLM", "NanbeigeForCausalLM",
})  # fmt: skip
"""Served by SGLang, but by rules kvcore has not read: refused rather than guessed."""

THINKERS = frozenset({"Qwen3ASRForConditionalGeneration", "Qwen3OmniMoeForConditionalGeneration"})
"""The language model is nested under ``thinker_config`` (SGLang 0.5.23 `get_hf_text_config`)."""

DRAFTS_INSIDE = frozenset({
    "DeepseekV32ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV4ForCausalLM", "Glm4MoeForCausalLM",
    "Glm4MoeLiteForCausalLM", "GlmMoeDsaForCausalLM", "BailingMoeForCausalLM", "BailingMoeV2ForCausalLM",
    "MistralLarge3ForCausalLM", "PixtralForConditionalGeneration", "HYV3ForCausalLM",
})  # fmt: skip
"""The checkpoint itself is the drafter where no path is given (`_handle_eagle_family`)."""

NO_HYBRID_WINDOW_MEMORY = frozenset({
    "Gemma2ForCausalLM", "Gemma3ForCausalLM", "Gemma3ForConditionalGeneration", "Gemma3nForCausalLM",
    "Gemma3nForConditionalGeneration", "Olmo2ForCausalLM",
})  # fmt: skip
"""Window memory is switched off for them (`_gemma2_gemma3_overrides`, `_olmo2_overrides`)."""

TREE_DRAFTS = frozenset({"LlamaForCausalLM", "Grok1ForCausalLM", "Grok1VForCausalLM"})
"""Draft as a tree by default: 5 steps, 4 branches, 8 tokens (`_auto_choose_speculative_params`)."""
