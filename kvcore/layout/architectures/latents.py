"""Architectures of multi-head latent attention, with and without an indexer, and compressed caches."""

from collections.abc import Mapping

from kvcore.layout.architecture import Architecture
from kvcore.layout.latent import latent
from kvcore.layout.layer_kinds import every_layer
from kvcore.layout.traits import Traits


def _latent(source: str) -> Architecture:
    return Architecture(
        layer_kinds=every_layer("latent"),
        caches={"latent": (latent,)},
        traits=Traits(latent=True),
        source=source,
    )


LATENTS: Mapping[str, Architecture] = {
    "DeepseekV2ForCausalLM": _latent("vLLM 0.33.0 `models/deepseek_v2.py`"),
    "DeepseekV3ForCausalLM": _latent("vLLM 0.33.0 `models/deepseek_v2.py`"),
}
"""One row per architecture."""
