"""Architectures of text decoders that store keys and values of every layer alike, or of some as a window."""

from collections.abc import Mapping

from kvcore.layout.architecture import Architecture
from kvcore.layout.architectures.rows import decoder
from kvcore.layout.drafts import like_the_layers, mtp_layers
from kvcore.layout.grouped_query import (
    chatglm_attention,
    falcon_attention,
    grouped_query,
    multi_query_attention,
    padded_value_heads,
)
from kvcore.layout.layer_types import FULL, SLIDING
from kvcore.layout.traits import Traits
from kvcore.layout.window import attention_kinds, sliding_attention

ALIBI = Traits(alibi=True)

LIKE_THE_MODEL = like_the_layers(attention_kinds(), {FULL: grouped_query, SLIDING: sliding_attention})
"""A drafter layer that windows when the model's layers do."""


def _transformers() -> Architecture:
    """Served by vLLM's Transformers backend, which windows the layers whose type says so."""
    return decoder("transformers/base", interleaved=True)


DECODERS: Mapping[str, Architecture] = {
    "ArceeForCausalLM": _transformers(),
    "BailingMoeForCausalLM": decoder("bailing_moe"),
    "BailingMoeV2ForCausalLM": decoder("bailing_moe"),
    "BloomForCausalLM": decoder("bloom", traits=ALIBI),
    "ChatGLMForConditionalGeneration": decoder("chatglm", full=chatglm_attention),
    "ChatGLMModel": decoder("chatglm", full=chatglm_attention),
    "CohereForCausalLM": decoder("commandr"),
    "DbrxForCausalLM": decoder("dbrx"),
    "Ernie4_5ForCausalLM": decoder("ernie45", interleaved=True),
    "Ernie4_5_MoeForCausalLM": decoder(
        "ernie45_moe", mtp=mtp_layers(LIKE_THE_MODEL, model_types=frozenset({"ernie4_5_moe"}))
    ),
    "ExaoneForCausalLM": decoder("exaone"),
    "FalconForCausalLM": decoder("falcon", full=falcon_attention, model_window=False),
    "FlexOlmoForCausalLM": _transformers(),
    "GPT2LMHeadModel": decoder("gpt2"),
    "GPTBigCodeForCausalLM": decoder("transformers/base", full=multi_query_attention),
    "GPTJForCausalLM": decoder("gpt_j"),
    "GPTNeoXForCausalLM": _transformers(),
    "GemmaForCausalLM": decoder("gemma"),
    "Glm4ForCausalLM": decoder(
        "glm4", mtp=mtp_layers(LIKE_THE_MODEL, architectures=frozenset({"GlmOcrForConditionalGeneration"}))
    ),
    "Glm4MoeForCausalLM": decoder(
        "glm4_moe", mtp=mtp_layers(LIKE_THE_MODEL, architectures=frozenset({"Glm4MoeForCausalLM"}))
    ),
    "GlmForCausalLM": _transformers(),
    "GraniteForCausalLM": decoder("granite", interleaved=True),
    "GraniteMoeForCausalLM": decoder("granitemoe", interleaved=True),
    "GraniteMoeSharedForCausalLM": decoder("granitemoeshared", interleaved=True),
    "HYV3ForCausalLM": decoder("hy_v3", mtp=mtp_layers(LIKE_THE_MODEL, model_types=frozenset({"hy_v3"}))),
    "HunYuanDenseV1ForCausalLM": _transformers(),
    "HunYuanMoEV1ForCausalLM": _transformers(),
    "HyperCLOVAXForCausalLM": decoder("hyperclovax"),
    "IQuestCoderForCausalLM": decoder("llama", interleaved=True),
    "InternLM2ForCausalLM": decoder("internlm2"),
    "InternLM3ForCausalLM": decoder("llama", interleaved=True),
    "Jais2ForCausalLM": _transformers(),
    "K2HorizonForCausalLM": decoder("k2_horizon"),
    "LLaMAForCausalLM": decoder("llama", interleaved=True),
    "LlamaForCausalLM": decoder("llama", interleaved=True),
    "MiMoForCausalLM": decoder("mimo", refuses_mixed=True, mtp=mtp_layers(LIKE_THE_MODEL)),
    "MiniCPM3ForCausalLM": decoder("minicpm3", full=padded_value_heads),
    "MiniCPMForCausalLM": decoder("minicpm"),
    "MiniMaxM2ForCausalLM": decoder("minimax_m2"),
    "Ministral3ForCausalLM": decoder("mistral", interleaved=True),
    "MistralForCausalLM": decoder("mistral", interleaved=True),
    "MixtralForCausalLM": decoder("mixtral"),
    "NanbeigeForCausalLM": _transformers(),
    "NemotronForCausalLM": decoder("nemotron"),
    "OPTForCausalLM": decoder("opt"),
    "Olmo2ForCausalLM": _transformers(),
    "OlmoForCausalLM": _transformers(),
    "OlmoeForCausalLM": decoder("olmoe"),
    "OrionForCausalLM": decoder("orion"),
    "Param2MoEForCausalLM": decoder("param2moe"),
    "Phi3ForCausalLM": decoder("phi3", interleaved=True),
    "PhiForCausalLM": _transformers(),
    "PhiMoEForCausalLM": decoder("phimoe"),
    "Qwen2ForCausalLM": decoder("qwen2", refuses_mixed=True),
    "Qwen2MoeForCausalLM": decoder("qwen2_moe"),
    "Qwen3ForCausalLM": decoder("qwen3", refuses_mixed=True),
    "Qwen3MoeForCausalLM": decoder("qwen3_moe"),
    "SarvamMoEForCausalLM": decoder("bailing_moe"),
    "SeedOssForCausalLM": _transformers(),
    "SmolLM3ForCausalLM": _transformers(),
    "SolarForCausalLM": decoder("solar"),
    "StableLmForCausalLM": decoder("stablelm"),
    "Starcoder2ForCausalLM": _transformers(),
    "TeleChat2ForCausalLM": decoder("telechat2", interleaved=True),
    "TeleChat3ForCausalLM": decoder("llama", interleaved=True),
    "TeleFLMForCausalLM": decoder("teleflm", interleaved=True),
}
"""One row per architecture."""
