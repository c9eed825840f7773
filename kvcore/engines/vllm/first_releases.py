"""First release of each architecture and mechanism: what an older vLLM has no model class for, or kvcore no rules.

Source: the tables of `model_executor/models/registry.py` of the releases that were read. Architectures of 0.10 are not listed.
"""

from collections.abc import Mapping

from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.profiles import find_profile, parse_release
from kvcore.errors import refusal
from kvcore.layout.block_sparse import BlockSparseCache, IndexKeyCache
from kvcore.layout.cache import AttentionCache, Cache
from kvcore.layout.compressed import (
    CompressedIndexerCache,
    CompressedLatentCache,
    CompressorStateCache,
    WindowLatentCache,
)
from kvcore.layout.layout import Layout
from kvcore.layout.pooled_indexer import PooledIndexerCache, TailRingCache

ARCHITECTURES_BY_RELEASE: Mapping[str, tuple[str, ...]] = {
    "0.11.0": (
        "BailingMoeV2ForCausalLM", "BertForTokenClassification", "CwmForCausalLM", "DeepseekV32ForCausalLM",
        "DotsOCRForCausalLM", "LongcatFlashForCausalLM", "NemotronH_Nano_VL_V2", "Olmo3ForCausalLM",
        "Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration",
    ),
    "0.11.1": (
        "AfmoeForCausalLM", "BertSpladeSparseEmbeddingModel", "DeepseekOCRForCausalLM", "FlexOlmoForCausalLM",
        "KimiLinearForCausalLM", "Lfm2MoeForCausalLM", "LightOnOCRForConditionalGeneration", "MiniMaxM2ForCausalLM",
        "ModernBertForTokenClassification", "PaddleOCRVLForConditionalGeneration", "PanguEmbeddedForCausalLM",
        "PanguUltraMoEForCausalLM", "Qwen3OmniMoeForConditionalGeneration",
    ),
    "0.12.0": (
        "HunYuanVLForConditionalGeneration", "MistralLarge3ForCausalLM",
    ),
    "0.13.0": (
        "AudioFlamingo3ForConditionalGeneration", "Jais2ForCausalLM",
    ),
    "0.14.0": (
        "ExaoneMoEForCausalLM", "GlmAsrForConditionalGeneration", "IQuestCoderForCausalLM",
        "IsaacForConditionalGeneration", "Lfm2VlForConditionalGeneration",
        "LlamaBidirectionalForSequenceClassification", "LlamaBidirectionalModel", "MiMoV2FlashForCausalLM",
    ),
    "0.15.0": (
        "BgeM3EmbeddingModel", "Eagle2_5_VLForConditionalGeneration", "Glm4MoeLiteForCausalLM",
        "KimiK25ForConditionalGeneration", "Molmo2ForConditionalGeneration", "Step3p5ForCausalLM",
    ),
    "0.16.0": (
        "DeepseekOCR2ForCausalLM", "FunAudioChatForConditionalGeneration", "GlmMoeDsaForCausalLM",
        "GlmOcrForConditionalGeneration", "OpenPanguVLForConditionalGeneration", "Qwen3ASRForConditionalGeneration",
    ),
    "0.17.0": (
        "AXK1ForCausalLM", "BailingMoeV2_5ForCausalLM", "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForConditionalGeneration",
    ),
    "0.18.0": (
        "HCXVisionV2ForCausalLM", "HyperCLOVAXForCausalLM", "OlmoHybridForCausalLM", "SarvamMLAForCausalLM",
        "SarvamMoEForCausalLM",
    ),
    "0.19.0": (
        "Gemma4ForCausalLM", "Gemma4ForConditionalGeneration",
    ),
    "0.20.0": (
        "DeepseekV4ForCausalLM", "Exaone4_5_ForConditionalGeneration", "HYV3ForCausalLM", "Ministral3ForCausalLM",
        "Param2MoEForCausalLM", "Phi4ForCausalLMV", "TeleChat3ForCausalLM",
    ),
    "0.21.0": (
        "Cohere2MoeForCausalLM", "LagunaForCausalLM", "MiMoV2ForCausalLM", "MiMoV2OmniForCausalLM",
    ),
    "0.22.0": (
        "InternS2PreviewForConditionalGeneration", "MellumForCausalLM", "MiniCPMV4_6ForConditionalGeneration",
    ),
    "0.23.0": (
        "Gemma4UnifiedForConditionalGeneration", "Step3p7ForConditionalGeneration",
    ),
    "0.24.0": (
        "MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration",
    ),
    "0.26.0": (
        "BertForMaskedLM", "LongcatFlashNgramForCausalLM", "RobertaForTokenClassification",
        "XLMRobertaForTokenClassification",
    ),
    "0.27.0": (
        "ExaoneMoeForCausalLM", "KimiK3ForConditionalGeneration", "Qwen3_5ForCausalLM", "Qwen3_5MoeForCausalLM",
        "VaultGemmaForCausalLM",
    ),
    "0.28.0": (
        "BailingMoeV3ForCausalLM", "MuseGlimmerForCausalLM", "MuseGlimmerForConditionalGeneration",
    ),
    "0.29.0": (
        "GraniteMoeSWAForCausalLM", "GraniteSWAForCausalLM",
    ),
    "0.30.0": (
        "DeepseekV4ForConditionalGeneration", "Glm5NextForCausalLM", "Glm5NextForConditionalGeneration",
        "K2HorizonForCausalLM", "NanbeigeForCausalLM",
    ),
    "0.33.0": (
        "Kolibri1ForCausalLM",
    ),
}  # fmt: skip
"""Architectures by the first release that has a class for them, oldest first."""

