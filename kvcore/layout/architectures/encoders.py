"""Architectures without a cache between steps, and encoder-decoders."""

from collections.abc import Mapping

from kvcore.layout.architecture import Architecture
from kvcore.layout.architectures.rows import decoder, encoder
from kvcore.layout.encoder_decoder import (
    DECODER,
    whisper_cross_attention,
    whisper_kinds,
    whisper_self_attention,
)
from kvcore.layout.traits import Traits

STEP_POOLING = Traits(pooling=True, chunked_prefill=False, prefix_caching=False)
"""Rewards per step need the whole prompt at once (vLLM 0.33.0 `is_chunked_prefill_supported`)."""

ENCODERS: Mapping[str, Architecture] = {
    "BertForMaskedLM": encoder("bert"),
    "BertForSequenceClassification": encoder("bert"),
    "BertForTokenClassification": encoder("bert"),
    "BertModel": encoder("bert"),
    "BertSpladeSparseEmbeddingModel": encoder("bert"),
    "BgeM3EmbeddingModel": encoder("roberta"),
    "Gemma3TextModel": encoder("gemma3", only_if="use_bidirectional_attention"),
    "GteModel": encoder("bert_with_rope"),
    "GteNewForSequenceClassification": encoder("bert_with_rope"),
    "GteNewModel": encoder("bert_with_rope"),
    "LlamaBidirectionalForSequenceClassification": encoder("llama"),
    "LlamaBidirectionalModel": encoder("llama"),
    "ModernBertForSequenceClassification": encoder("modernbert"),
    "ModernBertForTokenClassification": encoder("modernbert"),
    "ModernBertModel": encoder("modernbert"),
    "NomicBertModel": encoder("bert_with_rope"),
    "Qwen2ForProcessRewardModel": decoder("qwen2_rm", refuses_mixed=True, traits=STEP_POOLING),
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
