"""Further mixtures of experts: where routers, shared experts and dense layers differ."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import EVERYWHERE, Builder, Decoder
from kvcore.budget.weights.families.dense_others import none_unless_biased
from kvcore.budget.weights.families.hybrids import lfm2_is_full
from kvcore.budget.weights.families.mixtures import GRANITE_MOE_BLOCKS, from_first_dense
from kvcore.budget.weights.families.sparse_others import at_layer, listed_is_sparse
from kvcore.budget.weights.modules import Module, linear
from kvcore.budget.weights.parts.attention import grouped_query
from kvcore.budget.weights.parts.facts import LayerBlock, size
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_layers, gated_mlp
from kvcore.budget.weights.parts.moe import mixture
from kvcore.budget.weights.parts.states import short_convolution
from kvcore.config import ModelConfig


def from_num_dense(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture: all but the first `num_dense_layers`."""
    return index >= config.integer("num_dense_layers", 0, minimum=0)


def ernie_is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture (vLLM 0.33.0 `Ernie4_5_MoeDecoderLayer`)."""
    first = at_layer(config.get("moe_layer_start_index"), 0)
    last = at_layer(config.get("moe_layer_end_index"), 0, config.num_hidden_layers - 1)
    interval = config.integer("moe_layer_interval", 1)
    return size(config, "moe_num_experts") > 0 and first <= index <= last and (index + 1) % interval == 0


def deepseek_is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture (vLLM 0.33.0 `DeepseekV2DecoderLayer`)."""
    return from_first_dense(config, index) and index % config.integer("moe_layer_freq", 1) == 0


def gate_projection(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A gate over all heads (vLLM 0.33.0 `AfmoeAttention`)."""
    width = config.num_attention_heads * config.head_dim
    return (linear("self_attn.gate_proj", "attention", config.hidden_size, width),)


def shared_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A dense layer beside the experts where its width is not 0 (vLLM 0.33.0 `GraniteMoeSharedMLP`)."""
    width = config.integer("shared_intermediate_size", 0, minimum=0)
    names = ("input_linear", "input_linear", "input_linear", "output_linear")
    if not width:
        return ()
    return gated_layers("shared_mlp.", config.hidden_size, width, group="shared_experts", names=names)


def cohere_dense(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """The first layers' dense layer, whose width may be stated apart (vLLM 0.33.0 `Cohere2MoeDecoderLayer`)."""
    return gated_layers("mlp.", config.hidden_size, size(config, "prefix_dense_intermediate_size|intermediate_size"))


ERNIE_BLOCKS: tuple[LayerBlock, ...] = (
    grouped_query(qkv_bias="use_bias"),
    by_layer(
        ernie_is_sparse,
        mixture(
            count="moe_num_experts", intermediate="moe_intermediate_size", router_dtype="float32", correction=True,
            correction_counted=True, shared_count="moe_num_shared_experts",
        ),
        gated_mlp(bias="use_bias"),
    ),
)  # fmt: skip
AFMOE_BLOCKS: tuple[LayerBlock, ...] = (
    grouped_query(qk_norm=True),
    gate_projection,
    by_layer(
        from_num_dense,
        mixture(
            count="num_experts", intermediate="moe_intermediate_size", router_dtype="float32", correction=True,
            correction_name="expert_bias", correction_counted=True, shared_count="num_shared_experts",
        ),
        gated_mlp(),
    ),
)  # fmt: skip
EXAONE_MOE = Decoder(
    blocks=(
        grouped_query(qk_norm=True, qkv_bias="attention_bias|bias"),
        by_layer(
            listed_is_sparse,
            mixture(count="num_experts", intermediate="moe_intermediate_size", correction=True,
                    correction_name="e_score_correction_bias", shared_count="num_shared_experts"),
            gated_mlp(bias="mlp_bias"),
        ),
    )
)  # fmt: skip
GRANITE_SHARED = Decoder(blocks=(*GRANITE_MOE_BLOCKS, shared_layer), tied_by_default=True, everywhere=EVERYWHERE)
HY_MIXTURE = mixture(
    count="num_experts", intermediate="expert_hidden_dim|moe_intermediate_size", router_dtype="float32", correction=True,
    correction_name="expert_bias", shared_count="num_shared_experts", shared_name="shared_mlp.",
)  # fmt: skip

DEEPSEEK_MOE = Decoder(
    blocks=(
        grouped_query(qkv_bias="attention_bias", output_bias="attention_bias"),
        by_layer(deepseek_is_sparse, mixture(count="n_routed_experts", shared_count="n_shared_experts"), gated_mlp()),
    )
)

MIXTURE_OTHERS: Mapping[str, Builder] = {
    "AfmoeForCausalLM": Decoder(blocks=AFMOE_BLOCKS, norms=4, never_tied=True),
    "Cohere2MoeForCausalLM": Decoder(
        blocks=(
            grouped_query(),
            by_layer(
                listed_is_sparse,
                mixture(count="num_experts", intermediate="intermediate_size", shared_count="num_shared_experts"),
                cohere_dense,
            ),
        ),
        norms=1,
        always_tied=True,
        everywhere=frozenset({"embedding", "norm"}),
        unloaded=none_unless_biased("attention_bias"),
    ),
    "DeepseekForCausalLM": DEEPSEEK_MOE,
    "Ernie4_5_MoeForCausalLM": Decoder(blocks=ERNIE_BLOCKS, tied_by_default=True, unloaded=none_unless_biased("use_bias")),
    "ExaoneMoEForCausalLM": EXAONE_MOE,
    "ExaoneMoeForCausalLM": EXAONE_MOE,
    "FlexOlmoForCausalLM": Decoder(
        blocks=(
            grouped_query(qk_norm=True, norms="whole", qkv_bias="attention_bias", output_bias="attention_bias"),
            mixture(count="num_experts", intermediate="intermediate_size"),
        )
    ),
    "GraniteMoeSWAForCausalLM": GRANITE_SHARED,
    "GraniteMoeSharedForCausalLM": GRANITE_SHARED,
    "HYV3ForCausalLM": Decoder(
        blocks=(grouped_query(qk_norm="qk_norm"), by_layer(from_first_dense, HY_MIXTURE, gated_mlp())),
        everywhere=EVERYWHERE,
    ),
    "Lfm2MoeForCausalLM": Decoder(
        blocks=(
            by_layer(lfm2_is_full, grouped_query(qk_norm=True, output_name="out_proj"), short_convolution()),
            by_layer(
                from_num_dense,
                mixture(count="num_experts", intermediate="moe_intermediate_size", prefix="feed_forward.",
                        correction="use_expert_bias=true"),
                gated_mlp(prefix="feed_forward.", names=("w13", "w1", "w3", "w2")),
            ),
        ),
        always_tied=True,
        everywhere=frozenset({"embedding"}),
    ),
    "OlmoeForCausalLM": Decoder(
        blocks=(
            grouped_query(qk_norm=True, norms="whole"), mixture(count="num_experts", intermediate="intermediate_size")
        ),
        everywhere=EVERYWHERE,
    ),
}  # fmt: skip
"""Builders of further mixtures."""
