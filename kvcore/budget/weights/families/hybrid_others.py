"""Further hybrids and mixtures: OLMo Hybrid, Kolibri, Muse Glimmer without its tower."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import EVERYWHERE, Builder, Decoder
from kvcore.budget.weights.families.older import muse_attention
from kvcore.budget.weights.families.qwen import is_full_attention
from kvcore.budget.weights.modules import Linear, Module, Output, Parameter, linear
from kvcore.budget.weights.parts.attention import grouped_query
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_mlp
from kvcore.budget.weights.parts.moe import mixture
from kvcore.budget.weights.parts.states import GROUP, heads_vector
from kvcore.config import ModelConfig


def olmo_delta_net(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A gated delta net whose betas and decays are projected apart (vLLM 0.33.0 `OlmoHybridGatedDeltaNet`)."""
    hidden, prefix = config.hidden_size, "linear_attn."
    key_heads, value_heads = size(config, "linear_num_key_heads"), size(config, "linear_num_value_heads")
    keys, value_dim = key_heads * size(config, "linear_key_head_dim"), size(config, "linear_value_head_dim")
    values, kernel = value_heads * value_dim, size(config, "linear_conv_kernel_dim")
    outputs = (("q_proj", keys), ("k_proj", keys), ("v_proj", values), ("g_proj", values))
    return (
        Linear(
            name=f"{prefix}in_proj_qkvg",
            group=GROUP,
            inputs=hidden,
            outputs=tuple(Output(name=name, size=width) for name, width in outputs),
        ),
        linear(f"{prefix}b_proj", GROUP, hidden, value_heads),
        linear(f"{prefix}a_proj", GROUP, hidden, value_heads),
        Parameter(name=f"{prefix}conv1d", group=GROUP, size=(2 * keys + values) * kernel, split=True),
        heads_vector(f"{prefix}dt_bias", value_heads),
        heads_vector(f"{prefix}A_log", value_heads),
        Parameter(name=f"{prefix}o_norm", group=GROUP, size=value_dim),
        linear(f"{prefix}o_proj", GROUP, values, hidden, split="row"),
    )


KOLIBRI_MIXTURE = mixture(
    count="num_local_experts=384",
    intermediate="moe_intermediate_size=512",
    shared="shared_expert_intermediate_size=512",
)

HYBRID_OTHERS: Mapping[str, Builder] = {
    "Kolibri1ForCausalLM": Decoder(blocks=(grouped_query(qk_norm=True), KOLIBRI_MIXTURE), norms=4),
    "MuseGlimmerForCausalLM": Decoder(blocks=(muse_attention, gated_mlp()), norms=4, everywhere=EVERYWHERE),
    "OlmoHybridForCausalLM": Decoder(
        blocks=(
            by_layer(is_full_attention, grouped_query(qk_norm=True, norms="whole"), olmo_delta_net),
            gated_mlp(),
        ),
        everywhere=EVERYWHERE,
    ),
}
"""Builders of further hybrids and mixtures."""
