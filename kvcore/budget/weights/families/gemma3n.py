"""Gemma 3n: alternating updates, learned residuals, per-layer embeddings and shared keys and values."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.families.gemma import EMBEDDED, per_layer_embedding, shared_layers_start
from kvcore.budget.weights.modules import Linear, Module, Output, Parameter, linear, norm
from kvcore.budget.weights.parts.attention import GROUP, output_projection, qkv, sizes_of
from kvcore.budget.weights.parts.feed_forward import gated_layers
from kvcore.config import ModelConfig


def attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Attention; layers that share keys and values project queries only (vLLM 0.33.0 `Gemma3nAttention`)."""
    sizes = sizes_of(config)
    output = output_projection("self_attn.o_proj", sizes)
    if index < shared_layers_start(config):
        return qkv("self_attn.qkv_proj", sizes), output, norm("self_attn.qk_norm", 2 * sizes.head_dim)
    queries = Output(name="q_proj", size=sizes.num_heads * sizes.head_dim)
    fused = Linear(name="self_attn.q_proj", group=GROUP, inputs=sizes.hidden_size, outputs=(queries,), attends="keys")
    return fused, output, norm("self_attn.q_norm", sizes.head_dim)


def feed_forward(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A dense layer, whose width may be listed per layer."""
    stated = config.get("intermediate_size")
    width = stated[index] if isinstance(stated, list | tuple) else config.integer("intermediate_size")
    return gated_layers("mlp.", config.hidden_size, int(width))


def alternating_updates(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """The router between residual streams and the learned residual (vLLM 0.33.0 `Gemma3nAltUp`, `Gemma3nLaurelBlock`)."""
    hidden, streams = config.hidden_size, config.integer("altup_num_inputs", 4)
    rank, per_layer = config.integer("laurel_rank", 64), config.integer("hidden_size_per_layer_input", 256)
    return (
        Parameter(name="altup.correct_output_scale", group="altup", size=hidden, dtype="float32"),
        Parameter(name="altup.coefficients", group="altup", size=streams * streams + streams**3 + streams * hidden),
        norm("altup.router_norm", hidden),
        linear("laurel.linear_left", "altup", hidden, rank),
        linear("laurel.linear_right", "altup", rank, hidden, split="row"),
        norm("laurel.post_laurel_norm", hidden),
        linear("per_layer_input_gate", "per_layer_embedding", hidden, per_layer, split="whole"),
        linear("per_layer_projection", "per_layer_embedding", per_layer, hidden, split="whole"),
        norm("post_per_layer_input_norm", hidden),
    )


def stream_projections(config: ModelConfig) -> tuple[Module, ...]:
    """From the embedding into the further streams, and back before the head."""
    hidden, further = config.hidden_size, config.integer("altup_num_inputs", 4) - 1
    return tuple(
        linear(f"model.{name}.{index}", "altup", hidden, hidden)
        for name in ("altup_projections", "altup_unembed_projections")
        for index in range(further)
    )


GEMMA3N: Mapping[str, Builder] = {
    "Gemma3nForCausalLM": Decoder(
        blocks=(attention, feed_forward, alternating_updates),
        norms=4,
        always_tied=True,
        everywhere=EMBEDDED,
        every=(per_layer_embedding, stream_projections),
    ),
}
"""Builder of Gemma 3n's language model."""
