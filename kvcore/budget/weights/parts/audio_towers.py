"""Towers that hear."""

from kvcore.budget.weights.modules import Module
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.towers import AUDIO, plain_tensor, tower_config
from kvcore.config import ModelConfig

CONV_KERNEL = 3


def qwen_audio(config: ModelConfig) -> tuple[Module, ...]:
    """The audio tower of Qwen2.5-Omni, whole on every rank (Hugging Face `Qwen2_5OmniAudioEncoder`)."""
    tower = tower_config(config, "thinker_config.audio_config")
    width, wide = size(tower, "d_model"), size(tower, "encoder_ffn_dim")
    out = size(tower, "output_dim")
    layer = 4 * width * width + 3 * width + 2 * width * wide + wide + width + 4 * width
    convolutions = width * size(tower, "num_mel_bins") * CONV_KERNEL + width * width * CONV_KERNEL + 2 * width
    return (
        plain_tensor("audio_tower.conv", convolutions, group=AUDIO),
        plain_tensor("audio_tower.audio_bos_eos_token", 2 * out, group=AUDIO),
        plain_tensor("audio_tower.layers", size(tower, "encoder_layers|num_hidden_layers") * layer, group=AUDIO),
        plain_tensor("audio_tower.ln_post", 2 * width, group=AUDIO),
        plain_tensor("audio_tower.proj", width * out + out, group=AUDIO),
    )


def talker_params(config: ModelConfig) -> None:
    """Parameters of the talker and the vocoder, which the engine does not load: not counted here."""


def mimo_audio(config: ModelConfig) -> tuple[Module, ...]:
    """The audio encoder of MiMo V2 Omni, whole on every rank (vLLM 0.33.0 `MiMoAudioEncoder`)."""
    tower = tower_config(config, "audio_config")
    width, wide = size(tower, "input_local_dim"), size(tower, "input_local_intermediate_size")
    channels, layers = size(tower, "audio_channels"), size(tower, "input_local_layers")
    inner = size(tower, "input_local_attn_heads") * size(tower, "input_local_head_dim")
    layer = 4 * width * inner + 3 * inner + 3 * width * wide + 2 * width
    rows = int(str(tower.get("speech_vocab_size")).split("-")[0])
    group = size(tower, "group_size")
    merged = width * group
    out = size(tower, "out_hidden_size")
    return (
        plain_tensor("audio_encoder.embed_tokens", EMBEDDED_ROWS * width, group=AUDIO),
        plain_tensor("audio_encoder.layers", layers * layer + width, group=AUDIO),
        plain_tensor("audio_encoder.speech_embeddings", channels * rows * width, group=AUDIO),
        plain_tensor("audio_encoder.projection", merged * 4 * merged + 4 * merged * out, group=AUDIO),
    )


EMBEDDED_ROWS = 151_936
"""Vocabulary of the Qwen2 class the local transformer is built from (Hugging Face `Qwen2Config`)."""
