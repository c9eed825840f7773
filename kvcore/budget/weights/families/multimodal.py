"""Models that see, built on a dense language model or a mixture of another family."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.families.mixtures import LLAMA4_BLOCKS, MIMO_V2_BLOCKS
from kvcore.budget.weights.families.text import LLAMA_BLOCKS, QWEN2_BLOCKS
from kvcore.budget.weights.parts.attention import grouped_query
from kvcore.budget.weights.parts.audio_towers import mimo_audio, qwen_audio, talker_params
from kvcore.budget.weights.parts.feed_forward import gated_mlp
from kvcore.budget.weights.parts.image_towers import (
    idefics3_vision,
    llama4_vision,
    phi3_vision,
    phi4_siglip_vision,
)
from kvcore.budget.weights.parts.qwen_towers import mimo_vision, omni_vision

MULTIMODAL: Mapping[str, Builder] = {
    "Llama4ForConditionalGeneration": Decoder(blocks=LLAMA4_BLOCKS, first=(llama4_vision,), nested=True),
    "Idefics3ForConditionalGeneration": Decoder(
        blocks=LLAMA_BLOCKS,
        first=(idefics3_vision,),
        prefix="model.text_model.layers",
        embedding="model.text_model.embed_tokens",
    ),
    "SmolVLMForConditionalGeneration": Decoder(
        blocks=LLAMA_BLOCKS,
        first=(idefics3_vision,),
        prefix="model.text_model.layers",
        embedding="model.text_model.embed_tokens",
    ),
    "Phi3VForCausalLM": Decoder(blocks=LLAMA_BLOCKS, first=(phi3_vision,), nested=True),
    "Phi4ForCausalLMV": Decoder(blocks=(grouped_query(), gated_mlp()), first=(phi4_siglip_vision,), nested=True),
    "Qwen2_5OmniForConditionalGeneration": Decoder(
        blocks=QWEN2_BLOCKS, first=(qwen_audio, omni_vision), unloaded=talker_params, never_tied=True, nested=True
    ),
    "Qwen2_5OmniModel": Decoder(
        blocks=QWEN2_BLOCKS, first=(qwen_audio, omni_vision), unloaded=talker_params, never_tied=True, nested=True
    ),
    "MiMoV2ForCausalLM": Decoder(blocks=MIMO_V2_BLOCKS, first=(mimo_vision, mimo_audio), nested=True),
}
"""Builders of models that see."""
