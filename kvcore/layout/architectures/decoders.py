"""Architectures of text decoders that store keys and values only."""

from collections.abc import Mapping

from kvcore.layout.architecture import Architecture
from kvcore.layout.grouped_query import grouped_query
from kvcore.layout.layer_kinds import every_layer
from kvcore.layout.traits import Traits


def _attention(source: str, traits: Traits | None = None) -> Architecture:
    return Architecture(
        layer_kinds=every_layer("attention"),
        caches={"attention": (grouped_query,)},
        traits=traits or Traits(),
        source=source,
    )


DECODERS: Mapping[str, Architecture] = {
    "LlamaForCausalLM": _attention("vLLM 0.33.0 `models/llama.py`"),
    "Qwen2ForCausalLM": _attention("vLLM 0.33.0 `models/qwen2.py`"),
    "Qwen3ForCausalLM": _attention("vLLM 0.33.0 `models/qwen3.py`"),
    "Qwen3MoeForCausalLM": _attention("vLLM 0.33.0 `models/qwen3_moe.py`"),
    "MixtralForCausalLM": _attention("vLLM 0.33.0 `models/mixtral.py`"),
}
"""One row per architecture."""
