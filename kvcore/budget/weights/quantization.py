"""Quantization of a checkpoint: which scheme stores which module."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kvcore.budget.weights.kernels import NO_PADDING, Padding
from kvcore.budget.weights.modules import Experts, Linear, Vocabulary
from kvcore.budget.weights.scheme import Scheme, plain
from kvcore.config import ModelConfig
from kvcore.dtypes import ELEMENT_BYTES
from kvcore.errors import ConfigError, config_error

ModuleScheme = Callable[[str, str], Scheme | None]
"""The scheme of a module by path and kind (``linear``, ``experts``, ``lm_head``); None: stored in the model dtype."""


@dataclass(frozen=True, kw_only=True)
class Quantization:
    """How a checkpoint's modules are stored.

    Attributes:
        name: The scheme as people call it; empty for none.
        scheme: Scheme of each module.
        cache_scale_bytes: Bytes of the scales each attention module keeps for its cache (vLLM 0.33.0
            `BaseKVCacheMethod.create_weights`, `CompressedTensorsKVCacheMethod.create_weights`).
        scales_latents: Whether modules that attend to latents keep such scales too.
        padding: What 16-bit experts are padded to.
        lists_quantized: Whether the checkpoint lists the modules that are quantized, not those that are not.
        by_fused_name: Whether rules are held against the engine's name of a fused layer only.
    """

    name: str
    scheme: ModuleScheme
    cache_scale_bytes: int = 0
    scales_latents: bool = False
    padding: Padding = NO_PADDING
    lists_quantized: bool = False
    by_fused_name: bool = False

    def linear_scheme(self, path: str, module: Linear, dtype: str) -> Scheme:
        """The scheme of a linear layer; every fused projection shares it."""
        unquantized = plain(ELEMENT_BYTES[dtype])
        if not module.quantizable or module.dtype is not None:
            return unquantized
        parent = path.rpartition(".")[0]
        names = [path] if self.by_fused_name else [path, *(f"{parent}.{output.name}" for output in module.outputs)]
        return self._first(dict.fromkeys(names), "linear") or unquantized

    def cache_scales(self, module: Linear) -> int:
        """Bytes of the cache scales of the attention module a layer feeds."""
        if module.attends == "keys" or (module.attends == "latent" and self.scales_latents):
            return self.cache_scale_bytes
        return 0

    def expert_scheme(self, path: str, module: Experts, dtype: str) -> Scheme:
        """The scheme of a layer's routed experts."""
        return (self._first([path], "experts") if module.quantizable else None) or plain(
            ELEMENT_BYTES[dtype], self.padding
        )

    def vocabulary_scheme(self, path: str, module: Vocabulary, dtype: str) -> Scheme:
        """The scheme of an embedding or output head."""
        return (self._first([path], "lm_head") if module.quantizable else None) or plain(ELEMENT_BYTES[dtype])

    def _first(self, names: Sequence[str] | Mapping[str, None], kind: str) -> Scheme | None:
        """The scheme of a module known by several names.

        Where unquantized modules are listed, one listed name is enough; so it is where quantized ones are.
        """
        schemes = [self.scheme(name, kind) for name in names]
        if self.lists_quantized:
            return next((scheme for scheme in schemes if scheme is not None), None)
        return None if any(scheme is None for scheme in schemes) else schemes[0]


CACHE_SCALES = 4 * 2
"""Scales of queries, keys, values and probabilities, in the 16-bit model dtype."""

UNQUANTIZED = Quantization(name="", scheme=lambda path, kind: None)  # noqa: ARG005 - a constant answer


def unknown_scheme(what: str, value: Any) -> ConfigError:
    """The refusal of a scheme whose bytes are not known."""
    return config_error(
        f"quantization_config.{what}",
        value,
        "kvcore does not know how this scheme stores weights, so their bytes are unknown",
        "Give the cache budget as logged (available_kv_cache_gib), or weights_gib from the log's Model loading took.",
    )


def names_of(section: Mapping[str, Any], *keys: str) -> list[str]:
    """The first list of module names a section states.

    Raises:
        ConfigError: The list holds something else than texts.
    """
    for key in keys:
        value = section.get(key)
        if not value:
            continue
        if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
            raise config_error(
                f"quantization_config.{key}", value, "a list of module names is expected", "Give it unchanged."
            )
        return list(value)
    return []


def quantization_section(config: ModelConfig) -> Mapping[str, Any]:
    """The checkpoint's quantization section, wherever it stands; empty where there is none."""
    for mapping in (config.root, config.text):
        for key in ("quantization_config", "compression_config"):
            value = mapping.get(key)
            if isinstance(value, Mapping):
                return value
    return {}
