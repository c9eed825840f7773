"""Kimi Linear and K3: delta attention beside latent attention, experts that may work in a narrower space."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.modules import Experts, Linear, Module, Output, Parameter, linear, norm
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_layers, gated_mlp
from kvcore.budget.weights.parts.latent_attention import LatentSizes, latent_modules, latent_sizes
from kvcore.budget.weights.parts.moe import router, score_bias
from kvcore.budget.weights.parts.towers import VISION, Encoder, column_row, plain_tensor, tower_config
from kvcore.config import ModelConfig

GROUP = "state"

GATED_INPUT_MULTIPLE = 16
"""Multiple of the fused input projection's outputs on a rank in K3 (vLLM 0.33.0 `KimiK3DeltaAttention`)."""


def is_full(config: ModelConfig, index: int) -> bool:
    """Whether a layer attends to latents; the lists count layers from 1."""
    listed = config.mapping("linear_attn_config").get("full_attn_layers") or ()
    return index + 1 in listed


def delta_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Kimi delta attention (vLLM 0.33.0 `KimiDeltaAttention`)."""
    hidden = config.hidden_size
    heads, dim = size(config, "linear_attn_config.num_heads"), size(config, "linear_attn_config.head_dim")
    kernel, width = size(config, "linear_attn_config.short_conv_kernel_size"), heads * dim
    full_gate = bool(config.get("linear_attn_config.use_full_rank_gate", config.get("mla_use_output_gate", False)))
    outputs = [
        Output(name=name, size=width) for name in ("q_proj", "k_proj", "v_proj", *(("g_proj",) if full_gate else ()))
    ]
    outputs += [Output(name="f_a_proj", size=dim, heads=1), Output(name="b_proj", size=heads)]
    modules: list[Module] = [
        Linear(
            name="self_attn.in_proj_qkvgfab",
            group=GROUP,
            inputs=hidden,
            outputs=tuple(outputs),
            pads_to=GATED_INPUT_MULTIPLE if full_gate else 1,
        ),
        Parameter(name="self_attn.conv1d", group=GROUP, size=3 * width * kernel, split=True, dtype="float32"),
        Parameter(name="self_attn.dt_bias", group=GROUP, size=width, split=True, dtype="float32"),
        Parameter(name="self_attn.A_log", group=GROUP, size=heads, split=True, dtype="float32"),
        linear("self_attn.f_b_proj", GROUP, dim, width),
        norm("self_attn.o_norm", dim),
        linear("self_attn.o_proj", GROUP, width, hidden, split="row"),
    ]
    if not full_gate:
        modules.append(linear("self_attn.g_a_proj", GROUP, hidden, dim, split="whole"))
        modules.append(linear("self_attn.g_b_proj", GROUP, dim, width))
    return tuple(modules)


def latents(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Latent attention, in K3 with an output gate beside the low-rank projections."""
    sizes = latent_sizes(config)
    if not config.get("mla_use_output_gate"):
        return latent_modules(sizes, "self_attn.")
    return _gated_latents(sizes)


def _gated_latents(sizes: LatentSizes) -> tuple[Module, ...]:
    rank = sizes.q_lora_rank or 0
    latent = sizes.kv_lora_rank + sizes.qk_rope_head_dim
    gate = sizes.num_heads * sizes.v_head_dim
    outputs = (
        Output(name="q_a_proj", size=rank, heads=1),
        Output(name="kv_a_proj_with_mqa", size=latent, heads=1),
        Output(name="g_proj", size=gate),
    )
    rest = [module for module in latent_modules(sizes, "self_attn.") if not module.name.endswith("fused_qkv_a_proj")]
    return Linear(
        name="self_attn.fused_qkv_a_g_proj", group="attention", inputs=sizes.hidden_size, outputs=outputs
    ), *rest


