"""Qwen: mixtures, gated delta nets and the models that see."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import EVERYWHERE, Builder, Decoder
from kvcore.budget.weights.families.text import QWEN2_BLOCKS, QWEN3_BLOCKS
from kvcore.budget.weights.parts.attention import grouped_query
from kvcore.budget.weights.parts.facts import LayerBlock
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_mlp
from kvcore.budget.weights.parts.moe import mixture
from kvcore.budget.weights.parts.qwen_towers import qwen2_5_vision, qwen2_vision, qwen3_5_vision, qwen3_vision
from kvcore.budget.weights.parts.states import gated_delta_net
from kvcore.config import ModelConfig


def is_sparse(config: ModelConfig, index: int) -> bool:
    """Whether a layer is a mixture (vLLM 0.33.0 `Qwen3MoeDecoderLayer`)."""
    if index in (config.sequence("mlp_only_layers") or ()):
        return False
    return (config.optional_integer("num_experts") or 0) > 0 and (index + 1) % config.integer(
        "decoder_sparse_step", 1
    ) == 0


def is_full_attention(config: ModelConfig, index: int) -> bool:
    """Whether a layer of a hybrid attends (vLLM 0.33.0 `Qwen3NextDecoderLayer`, `layer_types`)."""
    kinds = config.sequence("layer_types")
    if kinds is not None:
        return bool(kinds[index] == "full_attention")
    return (index + 1) % config.integer("full_attention_interval", 4) == 0


QWEN3_ATTENTION = grouped_query(qk_norm=True, qkv_bias="attention_bias")
SHARED_MIXTURE = mixture(shared="shared_expert_intermediate_size", shared_name="shared_expert.", shared_gate=True)
QWEN2_MOE_BLOCKS: tuple[LayerBlock, ...] = (
    grouped_query(qkv_bias=True),
    by_layer(is_sparse, SHARED_MIXTURE, gated_mlp()),
)
QWEN3_MOE_BLOCKS: tuple[LayerBlock, ...] = (
    QWEN3_ATTENTION,
    by_layer(is_sparse, mixture(router_quantizable=True), gated_mlp()),
)
HYBRID_ATTENTION = by_layer(
    is_full_attention,
    grouped_query(qk_norm=True, gate="attn_output_gate=true", qkv_bias="attention_bias"),
    gated_delta_net(),
)
QWEN3_NEXT_BLOCKS: tuple[LayerBlock, ...] = (HYBRID_ATTENTION, by_layer(is_sparse, SHARED_MIXTURE, gated_mlp()))
QWEN3_5_BLOCKS: tuple[LayerBlock, ...] = (HYBRID_ATTENTION, gated_mlp())
QWEN3_5_MOE_BLOCKS: tuple[LayerBlock, ...] = (HYBRID_ATTENTION, SHARED_MIXTURE)

EMBEDDED = frozenset({"embedding"})

QWEN: Mapping[str, Builder] = {
    "Qwen2MoeForCausalLM": Decoder(blocks=QWEN2_MOE_BLOCKS, everywhere=EVERYWHERE),
    "Qwen3MoeForCausalLM": Decoder(blocks=QWEN3_MOE_BLOCKS, everywhere=EVERYWHERE),
    "Qwen3NextForCausalLM": Decoder(blocks=QWEN3_NEXT_BLOCKS, everywhere=frozenset({"embedding", "head"})),
    "Qwen3_5ForCausalLM": Decoder(blocks=QWEN3_5_BLOCKS, everywhere=EMBEDDED),
    "Qwen3_5MoeForCausalLM": Decoder(blocks=QWEN3_5_MOE_BLOCKS, everywhere=EMBEDDED),
    "Qwen2VLForConditionalGeneration": Decoder(blocks=QWEN2_BLOCKS, first=(qwen2_vision,), nested=True),
    "Qwen2_5_VLForConditionalGeneration": Decoder(blocks=QWEN2_BLOCKS, first=(qwen2_5_vision,), nested=True),
    "Qwen3VLForConditionalGeneration": Decoder(blocks=QWEN3_BLOCKS, first=(qwen3_vision,), nested=True),
    "Qwen3VLMoeForConditionalGeneration": Decoder(
        blocks=QWEN3_MOE_BLOCKS, everywhere=EVERYWHERE, first=(qwen3_vision,), nested=True
    ),
    "Qwen3_5ForConditionalGeneration": Decoder(
        blocks=QWEN3_5_BLOCKS, everywhere=EMBEDDED, first=(qwen3_5_vision,), nested=True
    ),
    "Qwen3_5MoeForConditionalGeneration": Decoder(
        blocks=QWEN3_5_MOE_BLOCKS, everywhere=EMBEDDED, first=(qwen3_5_vision,), nested=True
    ),
}
"""Builders of the Qwen families beyond the dense ones."""
