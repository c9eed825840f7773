"""Gemma: four norms a layer, a head that is the embedding, and layers of two sizes."""

from collections.abc import Mapping
from dataclasses import replace

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.modules import Experts, Linear, Module, Output, Parameter, Vocabulary, linear, norm
from kvcore.budget.weights.parts.attention import GROUP, AttentionSizes, grouped_query, output_projection
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import gated_layers, gated_mlp
from kvcore.budget.weights.parts.gemma_towers import (
    gemma3_vision,
    gemma4_audio,
    gemma4_unified_embedders,
    gemma4_vision,
)
from kvcore.budget.weights.parts.moe import router
from kvcore.config import ModelConfig

EMBEDDED = frozenset({"embedding", "norm"})


def shared_layers_start(config: ModelConfig) -> int:
    """First layer that reuses another layer's keys and values."""
    return config.num_hidden_layers - (config.optional_integer("num_kv_shared_layers") or 0)


def gemma4_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Window and full layers of their own sizes; layers that share keys and values project queries only."""
    kinds = config.sequence("layer_types") or ()
    is_full = kinds[index] == "full_attention" if index < len(kinds) else False
    equal = is_full and bool(config.get("attention_k_eq_v"))
    head = config.integer("global_head_dim", config.head_dim) if is_full else config.head_dim
    kv_heads = (
        config.integer("num_global_key_value_heads", config.num_key_value_heads)
        if equal
        else config.num_key_value_heads
    )
    sizes = AttentionSizes(
        hidden_size=config.hidden_size,
        num_heads=config.num_attention_heads,
        num_kv_heads=kv_heads,
        head_dim=head,
        v_head_dim=head,
    )
    queries, keys = sizes.num_heads * head, kv_heads * head
    projections = [Output(name="q_proj", size=queries)]
    if index >= shared_layers_start(config):
        fused = Linear(
            name="self_attn.q_proj", group=GROUP, inputs=sizes.hidden_size, outputs=tuple(projections), attends="keys"
        )
        return fused, norm("self_attn.q_norm", head), output_projection("self_attn.o_proj", sizes)
    projections += [Output(name="k_proj", size=keys, heads=kv_heads), Output(name="v_proj", size=keys, heads=kv_heads)]
    fused = Linear(
        name="self_attn.qkv_proj",
        group=GROUP,
        inputs=sizes.hidden_size,
        outputs=tuple(projections),
        attends="keys",
        copied=keys if equal else 0,
    )
    return fused, norm("self_attn.qk_norm", 2 * head), output_projection("self_attn.o_proj", sizes)


def gemma4_feed_forward(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A dense layer, beside it the experts where the model has them, and the gate of per-layer embeddings."""
    hidden = config.hidden_size
    is_wide = bool(config.get("use_double_wide_mlp")) and index >= shared_layers_start(config)
    width = size(config, "intermediate_size") * (2 if is_wide else 1)
    modules: list[Module] = [*gated_layers("mlp.", hidden, width)]
    if config.get("enable_moe_block"):
        experts = size(config, "num_experts")
        modules += [
            router("router.proj", hidden, experts),
            Parameter(name="router.scales", group="router", size=hidden + experts),
            Experts(
                name="experts",
                group="experts",
                count=experts,
                inputs=hidden,
                intermediate=size(config, "moe_intermediate_size"),
            ),
            norm("experts_norms", 3 * hidden),
        ]
    per_layer = config.optional_integer("hidden_size_per_layer_input") or 0
    if per_layer:
        modules += [
            linear("per_layer_input_gate", "per_layer_embedding", hidden, per_layer, split="whole"),
            linear("per_layer_projection", "per_layer_embedding", per_layer, hidden, split="whole"),
            norm("post_per_layer_input_norm", hidden),
        ]
    return tuple(modules)


def per_layer_embedding(config: ModelConfig) -> tuple[Module, ...]:
    """Embeddings read at every layer, and their projection, on every stage."""
    per_layer = config.optional_integer("hidden_size_per_layer_input") or 0
    if not per_layer:
        return ()
    width = per_layer * config.num_hidden_layers
    rows = config.integer("vocab_size_per_layer_input", config.integer("vocab_size"))
    return (
        Vocabulary(name="embed_tokens_per_layer", group="per_layer_embedding", rows=rows, width=width),
        linear("per_layer_model_projection", "per_layer_embedding", config.hidden_size, width),
        norm("per_layer_projection_norm", per_layer),
    )


GEMMA3_BLOCKS = (grouped_query(qk_norm=True, qkv_bias="attention_bias", output_bias="attention_bias"), gated_mlp())
GEMMA4_BLOCKS = (gemma4_attention, gemma4_feed_forward)
GEMMA4 = Decoder(blocks=GEMMA4_BLOCKS, norms=4, always_tied=True, everywhere=EMBEDDED, every=(per_layer_embedding,))

GEMMA: Mapping[str, Builder] = {
    "GemmaForCausalLM": Decoder(blocks=(grouped_query(), gated_mlp()), always_tied=True, everywhere=EMBEDDED),
    "Gemma2ForCausalLM": Decoder(
        blocks=(grouped_query(qkv_bias="attention_bias", output_bias="attention_bias"), gated_mlp()),
        norms=4, always_tied=True, everywhere=EMBEDDED,
    ),
    "Gemma3ForCausalLM": Decoder(blocks=GEMMA3_BLOCKS, norms=4, tied_by_default=True, everywhere=EMBEDDED),
    "Gemma3ForConditionalGeneration": Decoder(
        blocks=GEMMA3_BLOCKS, norms=4, tied_by_default=True, everywhere=EMBEDDED, first=(gemma3_vision,), nested=True
    ),
    "Gemma4ForCausalLM": GEMMA4,
    "Gemma4ForConditionalGeneration": replace(GEMMA4, first=(gemma4_vision, gemma4_audio), nested=True),
    "Gemma4UnifiedForConditionalGeneration": replace(GEMMA4, first=(gemma4_unified_embedders,), nested=True),
}  # fmt: skip
"""Builders of the Gemma families."""
