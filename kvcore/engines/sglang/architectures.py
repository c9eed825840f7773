"""Architectures by what SGLang 0.5.23 makes of them: tables of names, read from the symbols each states."""

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
    "KimiLinearForCausalLM", "DeepseekVL2ForCausalLM", "BailingMoeV2_5ForCausalLM",
})  # fmt: skip
"""Latents stored as such (`ModelConfig._derive_model_shapes`, `AttentionArch.MLA`)."""

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
})  # fmt: skip
"""Hybrids whose states get a pool of slots (`_mamba_radix_cache_resolution`)."""

EXTRA_BUFFER = STATES - {"Lfm2ForCausalLM", "Lfm2MoeForCausalLM"}
"""Hybrids that can keep snapshots beside the running state (`_MAMBA_EXTRA_BUFFER_ARCHS`)."""

QWEN_HYBRIDS = frozenset({
    "Qwen3NextForCausalLM", "Qwen3_5MoeForConditionalGeneration", "Qwen3_5ForConditionalGeneration",
})  # fmt: skip

KIMI_DELTA = frozenset({"KimiLinearForCausalLM"})
"""Kimi Delta Attention, under which prefill is not captured (`uses_kda_attention`)."""

DEEPSEEK_V4 = "DeepseekV4ForCausalLM"

FUSED_QUERY_HEADS = frozenset({"MiMoV2ForCausalLM"})
"""Query, key and value weights are fused per KV head, which attention ranks must divide."""

TEXT_ONLY_BY_DEFAULT = frozenset({
    "Gemma3ForConditionalGeneration", "Llama4ForConditionalGeneration", "Step3VLForConditionalGeneration",
})  # fmt: skip
"""Vision is off unless ``--enable-multimodal`` is given (`ModelConfig.__init__`)."""

MIMO_MULTIMODAL = frozenset({"MiMoV2ForCausalLM"})
"""Multimodal where the config states both a vision and an audio tower (`MIMO_V2_MULTIMODAL_ARCHS`)."""

FLAT_MULTIMODAL = frozenset({
    "MiMoV2ForCausalLM", "MiniCPMO", "MiniCPMV", "MultiModalityCausalLM", "Phi4MMForCausalLM", "LlavaLlamaForCausalLM",
    "LlavaMistralForCausalLM", "LlavaQwenForCausalLM", "Qwen2VLForConditionalGeneration",
    "Qwen2_5_VLForConditionalGeneration", "Mistral3ForConditionalGeneration", "PixtralForConditionalGeneration",
    "InternVLChatModel", "DeepseekVL2ForCausalLM", "DotsVLMForCausalLM", "Ernie4_5_VLMoeForConditionalGeneration",
    "Glm4vForConditionalGeneration", "Glm4vMoeForConditionalGeneration",
})  # fmt: skip
"""Multimodal even where the config does not nest its language model (`multimodal_model_archs`)."""

CAPTURED_MULTIMODAL = frozenset({
    "MiniMaxM3SparseForConditionalGeneration", "Cohere2VisionForConditionalGeneration",
    "PaddleOCRVLForConditionalGeneration", "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration",
    "MuseGlimmerForConditionalGeneration", "KimiK25ForConditionalGeneration",
})  # fmt: skip
"""Multimodal models whose prefill is captured all the same (`multimodal_breakable_cuda_graph_supported_model_archs`)."""

VISION_AS_PLAIN_MAPPING = frozenset({"MiMoV2ForCausalLM"})
"""Remote config classes that keep ``vision_config`` a mapping, in which SGLang's attribute reads find nothing."""

UNREAD = frozenset({
    "DeciLMForCausalLM", "WhisperForConditionalGeneration", "MllamaForConditionalGeneration", "MiniCPM3ForCausalLM",
    "InklingForConditionalGeneration", "MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration",
    "KimiK3ForConditionalGeneration", "Glm5NextForConditionalGeneration", "BailingMoeV2_5ForCausalLM",
    "BailingMoeV3ForCausalLM", "Mamba2ForCausalLM", "MambaForCausalLM", "FalconMambaForCausalLM", "ZayaForCausalLM",
    "JetNemotronForCausalLM", "Qwen4ExpForConditionalGeneration", "HYV4ForCausalLM", "MiniCPMSALAForCausalLM",
    "Dots3NoteForCausalLM", "LongcatFlashForCausalLM",
})  # fmt: skip
"""Served by SGLang, but by rules kvcore has not read: refused rather than guessed."""

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
