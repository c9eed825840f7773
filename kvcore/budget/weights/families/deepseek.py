"""Latent attention: DeepSeek and the families built on it, with mixtures and token indexers."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.modules import Module, Parameter, linear, norm
from kvcore.budget.weights.parts.facts import LayerBlock, size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_mlp
from kvcore.budget.weights.parts.latent_attention import latent_attention, latent_modules, latent_sizes
from kvcore.budget.weights.parts.moe import mixture
from kvcore.budget.weights.parts.towers import VISION, Encoder, column_row, plain_tensor, tower_config
from kvcore.config import ModelConfig


def is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture (vLLM 0.33.0 `DeepseekV2DecoderLayer`)."""
    experts = config.optional_integer("n_routed_experts")
    dense = config.optional_integer("first_k_dense_replace") or 0
    return bool(experts) and index >= dense and index % config.integer("moe_layer_freq", 1) == 0


def corrected_mixture(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A mixture, with a routing correction where scores are chosen by it (`topk_method` noaux_tc)."""
    corrected = config.get("topk_method") == "noaux_tc"
    return mixture(count="n_routed_experts", shared_count="n_shared_experts", correction=corrected)(config, index)


ALWAYS_CORRECTED = mixture(count="n_routed_experts", shared_count="n_shared_experts", correction=True)


def indexer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """The token indexer of sparse latent attention, whole on every rank (vLLM 0.33.0 `Indexer`)."""
    kinds = config.sequence("indexer_types")
    if kinds is not None and index < len(kinds) and kinds[index] != "full":
        return ()
    heads, dim = size(config, "index_n_heads"), size(config, "index_head_dim")
    hidden, low_rank = config.hidden_size, size(config, "q_lora_rank")
    prefix = "self_attn.indexer."
    return (
        linear(f"{prefix}wq_b", "indexer", low_rank, heads * dim, split="whole"),
        linear(
            f"{prefix}wk_weights_proj",
            "indexer",
            hidden,
            {"wk": dim, "weights_proj": heads},
            split="whole",
            quantizable=False,
        ),
        norm_float32(f"{prefix}k_norm", 2 * dim),
    )


def norm_float32(name: str, elements: int) -> Module:
    """A norm kept in float32."""
    return Parameter(name=name, group="indexer", size=elements, dtype="float32")


def minicpm3_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Latent attention whose low-rank projections stand apart (vLLM 0.33.0 `MiniCPM3Attention`)."""
    return latent_modules(latent_sizes(config), "self_attn.", fused=False)


def kimi_vision(config: ModelConfig) -> tuple[Module, ...]:
    """MoonViT and its projector (vLLM 0.33.0 `MoonViT3dPretrainedModel`)."""
    tower = tower_config(config, "vision_config")
    width, depth = size(tower, "vt_hidden_size|hidden_size"), size(tower, "vt_num_hidden_layers|num_hidden_layers")
    heads = size(tower, "vt_num_attention_heads|num_attention_heads")
    kernel = tower.sequence("merge_kernel_size") or (2, 2)
    merged = width * int(kernel[0]) * int(kernel[1])
    positions = tower.integer("init_pos_emb_height", 64) * tower.integer("init_pos_emb_width", 64)
    encoder = Encoder(
        prefix="vision_tower.encoder.blocks", depth=depth, hidden_size=width,
        intermediate_size=size(tower, "vt_intermediate_size|intermediate_size"), num_heads=heads, attention="", qkv="wqkv",
        output="wo", mlp_names=("fc0", "fc1"), quantizable=False, only_whole_heads=True,
    )  # fmt: skip
    return (
        plain_tensor(
            "vision_tower.patch_embed", width * 3 * size(tower, "patch_size") ** 2 + width + positions * width
        ),
        *encoder.modules(),
        norm("vision_tower.encoder.final_layernorm", width, bias=True, group=VISION),
        norm("mm_projector.pre_norm", width, bias=True, group=VISION),
        *column_row(
            "mm_projector.",
            merged,
            merged,
            config.hidden_size,
            names=("linear_1", "linear_2"),
            split=False,
            quantizable=False,
        ),
    )


DEEPSEEK_BLOCKS: tuple[LayerBlock, ...] = (latent_attention(), by_layer(is_sparse, corrected_mixture, gated_mlp()))
SPARSE_BLOCKS: tuple[LayerBlock, ...] = (
    latent_attention(),
    indexer,
    by_layer(is_sparse, ALWAYS_CORRECTED, gated_mlp()),
)
GLM_LITE_MIXTURE = mixture(
    count="n_routed_experts", shared_count="n_shared_experts", correction=True, router_dtype="float32"
)
GLM_LITE_BLOCKS: tuple[LayerBlock, ...] = (latent_attention(), by_layer(is_sparse, GLM_LITE_MIXTURE, gated_mlp()))

DEEPSEEK: Mapping[str, Builder] = {
    "DeepseekV2ForCausalLM": Decoder(blocks=DEEPSEEK_BLOCKS),
    "DeepseekV3ForCausalLM": Decoder(blocks=DEEPSEEK_BLOCKS),
    "DeepseekV32ForCausalLM": Decoder(blocks=SPARSE_BLOCKS),
    "GlmMoeDsaForCausalLM": Decoder(blocks=SPARSE_BLOCKS),
    "Glm4MoeLiteForCausalLM": Decoder(blocks=GLM_LITE_BLOCKS),
    "KimiK25ForConditionalGeneration": Decoder(blocks=DEEPSEEK_BLOCKS, first=(kimi_vision,), nested=True),
    "MiniCPM3ForCausalLM": Decoder(
        blocks=(minicpm3_attention, gated_mlp()), tied_by_default=True, everywhere=frozenset({"embedding", "norm"})
    ),
}
"""Builders of the families with latent attention."""