def is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture (vLLM 0.33.0 `KimiDecoderLayer`)."""
    return (
        index >= config.integer("first_k_dense_replace", 0, minimum=0)
        and index % config.integer("moe_layer_freq", 1) == 0
    )


def experts(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Experts, in K3 behind a projection into a narrower space."""
    prefix, hidden = "block_sparse_moe.", config.hidden_size
    count, width = size(config, "num_experts"), size(config, "moe_intermediate_size")
    narrow = config.optional_integer("routed_expert_hidden_size") or 0
    shared = config.integer("num_shared_experts", 0, minimum=0)
    modules: list[Module] = [
        router(f"{prefix}gate", hidden, count),
        score_bias(f"{prefix}gate.e_score_correction_bias", count),
        Experts(
            name=f"{prefix}experts",
            group="experts",
            count=count,
            inputs=narrow or hidden,
            intermediate=width,
            intermediate_at_least=config.integer("min_moe_intermediate_per_partition", 256),
        ),
    ]
    if shared:
        modules += gated_layers(f"{prefix}shared_experts.", hidden, width * shared, group="shared_experts")
    if narrow:
        modules += [
            linear(f"{prefix}routed_expert_down_proj", "experts", hidden, narrow, split="whole", quantizable=False),
            linear(f"{prefix}routed_expert_up_proj", "experts", narrow, hidden, split="whole", quantizable=False),
        ]
        if config.get("latent_moe_use_norm"):
            modules.append(norm(f"{prefix}routed_expert_norm", narrow))
    return tuple(modules)


def residual_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """K3's attention over earlier residuals: a norm and a vector before each half of a layer."""
    if not config.get("attn_res_block_size"):
        return ()
    return (Parameter(name="residual_attention", group="norms", size=4 * config.hidden_size),)


def last_residual_attention(config: ModelConfig) -> tuple[Module, ...]:
    """The same before the final norm."""
    return (Parameter(name="output_attn_res", group="norms", size=2 * config.hidden_size),)


def k3_vision(config: ModelConfig) -> tuple[Module, ...]:
    """K3's tower and projector, whole on every rank."""
    tower = tower_config(config, "vision_config")
    width, depth = size(tower, "vt_hidden_size|hidden_size"), size(tower, "vt_num_hidden_layers|num_hidden_layers")
    heads, inner = (
        size(tower, "vt_num_attention_heads|num_attention_heads"),
        size(tower, "qkv_hidden_size|vt_hidden_size"),
    )
    kernel = tower.sequence("merge_kernel_size") or (2, 2)
    merged = width * int(kernel[0]) * int(kernel[1])
    positions = tower.integer("init_pos_emb_height", 64) * tower.integer("init_pos_emb_width", 64)
    patch = width * 3 * size(tower, "patch_size") ** 2 + (width if tower.get("patch_embed_proj_bias", True) else 0)
    encoder = Encoder(
        prefix="vision_tower.encoder.blocks", depth=depth, hidden_size=width,
        intermediate_size=size(tower, "vt_intermediate_size|intermediate_size"), num_heads=heads, head_dim=inner // heads,
        attention="", qkv="wqkv", output="wo", mlp_names=("fc0", "fc1"), quantizable=False, only_whole_heads=True,
        bias=bool(tower.get("attn_bias", True)), mlp_bias=bool(tower.get("linear_bias", True)), norm_bias=False,
    )  # fmt: skip
    return (
        plain_tensor("vision_tower.patch_embed", patch + positions * width),
        *encoder.modules(),
        norm("vision_tower.encoder.final_layernorm", width, group=VISION),
        *column_row("mm_projector.", merged, merged, config.hidden_size, names=("linear_1", "linear_2"), split=False,
                    quantizable=False, bias=False),
        norm("mm_projector.post_norm", config.hidden_size, group=VISION),
    )  # fmt: skip


BLOCKS = (by_layer(is_full, latents, delta_attention), by_layer(is_sparse, experts, gated_mlp()))

KIMI: Mapping[str, Builder] = {
    "KimiLinearForCausalLM": Decoder(blocks=BLOCKS),
    "KimiK3ForConditionalGeneration": Decoder(
        blocks=(*BLOCKS, residual_attention), first=(k3_vision,), last=(last_residual_attention,),
        nested=True,
    ),
}  # fmt: skip
"""Builders of Kimi's hybrids."""
