"""Older and unusual dense models."""

from collections.abc import Mapping
from typing import Any

from kvcore.budget.weights.decoder import EVERYWHERE, Builder, Decoder
from kvcore.budget.weights.modules import Module, Parameter, Vocabulary, linear, norm
from kvcore.budget.weights.parts.attention import AttentionSizes, grouped_query, output_projection, qkv
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import gated_layers, gated_mlp, plain_mlp
from kvcore.budget.weights.parts.qwen_towers import qwen2_5_vision
from kvcore.budget.weights.parts.towers import VISION, Encoder, plain_tensor, tower_config, whole
from kvcore.config import ModelConfig


def gpt2_positions(config: ModelConfig) -> tuple[Module, ...]:
    """Learned positions."""
    return (
        Parameter(
            name="wpe", group="embedding", size=size(config, "n_positions|max_position_embeddings") * config.hidden_size
        ),
    )


def word_norm(config: ModelConfig) -> tuple[Module, ...]:
    """A norm after the embedding."""
    return (norm("word_embeddings_layernorm", config.hidden_size, bias=True),)


def gpt2_mlp(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A dense layer, by default four times as wide as the model."""
    hidden = config.hidden_size
    width = config.optional_integer("n_inner") or 4 * hidden
    return (
        linear("mlp.c_fc", "mlp", hidden, width, bias=True),
        linear("mlp.c_proj", "mlp", width, hidden, split="row", bias=True),
    )


def four_times(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A dense layer four times as wide as the model (vLLM 0.33.0 `BloomMLP`)."""
    hidden = config.hidden_size
    return (
        linear("mlp.dense_h_to_4h", "mlp", hidden, 4 * hidden, bias=True),
        linear("mlp.dense_4h_to_h", "mlp", 4 * hidden, hidden, split="row", bias=True),
    )


def nas_block(config: ModelConfig, index: int) -> Mapping[str, Any]:
    """One layer's entry of a searched architecture (`block_configs`).

    Raises:
        ConfigError: The config lists no such layer.
    """
    blocks = config.sequence("block_configs")
    if blocks is None or index >= len(blocks) or not isinstance(blocks[index], Mapping):
        raise config.missing("block_configs")
    block: Mapping[str, Any] = blocks[index]
    return block


def nas_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A layer whose halves may be missing or narrower (vLLM 0.33.0 `DeciLMDecoderLayer`)."""
    block, hidden = nas_block(config, index), config.hidden_size
    attention, feed_forward = block.get("attention") or {}, block.get("ffn") or {}
    modules: list[Module] = []
    if attention.get("replace_with_linear"):
        modules.append(linear("self_attn.linear_attn", "attention", hidden, hidden))
    elif not attention.get("no_op"):
        heads = config.num_attention_heads
        head = config.head_dim
        sizes = AttentionSizes(
            hidden_size=hidden,
            num_heads=heads,
            num_kv_heads=heads // int(attention["n_heads_in_group"]),
            head_dim=head,
            v_head_dim=head,
        )
        modules += [qkv("self_attn.qkv_proj", sizes), output_projection("self_attn.o_proj", sizes)]
    if not attention.get("no_op"):
        modules.append(norm("input_layernorm", hidden))
    if not feed_forward.get("no_op"):
        width = int(2 * float(feed_forward["ffn_mult"]) * hidden / 3)
        width += -width % 256
        modules += [*gated_layers("mlp.", hidden, width), norm("post_attention_layernorm", hidden)]
    return tuple(modules)


def exaone4_5_vision(config: ModelConfig) -> tuple[Module, ...]:
    """Qwen2.5's tower with grouped keys and values (vLLM 0.33.0 `Exaone4_5_VisionTransformer`)."""
    tower = tower_config(config, "vision_config")
    kv_heads = tower.integer("num_key_value_heads", size(tower, "num_heads"))
    width, heads = tower.hidden_size, size(tower, "num_heads")
    encoder = Encoder(
        prefix="visual.blocks", depth=size(tower, "depth"), hidden_size=width, intermediate_size=size(tower, "intermediate_size"),
        num_heads=heads, num_kv_heads=kv_heads, attention="attn.", qkv="qkv", output="proj", gated=True, norm_bias=False,
    )  # fmt: skip
    rest = [module for module in qwen2_5_vision(config) if not module.name.startswith("visual.blocks")]
    return (*encoder.modules(), *rest)


def muse_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Attention with an output gate beside it (vLLM 0.33.0 `MuseGlimmerAttention`)."""
    gate = config.num_attention_heads * config.head_dim
    return (
        *grouped_query(qkv_bias="attention_bias", output_bias="attention_bias")(config, index),
        linear("self_attn.output_gate_proj", "attention", config.hidden_size, gate),
    )


def muse_vision(config: ModelConfig) -> tuple[Module, ...]:
    """Muse Glimmer's tower: attention divided, the rest on every rank."""
    tower = tower_config(config, "vision_config")
    width = tower.hidden_size
    merged = width * int(tower.get("merge_size", 2)) ** 2
    encoder = Encoder(
        prefix="vision_encoder.transformer", depth=size(tower, "num_hidden_layers"), hidden_size=width,
        intermediate_size=1, num_heads=tower.num_attention_heads, attention="attn.", output="o_proj", only_whole_heads=True,
    )  # fmt: skip
    attention = [module for module in encoder.modules() if ".mlp." not in module.name]
    wide = size(tower, "intermediate_size")
    feed_forward = encoder.depth * (2 * width * wide + wide + width)
    patch = 3 * int(tower.get("patch_temporal", 2)) * size(tower, "patch_size") ** 2
    positions = size(tower, "pos_emb_height") * size(tower, "pos_emb_width")
    between = int(config.root.get("projector_hidden_size") or 4096)
    return (
        plain_tensor("vision_encoder.embeddings", positions * width + patch * width + 4 * width),
        *attention,
        plain_tensor("vision_encoder.mlp", feed_forward),
        whole("vision_adapter.c_fc", merged, between, bias=False),
        whole("vision_adapter.c_proj", between, between, bias=False),
        whole("vision_projection", between, config.hidden_size, bias=False),
    )


def molmo_vision(config: ModelConfig) -> tuple[Module, ...]:
    """Molmo's fixed tower, pooling and projector (vLLM 0.33.0 `MolmoVisionBackbone`); its sizes stand in the code, not the config."""
    width, wide, layers, patches, patch = 1024, 4096, 23, 577, 588
    features = 2 * width
    encoder = Encoder(
        prefix="vision_backbone.image_vit.transformer.resblocks", depth=layers, hidden_size=width, intermediate_size=wide,
        num_heads=16, attention="attention.", output="wo", mlp="feed_forward.", mlp_names=("w1", "w2"),
    )  # fmt: skip
    inner = size(config, "intermediate_size") // 2
    pooling = "vision_backbone.image_pooling_2d."
    return (
        plain_tensor("vision_backbone.embeddings", 2 * features + width + patches * width + patch * width + 2 * width),
        *encoder.modules(),
        linear(f"{pooling}wqkv", VISION, features, {"wq": width, "wk": width, "wv": width}, bias=True),
        linear(f"{pooling}wo", VISION, width, width, split="row", bias=True),
        linear("vision_backbone.image_projector.merged_linear", VISION, width, {"gate_proj": inner, "up_proj": inner}),
        linear("vision_backbone.image_projector.down_proj", VISION, inner, config.hidden_size, split="row"),
        Vocabulary(name="additional_embeddings", group="embedding", rows=128, width=config.hidden_size),
    )


def halved_mlp(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A gated layer whose stated width counts gate and up projection together (vLLM 0.33.0 `LanguageModelMLP` of Molmo)."""
    return gated_layers("mlp.", config.hidden_size, size(config, "intermediate_size") // 2)


STABLELM_BLOCKS = (grouped_query(qkv_bias="use_qkv_bias"), gated_mlp())
EMBEDDED = frozenset({"embedding", "norm"})

OLDER: Mapping[str, Builder] = {
    "GPT2LMHeadModel": Decoder(
        blocks=(grouped_query(prefix="attn.", qkv_name="c_attn", output_name="c_proj", qkv_bias=True, output_bias=True), gpt2_mlp),
        norm_bias=True, tied_by_default=True, every=(gpt2_positions,), everywhere=EVERYWHERE, prefix="transformer.h",
        embedding="transformer.wte",
    ),
    "BloomForCausalLM": Decoder(
        blocks=(
            grouped_query(prefix="self_attention.", qkv_name="query_key_value", output_name="dense", qkv_bias=True, output_bias=True),
            four_times,
        ),
        norm_bias=True, tied_by_default=True, every=(word_norm,), everywhere=EVERYWHERE, prefix="transformer.h",
        embedding="transformer.word_embeddings",
    ),
    "StableLmForCausalLM": Decoder(blocks=STABLELM_BLOCKS, norm_bias=True, everywhere=EVERYWHERE),
    "StableLMEpochForCausalLM": Decoder(blocks=STABLELM_BLOCKS, norm_bias=True, everywhere=EVERYWHERE),
    "DeciLMForCausalLM": Decoder(blocks=(nas_layer,), norms=0),
    "Exaone4_5_ForConditionalGeneration": Decoder(
        blocks=(grouped_query(qk_norm=True), gated_mlp()), first=(exaone4_5_vision,), nested=True
    ),
    "MuseGlimmerForConditionalGeneration": Decoder(
        blocks=(muse_attention, gated_mlp()), norms=4, first=(muse_vision,), everywhere=EVERYWHERE
    ),
    "MolmoForCausalLM": Decoder(
        blocks=(grouped_query(qkv_bias="qkv_bias"), halved_mlp), first=(molmo_vision,), everywhere=EVERYWHERE
    ),
    "CohereForCausalLM": Decoder(blocks=(grouped_query(qkv_bias="attention_bias", output_bias="attention_bias"), gated_mlp()),
                                 norms=1, always_tied=True, everywhere=EMBEDDED),
    "Cohere2ForCausalLM": Decoder(blocks=(grouped_query(qkv_bias="attention_bias", output_bias="attention_bias"), gated_mlp()),
                                  norms=1, always_tied=True, everywhere=EMBEDDED),
    "GPTNeoXForCausalLM": Decoder(
        blocks=(grouped_query(prefix="attention.", qkv_name="query_key_value", output_name="dense", qkv_bias="attention_bias=true",
                              output_bias="attention_bias=true"),
                plain_mlp(names=("dense_h_to_4h", "dense_4h_to_h"))),
        norm_bias=True, prefix="gpt_neox.layers", embedding="gpt_neox.embed_in",
    ),
}  # fmt: skip
"""Builders of older and unusual dense models."""
