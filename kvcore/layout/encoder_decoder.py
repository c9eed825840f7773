"""Encoder-decoder models: each decoder layer keeps its own tokens and, once, the encoder's output."""

from collections.abc import Sequence

from kvcore.config import ModelConfig
from kvcore.layout.cache import AttentionCache, CrossAttentionCache
from kvcore.layout.grouped_query import keys_and_values, width_per_head

DECODER = "decoder"


def whisper_kinds(config: ModelConfig) -> Sequence[str]:
    """One kind per decoder layer; encoder layers keep nothing (vLLM 0.33.0 `WhisperDecoderLayer`)."""
    return (DECODER,) * config.integer("decoder_layers", maximum=100_000)


def whisper_self_attention(config: ModelConfig, layer_index: int) -> AttentionCache:
    """Keys and values of the transcript so far."""
    heads = config.integer("decoder_attention_heads")
    return keys_and_values(heads, width_per_head(config, "d_model", heads))


def whisper_cross_attention(config: ModelConfig, layer_index: int) -> CrossAttentionCache:
    """Keys and values of the audio."""
    heads = config.integer("decoder_attention_heads")
    head_size = width_per_head(config, "d_model", heads)
    return CrossAttentionCache(name="cross attention", num_kv_heads=heads, head_size=head_size, head_size_v=head_size)
