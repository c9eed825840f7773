"""Further dense language models: norms, biases, feed-forward layers and heads of their own."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kvcore.budget.weights.decoder import EVERYWHERE, Builder, Decoder, is_tied
from kvcore.budget.weights.families.text import LLAMA_BLOCKS
from kvcore.budget.weights.modules import Linear, Module, Network, Parameter, Vocabulary, linear, norm
from kvcore.budget.weights.parts.attention import AttentionSizes, grouped_query, output_projection, qkv
from kvcore.budget.weights.parts.facts import flag, size
from kvcore.budget.weights.parts.feed_forward import gated_layers, gated_mlp, plain_layers, plain_mlp
from kvcore.config import ModelConfig

OFFSET = 2
"""Rows of OPT's table of positions before the first position (vLLM 0.33.0 `OPTLearnedPositionalEmbedding`)."""


def learned_activation(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Two numbers of an activation that learns (vLLM 0.33.0 `XIELU`)."""
    if config.get("hidden_act") != "xielu":
        return ()
    return (Parameter(name="mlp.act_fn.alphas", group="mlp", size=2),)


def post_norms(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Norms after attention and feed-forward where the config asks for them (vLLM 0.33.0 `HyperCLOVAXDecoderLayer`)."""
    return (norm("post_norms", 2 * config.hidden_size),) if flag(config, "use_post_norm") else ()


def opt_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """OPT's layer (vLLM 0.33.0 `OPTDecoderLayer`)."""
    hidden, heads, bias = config.hidden_size, config.num_attention_heads, flag(config, "enable_bias=true")
    head = hidden // heads
    sizes = AttentionSizes(hidden_size=hidden, num_heads=heads, num_kv_heads=heads, head_dim=head, v_head_dim=head)
    modules: list[Module] = [
        qkv("self_attn.qkv_proj", sizes, bias=bias),
        output_projection("self_attn.out_proj", sizes, bias=bias),
        *plain_layers("", hidden, size(config, "ffn_dim"), bias=bias, names=("fc1", "fc2")),
    ]
    if flag(config, "layer_norm_elementwise_affine=true"):
        modules.append(norm("norms", 2 * hidden, bias=True))
    return tuple(modules)


def opt_ends(config: ModelConfig) -> tuple[Module, ...]:
    """Tables, projections from and to a narrower embedding, and the last norm, on every stage (vLLM 0.33.0 `OPTDecoder`)."""
    hidden, narrow = config.hidden_size, config.integer("word_embed_proj_dim", config.hidden_size)
    rows = size(config, "max_position_embeddings") + OFFSET
    table = Vocabulary(
        name="model.decoder.embed_tokens", group="embedding", rows=config.integer("vocab_size"), width=narrow
    )
    positions = Parameter(name="model.decoder.embed_positions", group="embedding", size=rows * hidden)
    modules: list[Module] = [table, positions]
    if not is_tied(config, default=True):
        modules.append(replace(table, name="lm_head", group="lm_head", quantizable=True))
    if narrow != hidden:
        modules.append(_whole("model.decoder.project_in", narrow, hidden))
        modules.append(_whole("model.decoder.project_out", hidden, narrow))
    is_last_normed = flag(config, "do_layer_norm_before=true") and not flag(config, "_remove_final_layer_norm")
    if is_last_normed and flag(config, "layer_norm_elementwise_affine=true"):
        modules.append(norm("model.decoder.final_layer_norm", hidden, bias=True))
    return tuple(modules)


def opt(config: ModelConfig) -> Network:
    """OPT, which builds everything but the layers on every stage."""
    layers = tuple(opt_layer(config, index) for index in range(config.num_hidden_layers))
    return Network(first=(), layers=layers, last=(), every=opt_ends(config), layer_prefix="model.decoder.layers")


def _whole(name: str, inputs: int, outputs: int) -> Linear:
    return linear(name, "embedding", inputs, outputs, split="whole")


def phi_norms(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """Norms of queries and keys where the config asks for them (Hugging Face `PhiAttention`)."""
    return (norm("self_attn.qk_norms", 2 * config.head_dim, bias=True),) if flag(config, "qk_layernorm") else ()


def half_biased_mlp(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A gated layer with a bias on the way back only (vLLM 0.33.0 `TeleChat2Model`)."""
    wide, narrow = gated_layers("mlp.", config.hidden_size, size(config, "ffn_hidden_size|intermediate_size"))
    return wide, replace(narrow, bias=True)


def none_unless_biased(key: str) -> Callable[[ModelConfig], int | None]:
    """Nothing is left unloaded, unless the config asks for biases that the engine's class does not have: then unknown."""
    return lambda config: None if flag(config, key) else 0


def head_bias(config: ModelConfig) -> int:
    """The published head's bias, which the engine does not load."""
    return config.integer("vocab_size")


BIASED = grouped_query(qkv_bias="attention_bias|bias", output_bias="attention_bias|bias")
PLAIN_BLOCKS = (BIASED, plain_mlp(bias="mlp_bias"))

DENSE_OTHERS: Mapping[str, Builder] = {
    "ApertusForCausalLM": Decoder(
        blocks=(
            grouped_query(qkv_bias="attention_bias|bias", output_bias="attention_bias|bias", qk_norm=True),
            plain_mlp(bias="mlp_bias"),
            learned_activation,
        )
    ),
    "ArceeForCausalLM": Decoder(blocks=PLAIN_BLOCKS),
    "CwmForCausalLM": Decoder(blocks=(grouped_query(), gated_mlp())),
    "Ernie4_5ForCausalLM": Decoder(
        blocks=(grouped_query(), gated_mlp()), tied_by_default=True, unloaded=none_unless_biased("use_bias")
    ),
    "GraniteSWAForCausalLM": Decoder(blocks=LLAMA_BLOCKS, tied_by_default=True),
    "HunYuanDenseV1ForCausalLM": Decoder(
        blocks=(
            grouped_query(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm=True),
            gated_mlp(bias="mlp_bias"),
        )
    ),
    "HyperCLOVAXForCausalLM": Decoder(
        blocks=(
            grouped_query(qkv_bias="attention_bias", output_bias="attention_bias"),
            gated_mlp(bias="mlp_bias"),
            post_norms,
        )
    ),
    "IQuestCoderForCausalLM": Decoder(blocks=LLAMA_BLOCKS),
    "Jais2ForCausalLM": Decoder(
        blocks=(
            grouped_query(qkv_bias="attention_bias=true", output_bias="attention_bias=true"),
            plain_mlp(bias="mlp_bias=true"),
        ),
        norm_bias=True,
    ),
    "LLaMAForCausalLM": Decoder(blocks=LLAMA_BLOCKS),
    "NemotronForCausalLM": Decoder(blocks=PLAIN_BLOCKS, norm_bias=True),
    "OPTForCausalLM": opt,
    "OlmoForCausalLM": Decoder(
        blocks=(grouped_query(qkv_bias="attention_bias", output_bias="attention_bias"), gated_mlp()), norm_weights=False
    ),
    "OrionForCausalLM": Decoder(blocks=(grouped_query(), gated_mlp()), norm_bias=True, everywhere=EVERYWHERE),
    "PhiForCausalLM": Decoder(
        blocks=(
            grouped_query(output_name="dense", qkv_bias=True, output_bias=True),
            plain_mlp(names=("fc1", "fc2")),
            phi_norms,
        ),
        norms=1,
        norm_bias=True,
        unloaded=head_bias,
    ),
    "SolarForCausalLM": Decoder(blocks=LLAMA_BLOCKS),
    "Starcoder2ForCausalLM": Decoder(
        blocks=(
            grouped_query(qkv_bias="use_bias=true", output_bias="use_bias=true"),
            plain_mlp(bias="use_bias=true", names=("c_fc", "c_proj")),
        ),
        norm_bias=True,
        tied_by_default=True,
    ),
    "TeleChat2ForCausalLM": Decoder(
        blocks=(grouped_query(output_bias=True), half_biased_mlp),
        prefix="transformer.h",
        embedding="transformer.word_embeddings",
    ),
    "TeleChat3ForCausalLM": Decoder(blocks=LLAMA_BLOCKS),
    "TeleFLMForCausalLM": Decoder(blocks=LLAMA_BLOCKS),
    "VaultGemmaForCausalLM": Decoder(
        blocks=(grouped_query(qkv_bias="attention_bias", output_bias="attention_bias"), gated_mlp()),
        always_tied=True,
    ),
}
"""Builders of further dense language models."""
