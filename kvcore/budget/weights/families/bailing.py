"""Bailing (Ling, Ring) after its first release, and Sarvam's models built on its code."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.families.mixtures import from_first_dense
from kvcore.budget.weights.modules import Linear, Module, Network, Parameter, linear, norm
from kvcore.budget.weights.parts.attention import AttentionSizes, grouped_query, output_projection, qkv
from kvcore.budget.weights.parts.facts import LayerBlock, flag, size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_layers, gated_mlp
from kvcore.budget.weights.parts.latent_attention import latent_modules, latent_sizes
from kvcore.budget.weights.parts.moe import mixture
from kvcore.budget.weights.quantization import quantization_section
from kvcore.config import ModelConfig
from kvcore.errors import config_error

GROUP = "state"
ROUTER_DTYPES = {"fp32": "float32"}
"""Element types by `router_dtype`; any other name means bfloat16 (vLLM 0.33.0 `BailingMoE`)."""


def bailing_mixture(*, router_default: str | None, correction: str = "gate.expert_bias") -> LayerBlock:
    """Experts with shared ones whose width may be stated apart (vLLM 0.33.0 `BailingMoE`, `BailingMoeV25`).

    Args:
        router_default: The router's element type where the config names none; None: the model's.
        correction: Name of the routing correction below the mixture.
    """

    def build(config: ModelConfig, index: int) -> tuple[Module, ...]:
        stated = config.get("router_dtype")
        return mixture(
            count="num_experts", intermediate="moe_intermediate_size",
            router_dtype=router_default if stated is None else ROUTER_DTYPES.get(str(stated), "bfloat16"),
            correction="moe_router_enable_expert_bias", correction_name=correction,
            shared="moe_shared_expert_intermediate_size|moe_intermediate_size", shared_count="num_shared_experts",
        )(config, index)  # fmt: skip

    return build


def head_norms(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Norms of queries and keys, which have biases unless the config says otherwise (vLLM 0.33.0 `BailingAttention`)."""
    if not flag(config, "use_qk_norm"):
        return ()
    return (norm("attention.qk_norms", 2 * config.head_dim, bias=not flag(config, "use_rmsnorm")),)


def attends(config: ModelConfig, index: int) -> bool:
    """Whether a layer attends to latents: the last of each group (vLLM 0.33.0 `is_linear_layer`)."""
    group = config.integer("layer_group_size", 1, minimum=0)
    return not group or (index + 1) % group == 0


def attends_v3(config: ModelConfig, index: int) -> bool:
    """As before, and all layers behind the last whole group (vLLM 0.33.0 `_is_kda_layer`)."""
    group = config.integer("layer_group_size")
    return (index + 1) % group == 0 or index >= config.num_hidden_layers // group * group


def linear_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Linear attention, with as many key and value heads as queries (vLLM 0.33.0 `BailingMoELinearAttention`)."""
    heads, head, hidden = config.num_attention_heads, config.integer("head_dim"), config.hidden_size
    if head != config.integer("qk_rope_head_dim"):
        rule = "Hugging Face's class and the checkpoint's own code read different head sizes, so the widths are unknown"
        raise config_error(config.path("head_dim"), head, rule, "Give weights_gib from the log's Model loading took.")
    sizes = AttentionSizes(hidden_size=hidden, num_heads=heads, num_kv_heads=heads, head_dim=head, v_head_dim=head)
    modules: list[Module] = [
        qkv("self_attn.query_key_value", sizes, bias=flag(config, "use_bias|use_qkv_bias")),
        linear("self_attn.g_proj", GROUP, hidden, heads * head),
        output_projection("self_attn.dense", sizes, bias=flag(config, "use_bias")),
        Parameter(name="self_attn.g_norm", group="norms", size=heads * head, split=True),
    ]
    if flag(config, "use_qk_norm"):
        modules.append(norm("self_attn.qk_norms", 2 * head))
    return tuple(modules)


def latents(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Latent attention without biases (vLLM 0.33.0 `BailingMoeV25MLAAttention`)."""
    return latent_modules(latent_sizes(config), "self_attn.")


