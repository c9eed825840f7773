"""Architectures of text decoders that mix sliding windows or chunks with full attention, or share caches."""

from collections.abc import Mapping

from kvcore.layout.architecture import Architecture, CacheBuilder
from kvcore.layout.architectures.rows import NO_PIPELINE, PLAIN, decoder
from kvcore.layout.drafts import first_layers_again, mtp_layers
from kvcore.layout.grouped_query import grouped_query
from kvcore.layout.head_counts import (
    NO_ATTENTION,
    gemma4_global,
    mimo_full,
    mimo_kinds,
    mimo_window,
    nemotron_nas_attention,
    nemotron_nas_kinds,
)
from kvcore.layout.layer_types import CHUNKED, FULL, SLIDING
from kvcore.layout.shared_layers import sharing_targets, unless_shared
from kvcore.layout.traits import Traits
from kvcore.layout.window import (
    attention_kinds,
    chunked_attention,
    chunked_kinds,
    even_layers_slide,
    grouped_query_with_sinks,
    listed_window,
    listed_window_kinds,
    sliding_attention,
    sliding_attention_plus_one,
    sliding_attention_with_sinks,
)

NO_REPLICATION = Traits(replicates_kv_heads=False)


def _interleaved(module: str, *, model_window: bool = True) -> Architecture:
    return decoder(module, interleaved=True, model_window=model_window)


def sharing(
    module: str, full: CacheBuilder = grouped_query, traits: Traits = PLAIN, *, heads_per_layer: bool = False
) -> Architecture:
    """Gemma 3n and 4: the last layers read the caches of earlier ones."""
    return Architecture(
        layer_kinds=attention_kinds(interleaved=True),
        caches={FULL: (unless_shared(full),), SLIDING: (unless_shared(sliding_attention),)},
        traits=traits,
        shares=sharing_targets,
        heads_per_layer=heads_per_layer,
        source=f"vLLM 0.33.0 `models/{module}.py`",
    )


def llama4(module: str) -> Architecture:
    """Llama 4: layers with RoPE keep a chunk."""
    return Architecture(
        layer_kinds=chunked_kinds,
        caches={FULL: (grouped_query,), CHUNKED: (chunked_attention,)},
        source=f"vLLM 0.33.0 `models/{module}.py`",
    )


def mimo_v2(module: str) -> Architecture:
    """MiMo-V2: window layers with heads of their own, keys wider than values."""
    return Architecture(
        layer_kinds=mimo_kinds,
        caches={FULL: (mimo_full,), SLIDING: (mimo_window,)},
        mtp=mtp_layers(mimo_window, fixed=1),
        source=f"vLLM 0.33.0 `models/{module}.py`",
    )


EXAONE4_5_MTP = first_layers_again(
    attention_kinds(interleaved=True),
    {FULL: grouped_query, SLIDING: sliding_attention},
    model_types=frozenset({"exaone4_5"}),
)

EXAONE_MOE_MTP = first_layers_again(
    attention_kinds(interleaved=True),
    {FULL: grouped_query, SLIDING: listed_window},
    model_types=frozenset({"exaone_moe"}),
    own_keys=("mtp_layer_types", "mtp_sliding_windows"),
)

WINDOWS: Mapping[str, Architecture] = {
    "AfmoeForCausalLM": _interleaved("afmoe"),
    "ApertusForCausalLM": _interleaved("apertus"),
    "Cohere2ForCausalLM": decoder("commandr", interleaved=True, sliding=sliding_attention_plus_one),
    "Cohere2MoeForCausalLM": decoder("cohere2_moe", interleaved=True, sliding=sliding_attention_plus_one),
    "CwmForCausalLM": _interleaved("transformers/base"),
    "DeciLMForCausalLM": Architecture(
        layer_kinds=nemotron_nas_kinds,
        caches={FULL: (nemotron_nas_attention,), NO_ATTENTION: ()},
        source="vLLM 0.33.0 `models/nemotron_nas.py`",
    ),
    "Exaone4ForCausalLM": decoder("exaone4", interleaved=True, mtp=EXAONE4_5_MTP),
    "ExaoneMoEForCausalLM": decoder("exaone_moe", interleaved=True, sliding=listed_window, mtp=EXAONE_MOE_MTP),
    "ExaoneMoeForCausalLM": decoder("exaone_moe", interleaved=True, sliding=listed_window, mtp=EXAONE_MOE_MTP),
    "Gemma2ForCausalLM": _interleaved("gemma2"),
    "Gemma3ForCausalLM": _interleaved("gemma3"),
    "Gemma3nForCausalLM": sharing("gemma3n", traits=NO_PIPELINE),
    "Gemma4ForCausalLM": sharing("gemma4", gemma4_global, heads_per_layer=True),
    "GptOssForCausalLM": Architecture(
        layer_kinds=even_layers_slide,
        caches={FULL: (grouped_query_with_sinks,), SLIDING: (sliding_attention_with_sinks,)},
        traits=NO_REPLICATION,
        source="vLLM 0.33.0 `models/gpt_oss.py`",
    ),
    "GraniteMoeSWAForCausalLM": _interleaved("granitemoeshared"),
    "GraniteSWAForCausalLM": _interleaved("granite"),
    "Kolibri1ForCausalLM": _interleaved("transformers/base"),
    "LagunaForCausalLM": _interleaved("laguna", model_window=False),
    "Llama4ForCausalLM": llama4("llama4"),
    "MellumForCausalLM": _interleaved("transformers/base"),
    "MiMoV2FlashForCausalLM": mimo_v2("mimo_v2"),
    "MiMoV2ForCausalLM": mimo_v2("mimo_v2"),
    "MuseGlimmerForCausalLM": _interleaved("muse_glimmer"),
    "Olmo3ForCausalLM": _interleaved("transformers/base"),
    "PanguEmbeddedForCausalLM": Architecture(
        layer_kinds=listed_window_kinds,
        caches={FULL: (grouped_query,), SLIDING: (listed_window,)},
        source="vLLM 0.33.0 `models/openpangu.py`",
    ),
    "Step3p5ForCausalLM": _interleaved("step3p5", model_window=False),
    "VaultGemmaForCausalLM": _interleaved("transformers/base"),
}
"""One row per architecture."""
