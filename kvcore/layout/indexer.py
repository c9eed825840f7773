"""Indexer: a small key per token by which sparse attention chooses the tokens it reads (DeepSeek Sparse Attention)."""

from dataclasses import dataclass
from typing import ClassVar

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.cache import Cache, Growth
from kvcore.layout.latent import keeps_latents


@dataclass(frozen=True, kw_only=True)
class IndexerCache(Cache):
    """One 8-bit indexer key per token with its scales, whole on every rank.

    Attributes:
        index_head_dim: Elements of the key.
        tokens_per_key: Tokens one key stands for (pooled indexers).
    """

    growth: ClassVar[Growth] = "per_token"
    index_head_dim: int
    tokens_per_key: int = 1


def indexer(config: ModelConfig, layer_index: int) -> IndexerCache | None:
    """The indexer cache of one layer, or None where the layer owns no indexer.

    Raises:
        ConfigError: The config names ``index_topk`` but no ``index_head_dim``.
    """
    if config.get("index_topk") is None or not keeps_latents(config) or not owns_indexer(config, layer_index):
        return None
    return IndexerCache(name="indexer", index_head_dim=config.integer("index_head_dim"))


def owns_indexer(config: ModelConfig, layer_index: int) -> bool:
    """Whether a layer chooses tokens itself instead of sharing an earlier layer's choice.

    Drafter layers, counted behind the model's own, always do (vLLM 0.33.0 `DeepseekV32Attention`).

    Raises:
        ConfigError: ``index_topk_pattern`` is no list or text of layer letters.
    """
    if layer_index >= config.num_hidden_layers:
        return True
    pattern = config.get("index_topk_pattern")
    if pattern is not None:
        if not isinstance(pattern, str | list | tuple):
            rule = "one letter per layer is expected, S for layers that share"
            raise config_error(config.path("index_topk_pattern"), pattern, rule, "Give the config.json unchanged.")
        return layer_index >= len(pattern) or pattern[layer_index] != "S"
    frequency = config.integer("index_topk_freq", 1)
    offset = config.integer("index_skip_topk_offset", 2, minimum=0)
    return max(layer_index - offset + 1, 0) % frequency == 0
