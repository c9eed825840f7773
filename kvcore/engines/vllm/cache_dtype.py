"""Which cache dtype each layer is stored in: the request's, except for layers left unquantized."""

import dataclasses
from collections.abc import Sequence

from kvcore.engines.vllm.settings import EngineSettings
from kvcore.layout.layout import Part


def parts_by_cache_dtype(parts: Sequence[Part], settings: EngineSettings) -> list[tuple[Part, str]]:
    """Splits parts whose layers are stored in different cache dtypes.

    Layers named by number in ``kv_cache_dtype_skip_layers`` keep the model dtype (vLLM 0.33.0 `Attention.__init__`).

    Returns:
        Each part with its resolved cache dtype.
    """
    skipped = {int(name) for name in settings.kv_cache_dtype_skip_layers if name.isdigit()}
    result: list[tuple[Part, str]] = []
    for part in parts:
        kept = tuple(index for index in part.layer_indices if index in skipped)
        quantized = tuple(index for index in part.layer_indices if index not in skipped)
        if quantized:
            result.append((dataclasses.replace(part, layer_indices=quantized), settings.kv_cache_dtype))
        if kept:
            unquantized = dataclasses.replace(part, name=f"{part.name} (unquantized)", layer_indices=kept)
            result.append((unquantized, "auto"))
    return result
