"""DeepSeek V4: compressed attention, hyper-connections and hashed layers."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.modules import Experts, Linear, Module, Output, Parameter, linear, norm
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import gated_layers
from kvcore.budget.weights.parts.moe import router, score_bias
from kvcore.config import ModelConfig

RATIO_WITH_INDEXER = 4
CONNECTION_SCALES = 3


def compress_ratio(config: ModelConfig, index: int) -> int:
    """Tokens a layer compresses into one; 0 for layers that only look back a window."""
    ratios = config.sequence("compress_ratios") or ()
    return int(ratios[index]) if index < len(ratios) else 0


def attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Low-rank queries, one key/value head, grouped low-rank output (vLLM 0.33.0 `DeepseekV4Attention`)."""
    hidden, heads, dim = config.hidden_size, config.num_attention_heads, config.head_dim
    q_rank, o_rank, groups = size(config, "q_lora_rank"), size(config, "o_lora_rank"), size(config, "o_groups")
    low = (Output(name="wq_a", size=q_rank), Output(name="wkv", size=dim))
    modules: list[Module] = [
        Parameter(name="attn.attn_sink", group="attention", size=heads, split=True, dtype="float32", at_least=64),
        Linear(name="attn.fused_wqa_wkv", group="attention", inputs=hidden, outputs=low, split="whole"),
        norm("attn.norms", q_rank + dim),
        linear("attn.wq_b", "attention", q_rank, heads * dim),
        linear("attn.wo_a", "attention", heads * dim // groups, groups * o_rank),
        linear("attn.wo_b", "attention", groups * o_rank, hidden, split="row"),
    ]
    ratio = compress_ratio(config, index)
    if ratio:
        overlap = 2 if ratio == RATIO_WITH_INDEXER else 1
        modules += _compressor("attn.compressor.", "attention", hidden, ratio, overlap * dim, dim)
    if ratio == RATIO_WITH_INDEXER:
        index_heads, index_dim = size(config, "index_n_heads"), size(config, "index_head_dim")
        modules += [
            linear("attn.indexer.wq_b", "indexer", q_rank, index_heads * index_dim, split="whole"),
            linear("attn.indexer.weights_proj", "indexer", hidden, index_heads, split="whole", quantizable=False),
            *_compressor("attn.indexer.compressor.", "indexer", hidden, ratio, 2 * index_dim, index_dim),
        ]
    return tuple(modules)


def _compressor(prefix: str, group: str, hidden: int, ratio: int, width: int, dim: int) -> list[Module]:
    """Positions, keys/values with their gate, and a norm (vLLM 0.33.0 `DeepseekCompressor`)."""
    return [
        Parameter(name=f"{prefix}ape", group=group, size=ratio * width, dtype="float32"),
        linear(
            f"{prefix}fused_wkv_wgate", group, hidden, {"wkv": width, "wgate": width}, split="whole", quantizable=False
        ),
        norm(f"{prefix}norm", dim),
    ]


def experts(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Experts chosen by score, or in the first layers by a table over the vocabulary."""
    hidden, count, width = config.hidden_size, size(config, "n_routed_experts"), size(config, "moe_intermediate_size")
    modules: list[Module] = [
        router("ffn.gate", hidden, count),
        Experts(name="ffn.experts", group="experts", count=count, inputs=hidden, intermediate=width),
        *gated_layers(
            "ffn.shared_experts.", hidden, width * config.integer("n_shared_experts", 1), group="shared_experts"
        ),
    ]
    if index < (config.optional_integer("num_hash_layers") or 0):
        table = config.integer("vocab_size") * size(config, "num_experts_per_tok")
        modules.append(Parameter(name="ffn.gate.tid2eid", group="router", size=table, dtype="float32", counted=False))
    else:
        modules.append(score_bias("ffn.gate.e_score_correction_bias", count))
    return tuple(modules)


def hyper_connections(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Mixing of the residual streams before attention and before the experts, in float32."""
    streams = size(config, "hc_mult")
    mix = (2 + streams) * streams
    one = mix * streams * config.hidden_size + mix + CONNECTION_SCALES
    return (Parameter(name="hc", group="hyper_connections", size=2 * one, dtype="float32"),)


def head_connection(config: ModelConfig) -> tuple[Module, ...]:
    """Mixing of the residual streams into one before the output head, in float32."""
    streams = size(config, "hc_mult")
    elements = streams * streams * config.hidden_size + streams + 1
    return (Parameter(name="hc_head", group="hyper_connections", size=elements, dtype="float32"),)


DEEPSEEK_V4: Mapping[str, Builder] = {
    "DeepseekV4ForCausalLM": Decoder(blocks=(attention, experts, hyper_connections), every=(head_connection,)),
}
"""Builders of DeepSeek V4."""
