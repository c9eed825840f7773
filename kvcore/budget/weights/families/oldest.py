"""The oldest dense models: GPT-J, GPT-BigCode, Falcon, MPT, ChatGLM."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import EVERYWHERE, Builder, Decoder
from kvcore.budget.weights.families.older import gpt2_positions
from kvcore.budget.weights.modules import Module, Network, linear, norm
from kvcore.budget.weights.parts.attention import AttentionSizes, grouped_query, output_projection, qkv
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import gated_mlp
from kvcore.config import ModelConfig


def gptj_mlp(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A dense layer, by default four times as wide as the model (vLLM 0.33.0 `GPTJMLP`)."""
    hidden = config.hidden_size
    width = config.optional_integer("n_inner") or 4 * hidden
    return (
        linear("mlp.fc_in", "mlp", hidden, width, bias=True),
        linear("mlp.fc_out", "mlp", width, hidden, split="row", bias=True),
    )


def bigcode_attention(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Attention with one key/value head under multi-query attention."""
    heads = config.num_attention_heads
    head = config.hidden_size // heads
    kv_heads = 1 if config.get("multi_query", True) else heads
    sizes = AttentionSizes(
        hidden_size=config.hidden_size, num_heads=heads, num_kv_heads=kv_heads, head_dim=head, v_head_dim=head
    )
    return qkv("attn.c_attn", sizes, bias=True), output_projection("attn.c_proj", sizes, bias=True)


def bigcode_mlp(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A dense layer that every rank holds whole: Transformers' plan for the class does not divide it."""
    hidden = config.hidden_size
    width = config.optional_integer("n_inner") or 4 * hidden
    return (
        linear("mlp.c_fc", "mlp", hidden, width, split="whole", bias=True),
        linear("mlp.c_proj", "mlp", width, hidden, split="whole", bias=True),
    )


def falcon_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Attention and a dense layer side by side or in turn (vLLM 0.33.0 `FalconDecoderLayer`)."""
    hidden, heads = config.hidden_size, config.num_attention_heads
    is_new = bool(config.get("new_decoder_architecture"))
    kv_heads = config.num_key_value_heads if is_new else 1 if config.get("multi_query", True) else heads
    head, bias = hidden // heads, bool(config.get("bias"))
    sizes = AttentionSizes(hidden_size=hidden, num_heads=heads, num_kv_heads=kv_heads, head_dim=head, v_head_dim=head)
    norms = config.optional_integer("num_ln_in_parallel_attn") or (2 if is_new else 1)
    if not config.get("parallel_attn", True) and not is_new:
        norms = 2
    width = config.optional_integer("ffn_hidden_size") or 4 * hidden
    return (
        qkv("self_attention.query_key_value", sizes, bias=bias),
        output_projection("self_attention.dense", sizes, bias=bias),
        linear("mlp.dense_h_to_4h", "mlp", hidden, width, bias=bias),
        linear("mlp.dense_4h_to_h", "mlp", width, hidden, split="row", bias=bias),
        norm("norms", norms * hidden, bias=True),
    )


def chatglm_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """ChatGLM's layer (vLLM 0.33.0 `GLMBlock`)."""
    heads = config.num_attention_heads
    kv_heads = size(config, "multi_query_group_num") if config.get("multi_query_attention") else heads
    head = config.head_dim
    sizes = AttentionSizes(
        hidden_size=config.hidden_size, num_heads=heads, num_kv_heads=kv_heads, head_dim=head, v_head_dim=head
    )
    bias = bool(config.get("add_bias_linear"))
    return (
        qkv("self_attention.query_key_value", sizes, bias=bias or bool(config.get("add_qkv_bias"))),
        output_projection("self_attention.dense", sizes, bias=bias),
        *gated_mlp(intermediate="ffn_hidden_size", bias="add_bias_linear",
                   names=("dense_h_to_4h", "dense_h_to_4h", "dense_h_to_4h", "dense_4h_to_h"))(config, index),
    )  # fmt: skip


def mpt_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """MPT's layer, without biases where the config says so (vLLM 0.28.0 `MPTBlock`)."""
    hidden, heads, bias = config.hidden_size, config.num_attention_heads, not config.get("no_bias", True)
    kv_heads = config.optional_integer("attn_config.kv_n_heads") or heads
    head, width = hidden // heads, config.integer("expansion_ratio", 4) * hidden
    sizes = AttentionSizes(hidden_size=hidden, num_heads=heads, num_kv_heads=kv_heads, head_dim=head, v_head_dim=head)
    modules: list[Module] = [
        qkv("attn.Wqkv", sizes, bias=bias),
        output_projection("attn.out_proj", sizes, bias=bias),
        linear("ffn.up_proj", "mlp", hidden, width, bias=bias),
        linear("ffn.down_proj", "mlp", width, hidden, split="row", bias=bias),
    ]
    if config.get("attn_config.qk_ln"):
        modules.append(norm("attn.qk_ln", 2 * hidden, bias=bias))
    return tuple(modules)


def mpt(config: ModelConfig) -> Network:
    """MPT, whose head is its embedding and whose norms have biases where its projections have."""
    return Decoder(
        blocks=(mpt_layer,), norm_bias=not config.get("no_bias", True), always_tied=True, prefix="transformer.blocks",
        embedding="transformer.wte", everywhere=EVERYWHERE,
    )(config)  # fmt: skip


CHATGLM = Decoder(
    blocks=(chatglm_layer,), prefix="transformer.encoder.layers", embedding="transformer.embedding.word_embeddings",
    everywhere=EVERYWHERE,
)  # fmt: skip

OLDEST: Mapping[str, Builder] = {
    "GPTJForCausalLM": Decoder(
        blocks=(grouped_query(prefix="attn.", output_name="out_proj"), gptj_mlp), norms=1, norm_bias=True, head_bias=True,
        prefix="transformer.h", embedding="transformer.wte", everywhere=EVERYWHERE,
    ),
    "GPTBigCodeForCausalLM": Decoder(
        blocks=(bigcode_attention, bigcode_mlp), norm_bias=True, tied_by_default=True, first=(gpt2_positions,),
        prefix="transformer.h", embedding="transformer.wte",
    ),
    "FalconForCausalLM": Decoder(
        blocks=(falcon_layer,), norms=0, norm_bias=True, tied_by_default=True, prefix="transformer.h",
        embedding="transformer.word_embeddings", everywhere=EVERYWHERE,
    ),
    "MPTForCausalLM": mpt,
    "MptForCausalLM": mpt,
    "ChatGLMModel": CHATGLM,
    "ChatGLMForConditionalGeneration": CHATGLM,
}  # fmt: skip
"""Builders of the oldest dense models."""
