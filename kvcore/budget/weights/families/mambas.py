"""Mamba models and the hybrids built around Mamba layers."""

from collections.abc import Mapping

from kvcore.arithmetic import cdiv
from kvcore.budget.weights.decoder import EVERYWHERE, Builder, Decoder
from kvcore.budget.weights.modules import Experts, Module, linear, norm
from kvcore.budget.weights.parts.attention import AttentionSizes, grouped_query, output_projection, qkv
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import gated_layers, gated_mlp
from kvcore.budget.weights.parts.mamba import Mamba2Sizes, mamba1_modules, mamba2_modules
from kvcore.budget.weights.parts.moe import router
from kvcore.config import ModelConfig


def mamba_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """One Mamba layer under the keys of Hugging Face `MambaConfig`."""
    hidden = config.hidden_size
    inner = config.integer("intermediate_size", config.integer("expand", 2) * hidden)
    steps = config.get("time_step_rank", "auto")
    rank = cdiv(hidden, 16) if steps == "auto" else size(config, "time_step_rank")
    return mamba1_modules(
        "mixer.", hidden, inner, size(config, "state_size"), size(config, "conv_kernel"), rank,
        conv_bias=bool(config.get("use_conv_bias", True)), bias=bool(config.get("use_bias", False)),
    )  # fmt: skip


def mamba2_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """One Mamba 2 layer under the keys of Hugging Face `Mamba2Config`."""
    sizes = Mamba2Sizes(
        hidden_size=config.hidden_size, num_heads=size(config, "num_heads"), head_dim=size(config, "head_dim"),
        groups=config.integer("n_groups", 1), state_size=size(config, "state_size"), kernel=size(config, "conv_kernel"),
        conv_bias=bool(config.get("use_conv_bias", True)), bias=bool(config.get("use_bias", False)),
    )  # fmt: skip
    return mamba2_modules("mixer.", sizes)


def hybrid_mamba2(config: ModelConfig, prefix: str, *, with_norm: bool = True) -> tuple[Module, ...]:
    """One Mamba 2 layer under the keys with ``mamba_`` in front."""
    hidden = config.hidden_size
    heads = size(config, "mamba_n_heads|n_mamba_heads")
    inner = config.optional_integer("mamba_d_ssm") or config.integer("mamba_expand", 2) * hidden
    stated = config.get("mamba_d_head", config.get("mamba_headdim"))
    sizes = Mamba2Sizes(
        hidden_size=hidden, num_heads=heads, head_dim=stated if isinstance(stated, int) else inner // heads,
        groups=size(config, "mamba_n_groups|mamba_ngroups"), state_size=size(config, "mamba_d_state"),
        kernel=size(config, "mamba_d_conv"), conv_bias=bool(config.get("mamba_conv_bias", config.get("use_conv_bias", True))),
        bias=bool(config.get("mamba_proj_bias", config.get("add_bias_linear", False))),
    )  # fmt: skip
    return mamba2_modules(prefix, sizes, norm=with_norm)


def granite_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Attention or a state, then experts where there are any, and a shared layer (vLLM 0.33.0 `GraniteMoeHybridModel`)."""
    hidden = config.hidden_size
    kinds = config.sequence("layer_types") or config.sequence("layers_block_type") or ()
    is_attention = index < len(kinds) and kinds[index] in {"attention", "full_attention"}
    modules: list[Module] = []
    if is_attention:
        modules += grouped_query(qkv_bias="attention_bias", output_bias="attention_bias")(config, index)
    else:
        modules += hybrid_mamba2(config, "mamba.")
    count = config.integer("num_local_experts", 0, minimum=0)
    if count:
        modules += [
            router("block_sparse_moe.gate", hidden, count),
            Experts(
                name="block_sparse_moe.experts",
                group="experts",
                count=count,
                inputs=hidden,
                intermediate=size(config, "intermediate_size"),
            ),
        ]
    shared = config.integer("shared_intermediate_size", 0, minimum=0)
    if shared:
        names = ("input_linear", "input_linear", "input_linear", "output_linear")
        group = "shared_experts" if count else "mlp"
        modules += [
            linear("shared_mlp.input_linear", group, hidden, (shared, shared)),
            linear(f"shared_mlp.{names[3]}", group, shared, hidden, split="row"),
        ]
    return tuple(modules)


def falcon_h1_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Attention and a state side by side, then a dense layer (vLLM 0.33.0 `FalconH1ParallelHybrid`)."""
    return (
        *grouped_query(qkv_bias="attention_bias", output_bias="attention_bias")(config, index),
        *hybrid_mamba2(config, "mamba.mamba.", with_norm=bool(config.get("mamba_rms_norm", False))),
        *gated_mlp(prefix="feed_forward.", bias="mlp_bias")(config, index),
    )


