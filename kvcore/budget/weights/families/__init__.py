"""Which builder describes the weights of an architecture: one row per Hugging Face class name."""

from collections.abc import Mapping
from dataclasses import replace

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.families.bailing import BAILING
from kvcore.budget.weights.families.deepseek import DEEPSEEK
from kvcore.budget.weights.families.deepseek_v4 import DEEPSEEK_V4
from kvcore.budget.weights.families.dense_others import DENSE_OTHERS
from kvcore.budget.weights.families.encoder_others import ENCODER_OTHERS
from kvcore.budget.weights.families.encoders import ENCODERS
from kvcore.budget.weights.families.gemma import GEMMA
from kvcore.budget.weights.families.gemma3n import GEMMA3N
from kvcore.budget.weights.families.glm_next import GLM_NEXT
from kvcore.budget.weights.families.hybrid_others import HYBRID_OTHERS
from kvcore.budget.weights.families.hybrids import HYBRIDS
from kvcore.budget.weights.families.kimi import KIMI
from kvcore.budget.weights.families.latent_others import LATENT_OTHERS
from kvcore.budget.weights.families.mambas import MAMBAS
from kvcore.budget.weights.families.mixture_others import MIXTURE_OTHERS
from kvcore.budget.weights.families.mixtures import MIXTURES
from kvcore.budget.weights.families.multimodal import MULTIMODAL
from kvcore.budget.weights.families.older import OLDER
from kvcore.budget.weights.families.oldest import OLDEST
from kvcore.budget.weights.families.qwen import QWEN
from kvcore.budget.weights.families.sparse_others import SPARSE_OTHERS
from kvcore.budget.weights.families.steps import STEPS
from kvcore.budget.weights.families.text import TEXT
from kvcore.budget.weights.families.wrapped import WRAPPED

HEADS_OF_THEIR_OWN = frozenset({
    "DeepseekForCausalLM", "DeepseekOCR2ForCausalLM", "DeepseekOCRForCausalLM", "DeepseekV2ForCausalLM",
    "DeepseekV32ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV4ForCausalLM", "Glm4MoeForCausalLM",
    "Glm4MoeLiteForCausalLM", "Glm4vMoeForConditionalGeneration", "Glm5NextForCausalLM",
    "Glm5NextForConditionalGeneration", "GlmMoeDsaForCausalLM", "GptOssForCausalLM", "JambaForCausalLM",
    "KimiK25ForConditionalGeneration", "KimiK3ForConditionalGeneration", "KimiLinearForCausalLM",
    "KimiVLForConditionalGeneration", "LongcatFlashForCausalLM", "LongcatFlashNgramForCausalLM", "MiMoV2FlashForCausalLM",
    "MiMoV2ForCausalLM", "MiniMaxM2ForCausalLM", "MiniMaxM3SparseForCausalLM",
    "MiniMaxM3SparseForConditionalGeneration", "MistralLarge3ForCausalLM", "MolmoForCausalLM",
    "MuseGlimmerForCausalLM", "MuseGlimmerForConditionalGeneration", "NemotronHForCausalLM", "OlmoeForCausalLM",
    "PhiMoEForCausalLM", "PhimoeForCausalLM", "Qwen3NextForCausalLM",
})  # fmt: skip
"""Architectures whose class never reads ``tie_word_embeddings``: it builds a head whatever the config says (vLLM 0.33.0)."""

_BUILDERS: Mapping[str, Builder] = {
    **TEXT,
    **QWEN,
    **GEMMA,
    **DEEPSEEK,
    **MIXTURES,
    **MULTIMODAL,
    **DEEPSEEK_V4,
    **KIMI,
    **HYBRIDS,
    **OLDER,
    **SPARSE_OTHERS,
    **MAMBAS,
    **ENCODERS,
    **OLDEST,
    **GEMMA3N,
    **GLM_NEXT,
    **DENSE_OTHERS,
    **MIXTURE_OTHERS,
    **BAILING,
    **LATENT_OTHERS,
    **STEPS,
    **HYBRID_OTHERS,
    **WRAPPED,
    **ENCODER_OTHERS,
}

BUILDERS: Mapping[str, Builder] = {
    name: replace(builder, never_tied=True) if name in HEADS_OF_THEIR_OWN and isinstance(builder, Decoder) else builder
    for name, builder in _BUILDERS.items()
}
"""Builder of each architecture."""
