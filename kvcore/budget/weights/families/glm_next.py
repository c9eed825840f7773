"""GLM-5.3-Flash: delta attention beside indexed latents, hyper-connections, and a tower."""

from collections.abc import Mapping
from dataclasses import replace

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.families.deepseek import ALWAYS_CORRECTED, indexer
from kvcore.budget.weights.families.deepseek_v4 import hyper_connections
from kvcore.budget.weights.modules import Linear, Module, Output, Parameter, linear, norm
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_layers, gated_mlp
from kvcore.budget.weights.parts.latent_attention import latent_attention
from kvcore.budget.weights.parts.towers import VISION, Encoder, plain_tensor, tower_config
from kvcore.config import ModelConfig

GROUP = "state"
MERGE = 2


def is_full(config: ModelConfig, index: int) -> bool:
    """Whether a layer attends to latents, by `layer_types` or by the list of full layers, counted from 0."""
    kinds = config.sequence("layer_types")
    if kinds is not None and index < len(kinds):
        return bool(kinds[index] != "linear_attention")
    return index in (config.mapping("linear_attn_config").get("full_attn_layers") or ())


def is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture, by `mlp_layer_types` or all but the first few."""
    kinds = config.sequence("mlp_layer_types")
    if kinds is not None and index < len(kinds):
        return bool(kinds[index] == "sparse")
    return index >= (config.optional_integer("first_k_dense_replace") or 0)


def delta_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Delta attention with both low-rank gates in the fused projection (vLLM 0.33.0 `Glm5NextLinearAttention`)."""
    hidden = config.hidden_size
    heads, dim = size(config, "linear_attn_config.num_heads"), size(config, "linear_attn_config.head_dim")
    width, kernel = heads * dim, size(config, "linear_attn_config.short_conv_kernel_size")
    outputs = (
        *(Output(name=name, size=width) for name in ("q_proj", "k_proj", "v_proj")),
        Output(name="b_proj", size=heads),
        Output(name="f_a_proj", size=dim, heads=1),
        Output(name="g_a_proj", size=dim, heads=1),
    )
    return (
        Linear(name="self_attn.in_proj_qkvbfg_a", group=GROUP, inputs=hidden, outputs=outputs),
        Parameter(name="self_attn.conv1d", group=GROUP, size=3 * width * kernel, split=True, dtype="float32"),
        Parameter(name="self_attn.dt_bias", group=GROUP, size=width, split=True, dtype="float32"),
        Parameter(name="self_attn.A_log", group=GROUP, size=heads, split=True, dtype="float32"),
        linear("self_attn.f_b_proj", GROUP, dim, width),
        linear("self_attn.g_b_proj", GROUP, dim, width),
        norm("self_attn.o_norm", dim),
        linear("self_attn.o_proj", GROUP, width, hidden, split="row"),
    )


def plain_latents(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Latent attention whose projections no scheme touches (vLLM 0.33.0 `Glm5NextDecoderLayer`)."""
    modules = latent_attention()(config, index)
    return tuple(replace(module, quantizable=False) if isinstance(module, Linear) else module for module in modules)


def pooled_indexer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """The token indexer of latent layers, with the gate that pools keys where keys are compressed."""
    if not is_full(config, index):
        return ()
    modules = indexer(config, index)
    return (*modules, *key_pool(config, index)) if modules else ()


def key_pool(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """The gate that pools an indexer's keys and the positions inside a pool, where the config compresses keys."""
    pool = config.optional_integer("index_kpool") or 0
    if not pool or not config.get("index_kpool_compress"):
        return ()
    dim, prefix = size(config, "index_head_dim"), "self_attn.indexer.index_kpool_compress_"
    return (
        Parameter(name=f"{prefix}ape", group="indexer", size=pool * dim, dtype="float32"),
        Parameter(name=f"{prefix}gate", group="indexer", size=dim * config.hidden_size),
    )


def vision(config: ModelConfig) -> tuple[Module, ...]:
    """The tower, its downsampling and its merger (vLLM 0.33.0 `Glm5NextVisionTransformer`)."""
    tower = tower_config(
        config, "vision_config", {"in_channels": 3, "temporal_patch_size": 2, "spatial_merge_size": MERGE}
    )
    width, out, wide = tower.hidden_size, size(tower, "out_hidden_size"), size(tower, "projection_intermediate_size")
    patch = size(tower, "in_channels") * size(tower, "temporal_patch_size") * size(tower, "patch_size") ** 2
    encoder = Encoder(
        prefix="visual.blocks",
        depth=size(tower, "depth"),
        hidden_size=width,
        intermediate_size=size(tower, "intermediate_size"),
        num_heads=size(tower, "num_heads"),
        attention="attn.",
        qkv="qkv",
        output="proj",
        gated=True,
        bias=bool(tower.get("attention_bias", True)),
        norm_bias=False,
        qk_norms=True,
        quantizable=False,
    )
    return (
        plain_tensor("visual.patch_embed", width * patch + width),
        *encoder.modules(),
        norm("visual.post_layernorm", width, group=VISION),
        plain_tensor("visual.downsample", out * width * size(tower, "spatial_merge_size") ** 2 + out),
        linear("visual.merger.proj", VISION, out, out, quantizable=False),
        norm("visual.merger.post_projection_norm", out, bias=True, group=VISION),
        *gated_layers("visual.merger.", out, wide, group=VISION, quantizable=False),
    )


BLOCKS = (
    by_layer(is_full, plain_latents, delta_attention),
    pooled_indexer,
    by_layer(is_sparse, ALWAYS_CORRECTED, gated_mlp()),
    hyper_connections,
)

GLM_NEXT: Mapping[str, Builder] = {
    "Glm5NextForCausalLM": Decoder(blocks=BLOCKS),
    "Glm5NextForConditionalGeneration": Decoder(blocks=BLOCKS, first=(vision,), nested=True),
}
"""Builders of GLM-5.3-Flash, alone and with its tower."""
