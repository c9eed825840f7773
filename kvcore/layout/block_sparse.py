"""Block-sparse attention (MiniMax M3): whole keys and values, and an index key per token that chooses blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.cache import AttentionCache, Cache, Growth
from kvcore.layout.grouped_query import grouped_query

DENSE, SPARSE = "full_attention", "sparse_attention"


@dataclass(frozen=True, kw_only=True)
class BlockSparseCache(AttentionCache):
    """Keys and values of a layer whose queries read chosen blocks only; every token stays.

    Attributes:
        topk_blocks: Blocks a query reads, on which the kernels depend.
    """

    topk_blocks: int


@dataclass(frozen=True, kw_only=True)
class IndexKeyCache(Cache):
    """One 16-bit index key per token, whole on every rank."""

    growth: ClassVar[Growth] = "per_token"
    index_head_dim: int


def block_sparse_kinds(config: ModelConfig) -> Sequence[str]:
    """Layers with a non-zero entry in ``sparse_attention_freq`` are sparse (vLLM 0.33.0 `_sparse_attention_layer_ids`).

    Raises:
        ConfigError: The entry is no list.
    """
    frequency = config.mapping("sparse_attention_config").get("sparse_attention_freq") or ()
    if not isinstance(frequency, list | tuple):
        path = config.path("sparse_attention_config.sparse_attention_freq")
        raise config_error(path, frequency, "one number per layer is expected", "Give the config.json unchanged.")
    layers = range(config.num_hidden_layers)
    return [SPARSE if index < len(frequency) and frequency[index] != 0 else DENSE for index in layers]


def block_sparse(config: ModelConfig, layer_index: int) -> BlockSparseCache:
    """The keys and values of one sparse layer."""
    dense = grouped_query(config, layer_index)
    return BlockSparseCache(
        name="sparse attention",
        num_kv_heads=dense.num_kv_heads,
        head_size=dense.head_size,
        head_size_v=dense.head_size_v,
        topk_blocks=config.integer("sparse_attention_config.sparse_topk_blocks"),
    )


def index_key(config: ModelConfig, layer_index: int) -> IndexKeyCache:
    """The index keys of one sparse layer."""
    return IndexKeyCache(name="index key", index_head_dim=config.integer("sparse_attention_config.sparse_index_dim"))
