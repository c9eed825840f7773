"""Mixtures with per-layer tables or attention of their own: Laguna, Hunyuan, Mellum, MiniMax M3, LongCat."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.modules import Experts, Linear, Module, Output, Parameter, Vocabulary, linear, norm
from kvcore.budget.weights.parts.attention import (
    AttentionSizes,
    grouped_query,
    head_norms,
    output_projection,
    qkv,
    sizes_of,
)
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_layers, gated_mlp
from kvcore.budget.weights.parts.image_towers import CLIP_DEFAULTS
from kvcore.budget.weights.parts.latent_attention import latent_modules, latent_sizes
from kvcore.budget.weights.parts.moe import mixture, router, score_bias
from kvcore.budget.weights.parts.towers import VISION, Encoder, column_row, plain_tensor, tower_config
from kvcore.config import ModelConfig


def listed_is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture by `mlp_layer_types`."""
    kinds = config.sequence("mlp_layer_types")
    return kinds is None or index >= len(kinds) or kinds[index] == "sparse"


def at_layer(value: Any, index: int, default: int = 0) -> int:
    """A number that a config states once or per layer."""
    if isinstance(value, list | tuple):
        return int(value[index]) if index < len(value) else default
    return default if value is None else int(value)


def laguna_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Layers with heads of their own number, and a gate per head (vLLM 0.33.0 `LagunaAttention`)."""
    sizes = AttentionSizes(
        hidden_size=config.hidden_size,
        num_heads=at_layer(config.get("num_attention_heads_per_layer"), index, config.num_attention_heads),
        num_kv_heads=config.num_key_value_heads, head_dim=config.head_dim, v_head_dim=config.head_dim,
    )  # fmt: skip
    modules: list[Module] = [
        qkv("self_attn.qkv_proj", sizes),
        output_projection("self_attn.o_proj", sizes),
        *head_norms("self_attn.", sizes.head_dim),
    ]
    gating = config.get("gating")
    if gating:
        gates = sizes.num_heads * (sizes.head_dim if gating == "per-element" else 1)
        modules.append(linear("self_attn.g_proj", "attention", sizes.hidden_size, gates))
    return tuple(modules)


def hunyuan_experts(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Experts whose width and shared number may differ by layer (vLLM 0.33.0 `HunYuanSparseMoeBlock`)."""
    hidden, count = config.hidden_size, at_layer(config.get("num_experts"), index, 1)
    width = at_layer(config.get("moe_intermediate_size"), index, size(config, "intermediate_size"))
    shared = at_layer(config.get("num_shared_expert"), index, 1) if config.get("use_mixed_mlp_moe") else 0
    modules: list[Module] = [
        router("mlp.gate", hidden, count),
        Experts(name="mlp.experts", group="experts", count=count, inputs=hidden, intermediate=width),
    ]
    if shared:
        modules += gated_layers(
            "mlp.shared_mlp.", hidden, size(config, "intermediate_size") * shared, group="shared_experts"
        )
    return tuple(modules)


def _flag_at(values: object, index: int) -> bool:
    return bool(values[index]) if isinstance(values, list | tuple) and index < len(values) else False


def minimax_m3_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Attention whose sparse layers carry an indexer in the fused projection (vLLM 0.33.0 `MiniMaxM3Attention`)."""
    listed = config.mapping("sparse_attention_config").get("sparse_attention_freq") or config.get("moe_layer_freq")
    if _flag_at(listed, index):
        return minimax_m3_sparse_attention(config, index)
    fused, rest = _minimax_m3_parts(config)
    return (fused, *rest)


def minimax_m3_sparse_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A sparse layer, whatever the list says of its index: drafters are sparse."""
    sparse = config.mapping("sparse_attention_config")
    heads, dim = int(sparse.get("sparse_num_index_heads", 0)), int(sparse.get("sparse_index_dim", 0))
    keys = (Output(name="index_q_proj", size=heads * dim, heads=heads), Output(name="index_k_proj", size=dim, heads=1))
    fused, rest = _minimax_m3_parts(config)
    index_norms = Parameter(name="self_attn.index_norms", group="norms", size=2 * dim)
    return (replace(fused, outputs=(*fused.outputs, *keys)), *rest, index_norms)


def _minimax_m3_parts(config: ModelConfig) -> tuple[Linear, tuple[Module, ...]]:
    sizes = sizes_of(config)
    output = output_projection("self_attn.o_proj", sizes)
    return qkv("self_attn.qkv_proj", sizes), (output, *head_norms("self_attn.", sizes.head_dim))


