"""Compressed latents (DeepSeek V4): a window of whole latents, and one latent per 4 or 128 tokens of the rest.

A compressed layer also keeps the tokens it has not compressed yet as compressor states, and layers compressed 4 to 1
choose what to read with an indexer over compressed keys, which has a compressor state of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.cache import Cache, Growth
from kvcore.layout.indexer import IndexerCache

WINDOW, SPARSE, HEAVY = "sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"

LAYER_TYPE_OF_RATIO = {0: WINDOW, 4: SPARSE, 128: HEAVY}
"""Layer type a ratio in ``compress_ratios`` stands for (transformers 5.16 `DeepseekV4Config`)."""

DEFAULT_RATES = {SPARSE: 4, HEAVY: 128}
OVERLAPPING_RATIO = 4
KNOWN_RATIOS = frozenset({4, 128})


@dataclass(frozen=True, kw_only=True)
class WindowLatentCache(Cache):
    """Latents of the last ``sliding_window`` tokens.

    Attributes:
        head_dim: Elements of a latent, its rotary part included.
        sliding_window: Tokens that stay.
    """

    growth: ClassVar[Growth] = "sliding_window"
    head_dim: int
    sliding_window: int

    @property
    def window(self) -> int | None:
        """The sliding window in tokens."""
        return self.sliding_window


@dataclass(frozen=True, kw_only=True)
class CompressedLatentCache(Cache):
    """One latent per ``compress_ratio`` tokens.

    Attributes:
        head_dim: Elements of a latent, its rotary part included.
        compress_ratio: Tokens one latent stands for.
    """

    growth: ClassVar[Growth] = "per_token"
    head_dim: int
    compress_ratio: int


@dataclass(frozen=True, kw_only=True)
class CompressedIndexerCache(IndexerCache):
    """Indexer keys over compressed latents."""


@dataclass(frozen=True, kw_only=True)
class CompressorStateCache(Cache):
    """Inputs and scores of tokens still to be compressed: 32-bit floats of the last tokens.

    Attributes:
        state_dim: Elements per token.
        compress_ratio: Tokens one compressed entry stands for.
    """

    growth: ClassVar[Growth] = "sliding_window"
    state_dim: int
    compress_ratio: int

    @property
    def window(self) -> int | None:
        """Tokens that stay: those of one entry, of two where entries overlap."""
        return self.compress_ratio * overlap(self.compress_ratio)


def overlap(compress_ratio: int) -> int:
    """Entries a token takes part in: ratio 4 compresses overlapping stretches (vLLM 0.33.0 `DeepseekCompressor`)."""
    return 2 if compress_ratio == OVERLAPPING_RATIO else 1


def compressed_kinds(config: ModelConfig) -> Sequence[str]:
    """Layer types: stated, or those of ``compress_ratios``, or the class's alternation (`DeepseekV4Config`).

    Raises:
        ConfigError: A list is shorter than the model or names an unknown type or ratio.
    """
    layers = config.num_hidden_layers
    types = config.sequence("layer_types")
    if types is None and config.sequence("compress_ratios") is not None:
        types = [_type_of(config, ratio) for ratio in config.sequence("compress_ratios") or ()]
    if types is None:
        types = [HEAVY] * min(layers, 2) + [SPARSE if index % 2 else HEAVY for index in range(max(layers - 2, 0))]
    if len(types) < layers:
        rule = f"the list is shorter than the {layers} layers"
        key = "layer_types" if config.sequence("layer_types") is not None else "compress_ratios"
        raise config_error(config.path(key), len(types), rule, "Give the config.json unchanged.")
    return [str(kind) for kind in types[:layers]]


def _type_of(config: ModelConfig, ratio: object) -> str:
    kind = LAYER_TYPE_OF_RATIO.get(ratio) if isinstance(ratio, int) else None
    if kind is None:
        rule = "kvcore knows the compression ratios 0, 4 and 128"
        raise config_error(config.path("compress_ratios"), ratio, rule, "The model's code would settle what it caches.")
    return kind


def compress_rate(config: ModelConfig, kind: str) -> int:
    """Tokens one entry of a layer type stands for.

    Raises:
        ConfigError: The engine has no compressor of that ratio.
    """
    stated: Mapping[str, Any] = config.mapping("compress_rates")
    override = {SPARSE: "compress_rate_csa", HEAVY: "compress_rate_hca"}[kind]
    rate = config.get(override) or stated.get(kind) or (0 if stated else DEFAULT_RATES[kind])
    if rate not in KNOWN_RATIOS:
        rule = "vLLM has compressors of ratio 4 and 128"
        raise config_error(config.path("compress_rates"), rate, rule, "The model's code would settle what it caches.")
    return int(rate)


def window_latent(config: ModelConfig, layer_index: int) -> WindowLatentCache:
    """The window of latents every layer keeps."""
    return WindowLatentCache(
        name="window latent", head_dim=config.integer("head_dim"), sliding_window=config.integer("sliding_window")
    )


def _kind(config: ModelConfig, layer_index: int) -> str:
    return compressed_kinds(config)[layer_index]


def compressed_latent(config: ModelConfig, layer_index: int) -> CompressedLatentCache:
    """The compressed latents of one layer."""
    ratio = compress_rate(config, _kind(config, layer_index))
    return CompressedLatentCache(
        name=f"compressed latent {ratio}:1", head_dim=config.integer("head_dim"), compress_ratio=ratio
    )


def compressed_indexer(config: ModelConfig, layer_index: int) -> CompressedIndexerCache | None:
    """The indexer keys of one layer; only layers compressed 4 to 1 choose what they read."""
    ratio = compress_rate(config, _kind(config, layer_index))
    if ratio != OVERLAPPING_RATIO:
        return None
    return CompressedIndexerCache(name="indexer", index_head_dim=config.integer("index_head_dim"), tokens_per_key=ratio)


def compressor_state(config: ModelConfig, layer_index: int) -> CompressorStateCache:
    """The compressor state of one layer's latents: an input and a score per element (`DeepseekCompressor`)."""
    ratio = compress_rate(config, _kind(config, layer_index))
    return _state(f"compressor state {ratio}:1", config.integer("head_dim"), ratio)


def indexer_compressor_state(config: ModelConfig, layer_index: int) -> CompressorStateCache | None:
    """The compressor state of one layer's indexer."""
    ratio = compress_rate(config, _kind(config, layer_index))
    if ratio != OVERLAPPING_RATIO:
        return None
    return _state("indexer compressor state", config.integer("index_head_dim"), ratio)


def _state(name: str, head_dim: int, ratio: int) -> CompressorStateCache:
    return CompressorStateCache(name=name, state_dim=2 * overlap(ratio) * head_dim, compress_ratio=ratio)
