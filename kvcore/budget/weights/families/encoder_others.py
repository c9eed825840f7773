"""Encoders with heads of their own, ModernBERT, and language models without an output head."""

from collections.abc import Mapping
from dataclasses import replace

from kvcore.budget.weights.decoder import Builder, Decoder
from kvcore.budget.weights.families.encoders import bert
from kvcore.budget.weights.families.gemma import GEMMA3_BLOCKS
from kvcore.budget.weights.families.text import QWEN2_BLOCKS
from kvcore.budget.weights.modules import Linear, Module, Network, linear, norm
from kvcore.budget.weights.parts.attention import AttentionSizes, output_projection, qkv
from kvcore.budget.weights.parts.facts import flag, size
from kvcore.budget.weights.parts.towers import plain_tensor
from kvcore.config import ModelConfig

SCORE = "score"
STEP_LABELS = 2
"""Labels of a step's score (vLLM 0.33.0 `Qwen2ForProcessRewardModel`)."""


def labels(config: ModelConfig) -> int:
    """Labels a classifier tells apart, two where the config says nothing (Hugging Face `PretrainedConfig.num_labels`)."""
    return int(config.root.get("num_labels") or len(config.root.get("id2label") or {"0": "", "1": ""}))


def score(name: str, inputs: int, outputs: int, *, bias: bool = True, split: bool = False) -> Linear:
    """A projection to scores, in float32."""
    return linear(
        name,
        SCORE,
        inputs,
        outputs,
        split="column" if split else "whole",
        bias=bias,
        dtype="float32",
        quantizable=False,
    )


def token_classifier(config: ModelConfig) -> Network:
    """BERT or RoBERTa with a score per label of every token (vLLM 0.33.0 `BertForTokenClassification`)."""
    return replace(bert(config), last=(score("classifier", config.hidden_size, labels(config)),), unloaded_params=None)


def sequence_classifier(config: ModelConfig) -> Network:
    """BERT with its pooler and a score per label (vLLM 0.33.0 `BertForSequenceClassification`)."""
    hidden = config.hidden_size
    last = (score("bert.pooler.dense", hidden, hidden), score("classifier", hidden, labels(config)))
    return replace(bert(config), last=last, unloaded_params=None)


def masked_language_model(config: ModelConfig) -> Network:
    """BERT with the head that fills in words, whole on every rank (vLLM 0.33.0 `BertMLMHead`)."""
    hidden, rows = config.hidden_size, config.integer("vocab_size")
    head = hidden * hidden + 3 * hidden + rows * hidden + rows
    return replace(bert(config), last=(plain_tensor("mlm_head", head, group="lm_head"),), unloaded_params=None)


def headless_masked_language_model(config: ModelConfig) -> Network:
    """RoBERTa whose head is not loaded: it serves as an embedding model (vLLM 0.33.0 `RobertaEmbeddingModel`)."""
    return replace(bert(config), unloaded_params=None)


def modern_layer(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """ModernBERT's layer; the first has no norm before attention (vLLM 0.33.0 `ModernBertLayer`)."""
    hidden, heads, wide = config.hidden_size, config.num_attention_heads, size(config, "intermediate_size")
    head = hidden // heads
    sizes = AttentionSizes(hidden_size=hidden, num_heads=heads, num_kv_heads=heads, head_dim=head, v_head_dim=head)
    attention_bias, mlp_bias = flag(config, "attention_bias"), flag(config, "mlp_bias")
    return (
        qkv("attn.Wqkv", sizes, bias=attention_bias),
        output_projection("attn.Wo", sizes, bias=attention_bias),
        linear("mlp.Wi", "mlp", hidden, (wide, wide), bias=mlp_bias),
        linear("mlp.Wo", "mlp", wide, hidden, split="row", bias=mlp_bias),
        norm("norms", (1 if index == 0 else 2) * hidden, bias=flag(config, "norm_bias")),
    )


def modern_norm(config: ModelConfig) -> tuple[Module, ...]:
    """The norm after the embedding."""
    return (norm("embeddings.norm", config.hidden_size, bias=flag(config, "norm_bias")),)


def modern_sequence_head(config: ModelConfig) -> tuple[Module, ...]:
    """A dense layer, a norm and a score per label, in float32 (vLLM 0.33.0 `ModernBertPooler`)."""
    hidden = config.hidden_size
    return (
        score("pooling.dense", hidden, hidden, bias=flag(config, "classifier_bias")),
        plain_tensor("pooling.norm", (2 if flag(config, "norm_bias") else 1) * hidden, group=SCORE, dtype="float32"),
        score("classifier", hidden, labels(config)),
    )


def modern_token_head(config: ModelConfig) -> tuple[Module, ...]:
    """A dense layer and a norm in the model's dtype, and a score per label (vLLM 0.33.0 `ModernBertPredictionHead`)."""
    hidden = config.hidden_size
    dense = linear(
        "head.dense", SCORE, hidden, hidden, split="whole", bias=flag(config, "classifier_bias"), quantizable=False
    )
    return (
        dense,
        norm("head.norm", hidden, bias=flag(config, "norm_bias"), group=SCORE),
        score("classifier", hidden, labels(config)),
    )


def step_score(config: ModelConfig) -> tuple[Module, ...]:
    """Two projections to a score per step, divided over ranks (vLLM 0.33.0 `Qwen2RewardBaseModel`)."""
    hidden = config.hidden_size
    second = linear("score.2", SCORE, hidden, STEP_LABELS, split="row", bias=True, dtype="float32", quantizable=False)
    return score("score.0", hidden, hidden, split=True), second


MODERN = Decoder(
    blocks=(modern_layer,), norms=0, headless=True, first=(modern_norm,), embedding="embeddings.tok_embeddings",
    prefix="encoder_layer.layers",
)  # fmt: skip

GEMMA3_TEXT = Decoder(blocks=GEMMA3_BLOCKS, norms=4, headless=True, prefix="layers", embedding="embed_tokens")

ENCODER_OTHERS: Mapping[str, Builder] = {
    "BertForMaskedLM": masked_language_model,
    "BertForSequenceClassification": sequence_classifier,
    "BertForTokenClassification": token_classifier,
    "RobertaForMaskedLM": headless_masked_language_model,
    "RobertaForTokenClassification": token_classifier,
    "XLMRobertaForTokenClassification": token_classifier,
    "ModernBertModel": MODERN,
    "ModernBertForSequenceClassification": replace(MODERN, last=(modern_sequence_head,)),
    "ModernBertForTokenClassification": replace(MODERN, last=(modern_token_head,)),
    "Qwen2ForProcessRewardModel": Decoder(blocks=QWEN2_BLOCKS, headless=True, every=(step_score,)),
    "Gemma3TextModel": GEMMA3_TEXT,
}
"""Builders of encoders with heads, and of language models without one."""
