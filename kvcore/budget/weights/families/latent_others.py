"""Further models with latent attention or norms around their mixtures: A.X K1, Sarvam, Pangu Ultra, Mistral Large 3, Param2."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.families.deepseek import DEEPSEEK, is_sparse
from kvcore.budget.weights.families.mixtures import from_first_dense
from kvcore.budget.weights.families.sparse_others import listed_is_sparse
from kvcore.budget.weights.modules import Module, norm
from kvcore.budget.weights.parts.attention import grouped_query
from kvcore.budget.weights.parts.facts import flag, size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_layers, gated_mlp
from kvcore.budget.weights.parts.latent_attention import latent_attention, latent_modules, latent_sizes
from kvcore.budget.weights.parts.moe import mixture
from kvcore.config import ModelConfig


def axk1_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Latent attention whose low-rank projections stand apart (vLLM 0.33.0 `AXK1MLAAttention`)."""
    return latent_modules(latent_sizes(config), "self_attn.", fused=False)


def axk1_is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture, by its listed type or by counting (vLLM 0.33.0 `_get_mlp_layer_types`)."""
    if config.sequence("mlp_layer_types") is not None:
        return listed_is_sparse(config, index)
    return is_sparse(config, index)


def axk1_mixture(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A mixture with a routing correction unless the config names another way to choose (vLLM 0.33.0 `AXK1MoE`)."""
    corrected = config.get("topk_method", "noaux_tc") == "noaux_tc"
    return mixture(count="n_routed_experts", shared_count="n_shared_experts", correction=corrected)(config, index)


def sandwich_norms(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Norms before and after the feed-forward layer where the config asks for them (vLLM 0.33.0 `OpenPanguDecoderLayer`)."""
    return (norm("mlp_norms", 2 * config.hidden_size),) if flag(config, "sandwich_norm") else ()


def sarvam_is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture, counted from the first that may be (vLLM 0.33.0 `SarvamMLABlock`)."""
    since = index - config.integer("first_k_dense_replace", 1, minimum=0)
    return since >= 0 and since % config.integer("moe_layer_freq", 1) == 0


def param2_mixture(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A mixture whose shared width counts all shared experts at once (vLLM 0.33.0 `Param2MoEMoEBlock`)."""
    routed = mixture(
        count="num_experts", intermediate="moe_intermediate_size", router_dtype="float32",
        correction="moe_router_enable_expert_bias=true",
    )(config, index)  # fmt: skip
    count = config.integer("num_shared_experts", 1, minimum=0)
    width = config.optional_integer("moe_shared_expert_intermediate_size") or (
        count * size(config, "moe_intermediate_size")
    )
    if not count:
        return routed
    return (*routed, *gated_layers("mlp.shared_experts.", config.hidden_size, width, group="shared_experts"))


PANGU_MIXTURE = mixture(
    count="n_routed_experts", shared_count="n_shared_experts", correction="router_enable_expert_bias"
)
SARVAM_MIXTURE = mixture(
    count="num_experts", intermediate="moe_intermediate_size", correction="moe_router_enable_expert_bias=true",
    shared="moe_shared_expert_intermediate_size|moe_intermediate_size", shared_count="num_shared_experts",
)  # fmt: skip

LATENT_OTHERS: Mapping[str, Builder] = {
    "AXK1ForCausalLM": Decoder(
        blocks=(axk1_attention, by_layer(axk1_is_sparse, axk1_mixture, gated_mlp())), norms=3, never_tied=True
    ),
    "MistralLarge3ForCausalLM": DEEPSEEK["DeepseekV3ForCausalLM"],
    "PanguUltraMoEForCausalLM": Decoder(
        blocks=(latent_attention(bias=False), sandwich_norms, by_layer(from_first_dense, PANGU_MIXTURE, gated_mlp()))
    ),
    "Param2MoEForCausalLM": Decoder(
        blocks=(
            grouped_query(qk_norm="use_qk_norm", qkv_bias="use_qkv_bias", output_bias="use_bias"),
            by_layer(from_first_dense, param2_mixture, gated_mlp()),
        )
    ),
    "SarvamMLAForCausalLM": Decoder(
        blocks=(latent_attention(bias=False), by_layer(sarvam_is_sparse, SARVAM_MIXTURE, gated_mlp()))
    ),
}
"""Builders of further models with latent attention."""