def minimax_m3_is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture by `moe_layer_freq`."""
    return _flag_at(config.get("moe_layer_freq"), index)


def minimax_m3_vision(config: ModelConfig) -> tuple[Module, ...]:
    """MiniMax M3's tower, projector and patch merger (vLLM 0.33.0 `MiniMaxM3VLVisionModel`)."""
    tower = tower_config(config, "vision_config", CLIP_DEFAULTS)
    width, hidden = tower.hidden_size, config.hidden_size
    compression = tower.mapping("img_token_compression_config")
    merge = int(compression.get("spatial_merge_size", 2)) ** 2
    frames = int(compression.get("temporal_patch_size", 2))
    projected = int(config.root.get("projector_hidden_size") or hidden)
    encoder = Encoder(
        prefix="vision_tower.vision_model.encoder.layers", depth=size(tower, "num_hidden_layers"), hidden_size=width,
        intermediate_size=size(tower, "intermediate_size"), num_heads=tower.num_attention_heads, mlp="", quantizable=False,
    )  # fmt: skip
    names = ("linear_1", "linear_2")
    return (
        plain_tensor(
            "vision_tower.vision_model.embeddings.patch_embedding", width * 3 * frames * size(tower, "patch_size") ** 2
        ),
        norm("vision_tower.vision_model.pre_layrnorm", width, bias=True, group=VISION),
        *encoder.modules(),
        *column_row("vision_tower.multi_modal_projector.", width, projected, projected, names=names, quantizable=False),
        *column_row(
            "vision_tower.patch_merge_mlp.", merge * projected, projected, hidden, names=names, quantizable=False
        ),
    )


def longcat_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Two latent layers, two dense layers, one mixture, of which some experts pass their input on (vLLM 0.33.0 `FlashDecoderLayer`)."""
    hidden, count = config.hidden_size, size(config, "n_routed_experts")
    scored = count + config.integer("zero_expert_num", 0, minimum=0)
    modules: list[Module] = []
    for half in (0, 1):
        modules += latent_modules(latent_sizes(config), f"self_attn.{half}.")
        modules += gated_layers(f"mlps.{half}.", hidden, size(config, "ffn_hidden_size|intermediate_size"))
    return (
        *modules,
        router("mlp.router.classifier", hidden, scored, dtype="float32"),
        score_bias("mlp.router.e_score_correction_bias", scored),
        Experts(
            name="mlp.experts",
            group="experts",
            count=count,
            inputs=hidden,
            intermediate=size(config, "expert_ffn_hidden_size|moe_intermediate_size"),
        ),
    )


def ngram_embeddings(config: ModelConfig) -> tuple[Module, ...]:
    """Embeddings of token groups (vLLM 0.33.0 `NgramEmbedding`)."""
    neighbours, splits = size(config, "emb_neighbor_num"), size(config, "emb_split_num")
    tables = splits * (neighbours - 1)
    rows = size(config, "ngram_vocab_size_ratio") * config.integer("vocab_size")
    width = config.hidden_size // tables
    # Table i has rows + 2 i + 1 rows, so that the tables' sizes differ.
    total = sum(rows + 2 * table + 1 for table in range(tables))
    return (
        Parameter(name="ngram_embeddings.oe_projection", group="embedding", size=tables * width * config.hidden_size),
        Vocabulary(name="ngram_embeddings.oe_embedder", group="embedding", rows=total, width=width),
    )


MELLUM_BLOCKS = (
    grouped_query(qk_norm=True, qkv_bias="attention_bias", output_bias="attention_bias"),
    by_layer(listed_is_sparse, mixture(router_name="experts.gate"), gated_mlp()),
)
LAGUNA_BLOCKS = (
    laguna_attention,
    by_layer(
        listed_is_sparse,
        mixture(correction=True, correction_name="experts.e_score_correction_bias", shared="shared_expert_intermediate_size",
                shared_name="shared_expert."),
        gated_mlp(),
    ),
)  # fmt: skip
MINIMAX_M3_MIXTURE = mixture(
    count="num_local_experts", intermediate="intermediate_size", prefix="block_sparse_moe.", router_dtype="float32",
    correction="use_routing_bias", correction_name="e_score_correction_bias", shared="shared_intermediate_size",
    shared_count="n_shared_experts",
)  # fmt: skip
MINIMAX_M3_BLOCKS = (
    minimax_m3_attention,
    by_layer(minimax_m3_is_sparse, MINIMAX_M3_MIXTURE, gated_mlp(intermediate="dense_intermediate_size")),
)

SPARSE_OTHERS: Mapping[str, Builder] = {
    "MellumForCausalLM": Decoder(blocks=MELLUM_BLOCKS),
    "LagunaForCausalLM": Decoder(blocks=LAGUNA_BLOCKS),
    "HunYuanMoEV1ForCausalLM": Decoder(
        blocks=(
            grouped_query(qk_norm="use_qk_norm", qkv_bias="attention_bias", output_bias="attention_bias"),
            hunyuan_experts,
        )
    ),
    "MiniMaxM3SparseForConditionalGeneration": Decoder(
        blocks=MINIMAX_M3_BLOCKS, first=(minimax_m3_vision,), nested=True
    ),
    "LongcatFlashForCausalLM": Decoder(blocks=(longcat_layer,), norms=4),
    "LongcatFlashNgramForCausalLM": Decoder(blocks=(longcat_layer,), norms=4, first=(ngram_embeddings,)),
}
"""Builders of further mixtures."""