def gated_latents(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Latent attention with a gate per head or per element (vLLM 0.33.0 `BailingMoeV3MLAAttention`)."""
    heads, wide = config.num_attention_heads, latent_sizes(config).v_head_dim
    gates = {"head_wise": heads, "element_wise": heads * wide}
    width = gates.get(str(config.get("gated_attention_proj_granularity_type")), 0)
    modules = latents(config, index)
    return (*modules, linear("self_attn.g_proj", "attention", config.hidden_size, width)) if width else modules


def delta_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Delta attention with full-rank gates (vLLM 0.33.0 `BailingMoeV3KimiDeltaAttention`)."""
    heads, hidden = config.num_attention_heads, config.hidden_size
    width, kernel = heads * config.integer("head_dim"), config.integer("short_conv_kernel_size", 4)
    fused = {"q_proj": width, "k_proj": width, "v_proj": width, "b_proj": heads}
    modules: list[Linear | Parameter] = [
        linear("self_attn.qkvb_proj", GROUP, hidden, fused),
        linear("self_attn.f_proj", GROUP, hidden, width),
        linear("self_attn.g_proj", GROUP, hidden, width),
        linear("self_attn.o_proj", GROUP, width, hidden, split="row"),
        norm("self_attn.o_norm", config.integer("head_dim")),
    ]
    for name, elements in (("conv1d", 3 * width * kernel), ("dt_bias", width), ("A_log", heads)):
        modules.append(Parameter(name=f"self_attn.{name}", group=GROUP, size=elements, split=True, dtype="float32"))
    return tuple(modules)


def v3_experts(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Experts whose shared width is stated for one of them (vLLM 0.33.0 `BailingMoeV3MoE`)."""
    shared = size(config, "moe_shared_expert_intermediate_size") * config.integer("num_shared_experts", 1)
    routed = mixture(count="num_experts", intermediate="moe_intermediate_size", router_dtype="float32", correction=True,
                     correction_name="gate.expert_bias")(config, index)  # fmt: skip
    return (*routed, *gated_layers("mlp.shared_experts.", config.hidden_size, shared, group="shared_experts"))


def bailing_v3(config: ModelConfig) -> Network:
    """Bailing V3.

    Raises:
        ConfigError: The checkpoint is quantized: its blocks are padded by rules not read here, or a size is absent.
    """
    if quantization_section(config):
        rule = "this architecture pads and splits quantized layers by rules kvcore does not know"
        raise config_error("quantization_config", None, rule, "Give weights_gib from the log's Model loading took.")
    return V3(config)


V2 = Decoder(
    blocks=(
        grouped_query(
            prefix="attention.", qkv_name="query_key_value", output_name="dense", qkv_bias="use_qkv_bias|use_bias",
            output_bias="use_bias",
        ),
        head_norms,
        by_layer(from_first_dense, bailing_mixture(router_default=None), gated_mlp()),
    ),
    embedding="model.word_embeddings",
)  # fmt: skip
V3 = Decoder(
    blocks=(by_layer(attends_v3, gated_latents, delta_attention), by_layer(from_first_dense, v3_experts, gated_mlp())),
    embedding="model.word_embeddings", never_tied=True,
)  # fmt: skip

BAILING: Mapping[str, Builder] = {
    "BailingMoeV2ForCausalLM": V2,
    "SarvamMoEForCausalLM": V2,
    "BailingMoeV2_5ForCausalLM": Decoder(
        blocks=(
            by_layer(attends, latents, linear_attention),
            by_layer(from_first_dense, bailing_mixture(router_default="float32"), gated_mlp()),
        ),
        embedding="model.word_embeddings", never_tied=True,
    ),
    "BailingMoeV3ForCausalLM": bailing_v3,
}  # fmt: skip
"""Builders of Bailing's later models."""
