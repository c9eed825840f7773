"""StepFun's models from Step 3.5 on."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.modules import Experts, Module, linear
from kvcore.budget.weights.parts.attention import AttentionSizes, head_norms, output_projection, qkv
from kvcore.budget.weights.parts.facts import flag, size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_layers, gated_mlp
from kvcore.budget.weights.parts.moe import router, score_bias
from kvcore.config import ModelConfig
from kvcore.errors import config_error

SLIDING = "sliding_attention"


def layer_heads(config: ModelConfig, index: int) -> int:
    """Query heads, of which window layers may have a number of their own (vLLM 0.33.0 `_get_num_attention_heads`)."""
    kinds = config.sequence("layer_types")
    if kinds is None or index >= len(kinds):
        raise config_error(config.path("layer_types"), None, f"layer {index} has no type", "Give it unchanged.")
    if kinds[index] == SLIDING:
        other = config.mapping("attention_other_setting")
        stated = config.optional_integer("num_sliding_attention_heads")
        if stated:
            return stated
        if other.get("attention_type") == SLIDING:
            return int(other["num_attention_heads"])
    if config.get("per_layer_config") is not None:
        rule = "heads stated layer by layer in this form are not known to kvcore"
        raise config_error(
            config.path("per_layer_config"), None, rule, "Give weights_gib from the log's Model loading took."
        )
    return config.num_attention_heads


def attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Attention with a gate per head where the config asks for it (vLLM 0.33.0 `Step3p5Attention`)."""
    heads, head = layer_heads(config, index), config.head_dim
    sizes = AttentionSizes(
        hidden_size=config.hidden_size, num_heads=heads, num_kv_heads=config.num_key_value_heads, head_dim=head,
        v_head_dim=head,
    )  # fmt: skip
    modules: list[Module] = [
        qkv("self_attn.qkv_proj", sizes, bias=flag(config, "attention_bias")),
        output_projection("self_attn.o_proj", sizes),
        *head_norms("self_attn.", head),
    ]
    if flag(config, "use_head_wise_attn_gate"):
        modules.append(linear("self_attn.g_proj", "attention", sizes.hidden_size, heads))
    return tuple(modules)


def is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture, by its listed type, its listed number, or all but the first (`_is_moe_layer`)."""
    kinds, numbers = config.sequence("mlp_layer_types"), config.get("moe_layers_enum")
    if kinds is not None:
        return index < len(kinds) and kinds[index] == "sparse"
    if isinstance(numbers, str):
        return index in {int(number) for number in numbers.strip().split(",")}
    return index > 0


def experts(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Experts with a shared one of its own width (vLLM 0.33.0 `FusedMoEBlock` of Step 3.5)."""
    hidden, count = config.hidden_size, size(config, "moe_num_experts")
    return (
        router("moe.gate", hidden, count, dtype="float32"),
        score_bias("moe.router_bias", count),
        *gated_layers("moe.share_expert.", hidden, size(config, "share_expert_dim"), group="shared_experts"),
        Experts(
            name="moe.experts",
            group="experts",
            count=count,
            inputs=hidden,
            intermediate=size(config, "moe_intermediate_size"),
        ),
    )


STEP3P5_BLOCKS = (attention, by_layer(is_sparse, experts, gated_mlp()))

STEPS: Mapping[str, Builder] = {"Step3p5ForCausalLM": Decoder(blocks=STEP3P5_BLOCKS, never_tied=True)}
"""Builders of StepFun's models."""
