"""Language models whose layers are grouped-query attention and a dense feed-forward layer."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.modules import Module, linear
from kvcore.budget.weights.parts.attention import grouped_query
from kvcore.budget.weights.parts.facts import LayerBlock
from kvcore.budget.weights.parts.feed_forward import gated_mlp
from kvcore.config import ModelConfig

LLAMA_BLOCKS: tuple[LayerBlock, ...] = (
    grouped_query(qkv_bias="attention_bias|bias|qkv_bias", output_bias="attention_bias|bias"),
    gated_mlp(bias="mlp_bias"),
)
QWEN2_BLOCKS: tuple[LayerBlock, ...] = (grouped_query(qkv_bias=True), gated_mlp())
QWEN3_BLOCKS: tuple[LayerBlock, ...] = (grouped_query(qk_norm=True, qkv_bias="attention_bias"), gated_mlp())

LLAMA = Decoder(blocks=LLAMA_BLOCKS)
QWEN2 = Decoder(blocks=QWEN2_BLOCKS)
QWEN3 = Decoder(blocks=QWEN3_BLOCKS)

EXAONE_BLOCKS: tuple[LayerBlock, ...] = (
    grouped_query(prefix="attn.attention.", output_name="out_proj"),
    gated_mlp(names=("gate_up_proj", "c_fc_0", "c_fc_1", "c_proj")),
)
INTERNLM2_BLOCKS: tuple[LayerBlock, ...] = (
    grouped_query(prefix="attention.", qkv_name="wqkv", output_name="wo", qkv_bias="bias", output_bias="bias"),
    gated_mlp(prefix="feed_forward.", names=("gate_up_proj", "w1", "w3", "w2")),
)


def reward_head(config: ModelConfig) -> tuple[Module, ...]:
    """One score per token, in float32 (vLLM 0.33.0 `InternLM2ForRewardModel`)."""
    return (linear("v_head", "score", config.hidden_size, 1, split="row", dtype="float32", quantizable=False),)


def score_head(config: ModelConfig) -> tuple[Module, ...]:
    """One score per label, in float32 on every rank (vLLM 0.33.0 `as_seq_cls_model`)."""
    labels = config.root.get("num_labels") or len(config.root.get("id2label") or {"0": "", "1": ""})
    return (
        linear("score", "score", config.hidden_size, int(labels), split="whole", dtype="float32", quantizable=False),
    )


TEXT: Mapping[str, Builder] = {
    "LlamaForCausalLM": LLAMA,
    "LlamaForSequenceClassification": Decoder(blocks=LLAMA_BLOCKS, headless=True, last=(score_head,)),
    "MistralForCausalLM": LLAMA,
    "Ministral3ForCausalLM": LLAMA,
    "MistralModel": LLAMA,
    "InternLMForCausalLM": LLAMA,
    "InternLM3ForCausalLM": LLAMA,
    "AquilaForCausalLM": LLAMA,
    "SeedOssForCausalLM": Decoder(
        blocks=(grouped_query(qkv_bias="attention_bias=true", output_bias="attention_out_bias"), gated_mlp())
    ),
    "SmolLM3ForCausalLM": Decoder(blocks=LLAMA_BLOCKS, tied_by_default=True),
    "GraniteForCausalLM": Decoder(blocks=LLAMA_BLOCKS, tied_by_default=True),
    "MiniCPMForCausalLM": LLAMA,
    "PanguEmbeddedForCausalLM": Decoder(
        blocks=(grouped_query(qkv_bias="bias=true", output_bias="bias=true"), gated_mlp())
    ),
    "ExaoneForCausalLM": Decoder(blocks=EXAONE_BLOCKS, prefix="transformer.h", embedding="transformer.wte"),
    "InternLM2ForCausalLM": Decoder(blocks=INTERNLM2_BLOCKS, embedding="model.tok_embeddings"),
    "InternLM2ForRewardModel": Decoder(
        blocks=INTERNLM2_BLOCKS, embedding="model.tok_embeddings", headless=True, last=(reward_head,)
    ),
    "Qwen2ForCausalLM": QWEN2,
    "MiMoForCausalLM": QWEN2,
    "Qwen3ForCausalLM": QWEN3,
    "Olmo2ForCausalLM": Decoder(blocks=(grouped_query(qk_norm=True, norms="full"), gated_mlp())),
    "Olmo3ForCausalLM": Decoder(blocks=(grouped_query(qk_norm=True, norms="full"), gated_mlp())),
    "Exaone4ForCausalLM": Decoder(blocks=(grouped_query(qk_norm=True), gated_mlp())),
    "Phi3ForCausalLM": LLAMA,
    "Glm4ForCausalLM": Decoder(blocks=(grouped_query(qkv_bias="attention_bias"), gated_mlp()), norms=4),
    "GlmForCausalLM": Decoder(blocks=(grouped_query(qkv_bias="attention_bias"), gated_mlp())),
    "BaichuanForCausalLM": LLAMA,
}
"""Builders of dense language models."""