def jamba_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Attention or a state, then a dense layer or experts, each in its period (vLLM 0.33.0 `JambaModel`)."""
    hidden = config.hidden_size
    modules: list[Module] = []
    if index % config.integer("attn_layer_period", 8) == config.integer("attn_layer_offset", 4, minimum=0):
        sizes = AttentionSizes(
            hidden_size=hidden, num_heads=config.num_attention_heads, num_kv_heads=config.num_key_value_heads,
            head_dim=hidden // config.num_attention_heads, v_head_dim=hidden // config.num_attention_heads,
        )  # fmt: skip
        modules += [qkv("qkv_proj", sizes), output_projection("o_proj", sizes)]
    else:
        state, rank = size(config, "mamba_d_state"), size(config, "mamba_dt_rank")
        modules += mamba1_modules(
            "mamba.", hidden, config.integer("mamba_expand", 2) * hidden, state, size(config, "mamba_d_conv"), rank,
            conv_bias=bool(config.get("mamba_conv_bias", True)), bias=bool(config.get("mamba_proj_bias", False)),
            norms=(rank, state, state),
        )  # fmt: skip
    width, count = size(config, "intermediate_size"), config.integer("num_experts", 16)
    is_sparse = count > 1 and index % config.integer("expert_layer_period", 2) == config.integer(
        "expert_layer_offset", 1, minimum=0
    )
    if is_sparse:
        modules.append(router("feed_forward.router", hidden, count))
        modules.append(
            Experts(name="feed_forward.experts", group="experts", count=count, inputs=hidden, intermediate=width)
        )
    else:
        modules += gated_layers("feed_forward.", hidden, width)
    return tuple(modules)


def zamba2_is_hybrid(config: ModelConfig, index: int) -> bool:
    """Whether a layer also runs the shared transformer."""
    kinds = config.sequence("layers_block_type") or ()
    return index in (config.sequence("hybrid_layer_ids") or ()) or (index < len(kinds) and kinds[index] == "hybrid")


def zamba2_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A state, and in hybrid layers a projection and adapters of the shared transformer (vLLM 0.33.0 `Zamba2HybridLayer`)."""
    hidden = config.hidden_size
    if not zamba2_is_hybrid(config, index):
        return hybrid_mamba2(config, "mamba.")
    modules: list[Module] = [
        *hybrid_mamba2(config, "mamba_decoder.mamba."),
        linear("linear", "attention", hidden, hidden, split="whole"),
    ]
    rank, width = config.integer("adapter_rank", 128), size(config, "intermediate_size")
    modules += [
        linear("shared_transformer.feed_forward.adapter.A", "mlp", hidden, rank, quantizable=False),
        linear("shared_transformer.feed_forward.adapter.B", "mlp", rank, 2 * width, quantizable=False),
    ]
    if config.get("use_shared_attention_adapter"):
        raise config.missing("use_shared_attention_adapter")
    return tuple(modules)


def zamba2_shared(config: ModelConfig) -> tuple[Module, ...]:
    """The transformer blocks that hybrid layers take turns with, on every stage."""
    hidden, heads = config.hidden_size, config.num_attention_heads
    head = config.integer("attention_head_dim", 2 * hidden // heads)
    sizes = AttentionSizes(hidden_size=2 * hidden, num_heads=heads, num_kv_heads=heads, head_dim=head, v_head_dim=head)
    block: list[Module] = [
        qkv("shared_transformer.self_attn.qkv_proj", sizes),
        linear("shared_transformer.self_attn.o_proj", "attention", heads * head, hidden, split="row"),
        *gated_layers("shared_transformer.feed_forward.", hidden, size(config, "intermediate_size")),
        norm("shared_transformer.norms", 2 * hidden + hidden),
    ]
    return tuple(block * config.integer("num_mem_blocks", 1))


MAMBAS: Mapping[str, Builder] = {
    "MambaForCausalLM": Decoder(blocks=(mamba_layer,), norms=1, tied_by_default=True, prefix="backbone.layers",
                                embedding="backbone.embeddings", everywhere=EVERYWHERE),
    "FalconMambaForCausalLM": Decoder(blocks=(mamba_layer,), norms=1, tied_by_default=True, prefix="backbone.layers",
                                      embedding="backbone.embeddings", everywhere=EVERYWHERE),
    "Mamba2ForCausalLM": Decoder(blocks=(mamba2_layer,), norms=1, prefix="backbone.layers", embedding="backbone.embeddings",
                                 everywhere=EVERYWHERE),
    "GraniteMoeHybridForCausalLM": Decoder(blocks=(granite_layer,), tied_by_default=True, everywhere=EVERYWHERE),
    "FalconH1ForCausalLM": Decoder(blocks=(falcon_h1_layer,)),
    "JambaForCausalLM": Decoder(blocks=(jamba_layer,), everywhere=EVERYWHERE),
    "Zamba2ForCausalLM": Decoder(blocks=(zamba2_layer,), norms=1, always_tied=True, every=(zamba2_shared,), everywhere=EVERYWHERE),
}  # fmt: skip
"""Builders of Mamba models and hybrids."""
