"""Architectures without a cache between steps, and encoder-decoders."""

from collections.abc import Mapping

from kvcore.layout.architecture import Architecture
from kvcore.layout.architectures.rows import encoder
from kvcore.layout.encoder_decoder import (
    DECODER,
    whisper_cross_attention,
    whisper_kinds,
    whisper_self_attention,
)
from kvcore.layout.traits import Traits

ENCODERS: Mapping[str, Architecture] = {
    "BertForMaskedLM": encoder("bert"),
    "BertForSequenceClassification": encoder("bert"),
    "BertForTokenClassification": encoder("bert"),
    "BertModel": encoder("bert"),
    "BertSpladeSparseEmbeddingModel": encoder("bert"),
    "BgeM3EmbeddingModel": encoder("roberta"),
    "GteModel": encoder("bert_with_rope"),
    "GteNewForSequenceClassification": encoder("bert_with_rope"),
    "GteNewModel": encoder("bert_with_rope"),
    "ModernBertForSequenceClassification": encoder("modernbert"),
    "ModernBertForTokenClassification": encoder("modernbert"),
    "ModernBertModel": encoder("modernbert"),
    "NomicBertModel": encoder("bert_with_rope"),
    "RobertaForMaskedLM": encoder("roberta"),
    "RobertaForSequenceClassification": encoder("roberta"),
    "RobertaForTokenClassification": encoder("roberta"),
    "RobertaModel": encoder("roberta"),
    "WhisperForConditionalGeneration": Architecture(
        layer_kinds=whisper_kinds,
        caches={DECODER: (whisper_self_attention, whisper_cross_attention)},
        traits=Traits(encoder_decoder=True, chunked_prefill=False, prefix_caching=False, supports_pipeline=False),
        source="vLLM 0.33.0 `models/whisper.py`",
    ),
    "XLMRobertaForSequenceClassification": encoder("roberta"),
    "XLMRobertaForTokenClassification": encoder("roberta"),
    "XLMRobertaModel": encoder("roberta"),
}
"""One row per architecture."""
