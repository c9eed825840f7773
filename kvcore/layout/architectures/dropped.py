"""Architectures vLLM 0.33.0 no longer serves, with the last release that did.

Source: vLLM 0.33.0 `registry._PREVIOUSLY_SUPPORTED_MODELS`.
"""

from collections.abc import Mapping

LAST_RELEASE: Mapping[str, str] = {
    "AquilaForCausalLM": "0.24.0", "AquilaModel": "0.24.0", "ArcticForCausalLM": "0.28.0",
    "AyaVisionForConditionalGeneration": "0.24.0", "BaiChuanForCausalLM": "0.23.0", "BaichuanForCausalLM": "0.23.0",
    "BambaForCausalLM": "0.23.0", "ChameleonForConditionalGeneration": "0.28.0", "Cheers": "0.28.0",
    "CheersForConditionalGeneration": "0.28.0", "DonutForConditionalGeneration": "0.10.2",
    "Dots1ForCausalLM": "0.23.0", "ErnieForSequenceClassification": "0.23.0",
    "ErnieForTokenClassification": "0.23.0", "ErnieModel": "0.23.0", "Fairseq2LlamaForCausalLM": "0.28.0",
    "FireRedLIDForConditionalGeneration": "0.28.0", "FuyuForCausalLM": "0.25.0", "GritLM": "0.28.0",
    "Grok1ForCausalLM": "0.24.0", "Grok1ModelForCausalLM": "0.24.0", "HCXVisionForCausalLM": "0.28.0",
    "InternLM2VEForCausalLM": "0.23.0", "InternLMForCausalLM": "0.23.0", "JAISLMHeadModel": "0.22.0",
    "MPTForCausalLM": "0.28.0", "MantisForConditionalGeneration": "0.24.0", "MiniMaxForCausalLM": "0.23.0",
    "MiniMaxM1ForCausalLM": "0.23.0", "MiniMaxText01ForCausalLM": "0.23.0",
    "MiniMaxVL01ForConditionalGeneration": "0.23.0", "MllamaForConditionalGeneration": "0.10.2",
    "MotifForCausalLM": "0.10.2", "MptForCausalLM": "0.28.0", "MusicFlamingoForConditionalGeneration": "0.24.0",
    "OuroForCausalLM": "0.26.0", "PersimmonForCausalLM": "0.25.0", "Phi3SmallForCausalLM": "0.9.2",
    "Phi4FlashForCausalLM": "0.10.2", "Phi4MultimodalForCausalLM": "0.12.0", "Plamo2ForCausalLM": "0.26.0",
    "PrithviGeoSpatialMAE": "0.28.0", "QWenLMHeadModel": "0.23.0", "QwenVLForConditionalGeneration": "0.23.0",
    "RWForCausalLM": "0.28.0", "StableLMEpochForCausalLM": "0.28.0", "Tarsier2ForConditionalGeneration": "0.23.0",
    "TarsierForConditionalGeneration": "0.24.0", "TeleChatForCausalLM": "0.25.0", "XverseForCausalLM": "0.23.0",
}  # fmt: skip
"""Last vLLM release that served an architecture."""
