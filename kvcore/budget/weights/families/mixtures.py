"""Language models with grouped-query attention and mixtures of experts, outside the Qwen family."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import EVERYWHERE, Builder, Decoder
from kvcore.budget.weights.modules import Experts, Module
from kvcore.budget.weights.parts.attention import (
    AttentionSizes,
    grouped_query,
    output_projection,
    qkv,
    sinks,
    sizes_of,
)
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_layers, gated_mlp
from kvcore.budget.weights.parts.moe import mixture, router
from kvcore.config import ModelConfig


def from_first_dense(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture: all but the first few (`first_k_dense_replace`)."""
    return index >= (config.optional_integer("first_k_dense_replace") or 0)


def by_frequency_list(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture by a list with one entry per layer (`moe_layer_freq`)."""
    listed = config.sequence("moe_layer_freq")
    return bool(listed[index]) if listed is not None and index < len(listed) else True


def gpt_oss_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Attention with biases and sinks (vLLM 0.33.0 `OAIAttention`)."""
    sizes = sizes_of(config)
    return (
        qkv("self_attn.qkv_proj", sizes, bias=True, quantizable=False),
        output_projection("self_attn.o_proj", sizes, bias=True),
        sinks("self_attn.", sizes.num_heads),
    )


def gpt_oss_experts(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Experts with biases (vLLM 0.33.0 `GptOssForCausalLM`)."""
    hidden, experts = config.hidden_size, size(config, "num_local_experts|num_experts")
    width = size(config, "intermediate_size")
    return (
        router("mlp.router", hidden, experts, bias=True),
        Experts(name="mlp.experts", group="experts", count=experts, inputs=hidden, intermediate=width, bias=True),
    )


def mimo_v2_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Window and full layers of their own sizes (vLLM 0.33.0 `MiMoV2Attention`)."""
    pattern = config.sequence("hybrid_layer_pattern") or ()
    if index < len(pattern) and pattern[index] == 1:
        return mimo_v2_window(config, index)
    sizes = AttentionSizes(
        hidden_size=config.hidden_size,
        num_heads=config.num_attention_heads,
        num_kv_heads=config.num_key_value_heads,
        head_dim=config.head_dim,
        v_head_dim=config.integer("v_head_dim", config.head_dim),
    )
    return _with_sinks(sizes, has_sinks=bool(config.get("add_full_attention_sink_bias")))


def mimo_v2_window(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A window layer, with sinks where the config says so."""
    sizes = AttentionSizes(
        hidden_size=config.hidden_size,
        num_heads=size(config, "swa_num_attention_heads|num_attention_heads"),
        num_kv_heads=size(config, "swa_num_key_value_heads|num_key_value_heads"),
        head_dim=size(config, "swa_head_dim|head_dim"),
        v_head_dim=size(config, "swa_v_head_dim|v_head_dim|head_dim"),
    )
    return _with_sinks(sizes, has_sinks=bool(config.get("add_swa_attention_sink_bias")))


def _with_sinks(sizes: AttentionSizes, *, has_sinks: bool) -> tuple[Module, ...]:
    modules: list[Module] = [qkv("self_attn.qkv_proj", sizes), output_projection("self_attn.o_proj", sizes)]
    if has_sinks:
        modules.append(sinks("self_attn.", sizes.num_heads))
    return tuple(modules)


def llama4_is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture (vLLM 0.33.0 `Llama4DecoderLayer`)."""
    listed = config.sequence("moe_layers")
    if listed:
        return index in listed
    step = config.integer("interleave_moe_layer_step", 1, minimum=0)
    return step > 0 and (index + 1) % step == 0


LLAMA4_MIXTURE = mixture(
    count="num_local_experts", intermediate="intermediate_size", router_name="router", prefix="feed_forward.",
    shared="intermediate_size", shared_name="shared_expert.",
)  # fmt: skip
LLAMA4_BLOCKS = (
    grouped_query(qkv_bias="attention_bias"),
    by_layer(llama4_is_sparse, LLAMA4_MIXTURE, gated_mlp(intermediate="intermediate_size_mlp", prefix="feed_forward.")),
)
MINIMAX_M2_BLOCKS = (
    grouped_query(qk_norm="use_qk_norm=true", norms="full"),
    mixture(
        count="num_local_experts", intermediate="intermediate_size", prefix="block_sparse_moe.", router_dtype="float32",
        correction="use_routing_bias", correction_name="e_score_correction_bias",
    ),
)  # fmt: skip
MIMO_V2_MIXTURE = mixture(
    count="n_routed_experts", router_dtype="float32", correction=True, shared_count="n_shared_experts"
)
MIMO_V2_BLOCKS = (mimo_v2_attention, by_layer(by_frequency_list, MIMO_V2_MIXTURE, gated_mlp()))
GLM4_MOE_BLOCKS = (
    grouped_query(qkv_bias="attention_bias", qk_norm="use_qk_norm"),
    by_layer(
        from_first_dense,
        mixture(count="n_routed_experts", shared_count="n_shared_experts", correction=True, router_dtype="float32"),
        gated_mlp(),
    ),
)
BAILING_BLOCKS = (
    grouped_query(
        prefix="attention.", qkv_name="query_key_value", output_name="dense", qkv_bias="use_qkv_bias|use_bias",
        output_bias="use_bias",
    ),
    by_layer(from_first_dense, mixture(shared_count="num_shared_experts"), gated_mlp()),
)  # fmt: skip
PHIMOE_BLOCKS = (
    grouped_query(qkv_bias="attention_bias", output_bias="attention_bias"),
    mixture(count="num_local_experts", intermediate="intermediate_size", prefix="block_sparse_moe."),
)
DBRX_BLOCKS = (
    grouped_query(prefix="norm_attn_norm.attn.", qkv_name="Wqkv", output_name="out_proj"),
    mixture(
        count="ffn_config.moe_num_experts",
        intermediate="ffn_config.ffn_hidden_size",
        prefix="ffn.",
        router_name="router.layer",
    ),
)
GRANITE_MOE_BLOCKS = (
    grouped_query(qkv_bias="attention_bias", output_bias="attention_bias"),
    mixture(count="num_local_experts", intermediate="intermediate_size", prefix="block_sparse_moe."),
)

MIXTURES: Mapping[str, Builder] = {
    "MixtralForCausalLM": Decoder(blocks=(grouped_query(), mixture(prefix="block_sparse_moe.")), everywhere=EVERYWHERE),
    "GptOssForCausalLM": Decoder(blocks=(gpt_oss_attention, gpt_oss_experts), everywhere=EVERYWHERE),
    "MiniMaxM2ForCausalLM": Decoder(blocks=MINIMAX_M2_BLOCKS),
    "MiMoV2FlashForCausalLM": Decoder(blocks=MIMO_V2_BLOCKS),
    "Glm4MoeForCausalLM": Decoder(blocks=GLM4_MOE_BLOCKS),
    "BailingMoeForCausalLM": Decoder(blocks=BAILING_BLOCKS, embedding="model.word_embeddings"),
    "PhiMoEForCausalLM": Decoder(blocks=PHIMOE_BLOCKS, norm_bias=True, head_bias=True, everywhere=EVERYWHERE),
    "PhimoeForCausalLM": Decoder(blocks=PHIMOE_BLOCKS, norm_bias=True, head_bias=True, everywhere=EVERYWHERE),
    "DbrxForCausalLM": Decoder(
        blocks=DBRX_BLOCKS, prefix="transformer.blocks", embedding="transformer.wte", everywhere=EVERYWHERE
    ),
    "GraniteMoeForCausalLM": Decoder(blocks=GRANITE_MOE_BLOCKS, tied_by_default=True, everywhere=EVERYWHERE),
    "Llama4ForCausalLM": Decoder(blocks=LLAMA4_BLOCKS),
}
"""Builders of mixtures."""

__all__ = ["LLAMA4_BLOCKS", "MIMO_V2_BLOCKS", "MIXTURES", "from_first_dense", "gated_layers"]
