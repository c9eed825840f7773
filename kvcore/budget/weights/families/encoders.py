"""Encoders and speech models."""

from collections.abc import Mapping

from kvcore.budget.weights.decoder import Builder
from kvcore.budget.weights.modules import Linear, Module, Network, Output, Parameter, Vocabulary, linear, norm
from kvcore.budget.weights.parts.attention import AttentionSizes, output_projection, qkv
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import plain_layers
from kvcore.budget.weights.parts.towers import AUDIO, Encoder, plain_tensor
from kvcore.config import ModelConfig


def _table(name: str, rows: int, width: int) -> Vocabulary:
    return Vocabulary(name=name, group="embedding", rows=rows, width=width)


def _bert_layer(config: ModelConfig) -> tuple[Module, ...]:
    hidden, heads = config.hidden_size, config.num_attention_heads
    sizes = AttentionSizes(
        hidden_size=hidden, num_heads=heads, num_kv_heads=heads, head_dim=hidden // heads, v_head_dim=hidden // heads
    )
    return (
        qkv("attention.self.qkv_proj", sizes, bias=True),
        output_projection("attention.output.dense", sizes, bias=True),
        *plain_layers(
            "", hidden, size(config, "intermediate_size"), bias=True, names=("intermediate.dense", "output.dense")
        ),
        norm("norms", 2 * hidden, bias=True),
    )


def bert(config: ModelConfig, *, classifier: bool = False) -> Network:
    """BERT and RoBERTa encoders (vLLM 0.33.0 `BertModel`, `RobertaForSequenceClassification`)."""
    hidden = config.hidden_size
    first: list[Module] = [
        _table("embeddings.word_embeddings", config.integer("vocab_size"), hidden),
        _table("embeddings.position_embeddings", size(config, "max_position_embeddings"), hidden),
        _table("embeddings.token_type_embeddings", size(config, "type_vocab_size"), hidden),
        norm("embeddings.LayerNorm", hidden, bias=True),
    ]
    last: list[Module] = []
    if classifier:
        labels = int(config.root.get("num_labels") or len(config.root.get("id2label") or {"0": ""}))
        last += [
            linear(
                "classifier.dense",
                "score",
                hidden,
                hidden,
                split="whole",
                bias=True,
                dtype="float32",
                quantizable=False,
            ),
            linear(
                "classifier.out_proj",
                "score",
                hidden,
                labels,
                split="whole",
                bias=True,
                dtype="float32",
                quantizable=False,
            ),
        ]
    return Network(
        first=tuple(first), layers=tuple(_bert_layer(config) for _ in range(config.num_hidden_layers)), last=tuple(last),
        layer_prefix="model.encoder.layer",
        unloaded_params=0 if classifier else hidden * hidden + hidden,
    )  # fmt: skip


def bert_classifier(config: ModelConfig) -> Network:
    """An encoder with a classification head in float32."""
    return bert(config, classifier=True)


def whisper(config: ModelConfig) -> Network:
    """Whisper: an encoder over sound and a decoder with cross attention (vLLM 0.33.0 `WhisperForConditionalGeneration`)."""
    hidden, heads = size(config, "d_model"), size(config, "decoder_attention_heads")
    bins = size(config, "num_mel_bins")
    encoder = Encoder(
        prefix="model.encoder.layers", depth=size(config, "encoder_layers"), hidden_size=hidden,
        intermediate_size=size(config, "encoder_ffn_dim"), num_heads=size(config, "encoder_attention_heads"), group=AUDIO,
    )  # fmt: skip
    rows = config.integer("vocab_size")
    kernel = 3
    first: list[Module] = [
        plain_tensor("model.encoder.conv", hidden * bins * kernel + hidden * hidden * kernel + 2 * hidden, group=AUDIO),
        plain_tensor("model.encoder.embed_positions", size(config, "max_source_positions") * hidden, group=AUDIO),
        *encoder.modules(),
        norm("model.encoder.layer_norm", hidden, bias=True, group=AUDIO),
        Parameter(name="model.decoder.embed_tokens", group="embedding", size=rows * hidden),
        Parameter(
            name="model.decoder.embed_positions", group="embedding", size=size(config, "max_target_positions") * hidden
        ),
    ]
    layers = tuple(_whisper_layer(config, hidden, heads) for _ in range(size(config, "decoder_layers")))
    # The engine keeps a bias for keys, which the checkpoint does not have.
    biases = -hidden * (encoder.depth + 2 * len(layers))
    return Network(
        first=tuple(first), layers=layers, last=(norm("model.decoder.layer_norm", hidden, bias=True),),
        layer_prefix="model.decoder.layers", unloaded_params=biases,
    )  # fmt: skip


def _whisper_layer(config: ModelConfig, hidden: int, heads: int) -> tuple[Module, ...]:
    head = hidden // heads
    sizes = AttentionSizes(hidden_size=hidden, num_heads=heads, num_kv_heads=heads, head_dim=head, v_head_dim=head)
    keys = (Output(name="k_proj", size=hidden, heads=heads), Output(name="v_proj", size=hidden, heads=heads))
    return (
        qkv("self_attn.qkv_proj", sizes, bias=True),
        output_projection("self_attn.out_proj", sizes, bias=True),
        linear("encoder_attn.q_proj", "attention", hidden, hidden, bias=True),
        Linear(name="encoder_attn.kv_proj", group="attention", inputs=hidden, outputs=keys, bias=True),
        output_projection("encoder_attn.out_proj", sizes, bias=True),
        *plain_layers("mlp.", hidden, size(config, "decoder_ffn_dim"), bias=True, names=("fc1", "fc2")),
        norm("norms", 3 * hidden, bias=True),
    )


ENCODERS: Mapping[str, Builder] = {
    "BertModel": bert,
    "XLMRobertaModel": bert,
    "RobertaModel": bert,
    "XLMRobertaForSequenceClassification": bert_classifier,
    "RobertaForSequenceClassification": bert_classifier,
    "WhisperForConditionalGeneration": whisper,
}
"""Builders of encoders and speech models."""
