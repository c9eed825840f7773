"""Models that mix attention with layers that keep a state."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import EVERYWHERE, Builder, Decoder
from kvcore.budget.weights.modules import Experts, Module, linear, norm
from kvcore.budget.weights.parts.attention import AttentionSizes, grouped_query, output_projection, qkv
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_layers, plain_layers
from kvcore.budget.weights.parts.image_towers import lfm2_vision
from kvcore.budget.weights.parts.mamba import Mamba2Sizes, mamba2_modules
from kvcore.budget.weights.parts.moe import router, score_bias
from kvcore.budget.weights.parts.states import short_convolution
from kvcore.config import ModelConfig
from kvcore.errors import config_error

NEMOTRON_KINDS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}


def lfm2_is_full(config: ModelConfig, index: int) -> bool:
    """Whether a layer attends (`layer_types`, or `full_attn_idxs`)."""
    kinds = config.sequence("layer_types")
    if kinds is not None:
        return bool(kinds[index] == "full_attention")
    return index in (config.sequence("full_attn_idxs") or ())


def lfm2_feed_forward(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A gated layer whose width the class may adjust (vLLM 0.33.0 `Lfm2MLP`)."""
    width = size(config, "block_ff_dim|intermediate_size")
    if config.get("block_auto_adjust_ff_dim", True):
        width = int(2 * width / 3)
        multiplier = config.get("block_ffn_dim_multiplier", 1.0)
        if multiplier is not None:
            width = int(float(multiplier) * width)
        multiple = config.integer("block_multiple_of", 256)
        width = multiple * ((width + multiple - 1) // multiple)
    return gated_layers("feed_forward.", config.hidden_size, width, names=("w13", "w1", "w3", "w2"))


LFM2_BLOCKS = (
    by_layer(lfm2_is_full, grouped_query(qk_norm=True, output_name="out_proj"), short_convolution()),
    lfm2_feed_forward,
)


def nemotron_kind(config: ModelConfig, index: int) -> str:
    """What a layer of Nemotron-H is, from its pattern or its list of block types.

    Raises:
        ConfigError: The layer is of an unknown kind.
    """
    pattern = config.get("hybrid_override_pattern")
    if isinstance(pattern, str) and index < len(pattern):
        kind = NEMOTRON_KINDS.get(pattern[index])
    else:
        listed = config.sequence("layers_block_type") or ()
        kind = str(listed[index]) if index < len(listed) else None
    if kind not in NEMOTRON_KINDS.values():
        raise config_error(
            config.path("hybrid_override_pattern"), pattern, f"layer {index} is of no known kind", "Give it unchanged."
        )
    return kind or ""


def nemotron_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """One layer of Nemotron-H (vLLM 0.33.0 `NemotronHForCausalLM`)."""
    return nemotron_block(config, nemotron_kind(config, index))


def nemotron_block(config: ModelConfig, kind: str) -> tuple[Module, ...]:
    """What a layer of a kind mixes with: a state, attention, a dense layer or experts."""
    hidden = config.hidden_size
    if kind == "mamba":
        sizes = Mamba2Sizes(
            hidden_size=hidden, num_heads=size(config, "mamba_num_heads"), head_dim=size(config, "mamba_head_dim"),
            groups=size(config, "n_groups"), state_size=size(config, "ssm_state_size"), kernel=size(config, "conv_kernel"),
            conv_bias=bool(config.get("use_conv_bias", True)), bias=bool(config.get("use_bias", False)),
        )  # fmt: skip
        return mamba2_modules("mixer.", sizes)
    if kind == "attention":
        attention = AttentionSizes(
            hidden_size=hidden, num_heads=config.num_attention_heads, num_kv_heads=config.num_key_value_heads,
            head_dim=config.head_dim, v_head_dim=config.head_dim,
        )  # fmt: skip
        return qkv("mixer.qkv_proj", attention), output_projection("mixer.o_proj", attention)
    if kind == "mlp":
        return plain_layers(
            "mixer.", hidden, size(config, "intermediate_size"), bias=bool(config.get("mlp_bias", False))
        )
    return _nemotron_experts(config, hidden)


def _nemotron_experts(config: ModelConfig, hidden: int) -> tuple[Module, ...]:
    count, width = size(config, "n_routed_experts"), size(config, "moe_intermediate_size")
    narrow = config.optional_integer("moe_latent_size") or 0
    shared = config.integer("moe_shared_expert_intermediate_size", 0, minimum=0) * config.integer(
        "n_shared_experts", 1, minimum=0
    )
    modules: list[Module] = [
        router("mixer.gate", hidden, count),
        score_bias("mixer.gate.e_score_correction_bias", count),
        Experts(
            name="mixer.experts", group="experts", count=count, inputs=narrow or hidden, intermediate=width, gated=False
        ),
    ]
    if shared:
        modules += plain_layers("mixer.shared_experts.", hidden, shared, group="shared_experts")
    if narrow:
        modules.append(linear("mixer.fc1_latent_proj", "experts", hidden, narrow, split="whole"))
        modules.append(linear("mixer.fc2_latent_proj", "experts", narrow, hidden, split="whole"))
    return tuple(modules)


HYBRIDS: Mapping[str, Builder] = {
    "Lfm2ForCausalLM": Decoder(blocks=LFM2_BLOCKS, always_tied=True, everywhere=frozenset({"embedding"})),
    "Lfm2VlForConditionalGeneration": Decoder(
        blocks=LFM2_BLOCKS, always_tied=True, everywhere=frozenset({"embedding"}), first=(lfm2_vision,),
        nested=True,
    ),
    "NemotronHForCausalLM": Decoder(blocks=(nemotron_layer,), norms=1, prefix="model.layers", everywhere=EVERYWHERE),
}  # fmt: skip
"""Builders of hybrids."""

__all__ = ["HYBRIDS", "norm"]