FIRST_RELEASE: Mapping[str, str] = {
    architecture: release
    for release, architectures in ARCHITECTURES_BY_RELEASE.items()
    for architecture in architectures
}


def check_release(architecture: str, engine_version: str | None) -> None:
    """A release cannot serve an architecture that came after it.

    Args:
        architecture: Name in ``architectures`` of the config.json.
        engine_version: Release asked for; None: the newest, which has them all.

    Raises:
        EngineRefusal: The release has no class for the architecture.
    """
    first = FIRST_RELEASE.get(architecture)
    if engine_version is None or first is None or parse_release(first) <= parse_release(engine_version):
        return
    rule = f"vLLM {find_profile(engine_version).version} has no model class for {architecture}; the first is in {first}"
    raise refusal("engine_version", engine_version, rule, f"Give {first} or newer.")


KNOWN_FROM = "0.33.0"
"""Release whose rules for the mechanisms below were read."""

RECENT_MECHANISMS: tuple[type[Cache], ...] = (
    BlockSparseCache, IndexKeyCache, CompressedIndexerCache, CompressedLatentCache, CompressorStateCache,
    WindowLatentCache, PooledIndexerCache, TailRingCache,
)  # fmt: skip
"""Mechanisms older releases store by other rules, which were not read."""


def check_mechanisms(layout: Layout, profile: Profile) -> None:
    """A release whose rules for a mechanism are not known cannot be answered for.

    Raises:
        EngineRefusal: The layout has such a mechanism.
    """
    if profile.only_full_attention and any(type(part.cache) is not AttentionCache for part in layout.parts):
        rule = f"of vLLM {profile.version} only the rules for models that keep keys and values of every token are known"
        raise refusal("engine_version", profile.version, rule, "Give 0.10 or newer.")
    recent = [part.name for part in layout.parts if isinstance(part.cache, RECENT_MECHANISMS)]
    if recent and parse_release(profile.version) < parse_release(KNOWN_FROM):
        rule = f"how vLLM {profile.version} stores this model's {recent[0]} is not known; that of {KNOWN_FROM} is"
        raise refusal("engine_version", profile.version, rule, f"Give {KNOWN_FROM}.")
