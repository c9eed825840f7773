"""Towers that hear, of Whisper's kind and beyond."""

from collections.abc import Mapping

from kvcore.budget.weights.modules import Module, norm
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.towers import AUDIO, Encoder, column_row, plain_tensor, tower_config
from kvcore.config import ModelConfig

KERNEL = 3
HALVINGS = 3
"""Convolutions of Qwen3's tower, each of which halves the time and the mel bins."""

WHISPER_DEFAULTS = {
    "d_model": 1280, "encoder_ffn_dim": 5120, "encoder_layers": 32, "encoder_attention_heads": 20, "num_mel_bins": 128,
    "max_source_positions": 1500,
}  # fmt: skip
"""Hugging Face `Qwen2AudioEncoderConfig`."""


def _convolutions(width: int, mel: int) -> int:
    return width * mel * KERNEL + width + width * width * KERNEL + width


def whole_whisper(config: ModelConfig) -> tuple[int, tuple[Module, ...]]:
    """Width and modules of a Whisper encoder, whole on every rank (Hugging Face `Qwen2AudioEncoder`)."""
    tower = tower_config(config, "audio_config", WHISPER_DEFAULTS)
    width = size(tower, "hidden_size|d_model")
    wide, depth = size(tower, "intermediate_size|encoder_ffn_dim"), size(tower, "num_hidden_layers|encoder_layers")
    layer = 4 * width * width + 3 * width + 2 * width * wide + wide + width + 4 * width
    front = _convolutions(width, size(tower, "num_mel_bins")) + size(tower, "max_source_positions") * width
    return width, (
        plain_tensor("audio_tower.conv", front, group=AUDIO),
        plain_tensor("audio_tower.layers", depth * layer + 2 * width, group=AUDIO),
    )


def qwen2_audio(config: ModelConfig) -> tuple[Module, ...]:
    """Whisper and a linear projector (vLLM 0.33.0 `Qwen2AudioMultiModalProjector`)."""
    width, modules = whole_whisper(config)
    hidden = config.hidden_size
    return (*modules, plain_tensor("multi_modal_projector", width * hidden + hidden, group=AUDIO))


def audio_flamingo(config: ModelConfig) -> tuple[Module, ...]:
    """Whisper and a projector of two layers (vLLM 0.33.0 `AudioFlamingo3MultiModalProjector`)."""
    width, modules = whole_whisper(config)
    hidden = config.hidden_size
    elements = width * hidden + hidden + hidden * hidden + hidden
    return (*modules, plain_tensor("multi_modal_projector", elements, group=AUDIO))


def glm_asr(config: ModelConfig) -> tuple[Module, ...]:
    """An encoder that rotates positions, and a projector over merged frames (vLLM 0.33.0 `GlmAsrEncoder`)."""
    tower = tower_config(config, "audio_config")
    width, wide = size(tower, "hidden_size"), size(tower, "intermediate_size")
    encoder = Encoder(
        prefix="audio_tower.layers", depth=size(tower, "num_hidden_layers"), hidden_size=width, intermediate_size=wide,
        num_heads=tower.num_attention_heads, group=AUDIO, output="o_proj",
    )  # fmt: skip
    hidden = config.hidden_size
    return (
        plain_tensor("audio_tower.conv", _convolutions(width, size(tower, "num_mel_bins")), group=AUDIO),
        *encoder.modules(),
        norm("audio_tower.norm", width, bias=True, group=AUDIO),
        *column_row("multi_modal_projector.", wide, 2 * hidden, hidden, names=("linear_1", "linear_2"), group=AUDIO),
    )


def qwen3_asr(config: ModelConfig) -> tuple[Module, ...]:
    """Three convolutions in two dimensions, an encoder and two projections (vLLM 0.33.0 `Qwen3OmniMoeAudioEncoder`)."""
    is_nested = isinstance(config.root.get("thinker_config"), Mapping)
    tower = tower_config(config, "thinker_config.audio_config" if is_nested else "audio_config")
    width, channels, bins = size(tower, "d_model"), size(tower, "downsample_hidden_size"), size(tower, "num_mel_bins")
    out = size(tower, "output_dim")
    for _ in range(HALVINGS):
        bins = (bins + 1) // 2
    encoder = Encoder(
        prefix="audio_tower.layers", depth=size(tower, "encoder_layers"), hidden_size=width,
        intermediate_size=size(tower, "encoder_ffn_dim"), num_heads=size(tower, "encoder_attention_heads"), group=AUDIO,
        mlp="",
    )  # fmt: skip
    convolutions = (1 + 2 * channels) * channels * KERNEL**2 + 3 * channels + channels * bins * width
    return (
        plain_tensor("audio_tower.conv", convolutions, group=AUDIO),
        *encoder.modules(),
        norm("audio_tower.ln_post", width, bias=True, group=AUDIO),
        plain_tensor("audio_tower.proj", width * width + width + width * out + out, group=AUDIO),
    )


def voxtral(config: ModelConfig) -> tuple[Module, ...]:
    """Whisper's encoder, divided over ranks, and a projector over merged frames (vLLM 0.33.0 `VoxtralEncoderModel`)."""
    tower = tower_config(config, "audio_config")
    width, wide, hidden = size(tower, "hidden_size"), size(tower, "intermediate_size"), config.hidden_size
    encoder = Encoder(
        prefix="whisper_encoder.whisper_encoder.layers", depth=size(tower, "num_hidden_layers"), hidden_size=width,
        intermediate_size=wide, num_heads=tower.num_attention_heads, group=AUDIO, mlp="mlp.",
    )  # fmt: skip
    positions = size(tower, "max_source_positions") * width
    return (
        plain_tensor("whisper_encoder.conv", _convolutions(width, size(tower, "num_mel_bins")), group=AUDIO),
        plain_tensor("whisper_encoder.embed_positions", positions, group=AUDIO, dtype="float32"),
        *encoder.modules(),
        norm("whisper_encoder.layer_norm", width, bias=True, group=AUDIO),
        plain_tensor("audio_language_adapter", wide * hidden + hidden * hidden, group=AUDIO),
    )
