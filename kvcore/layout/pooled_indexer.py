"""Pooled indexer (GLM-5.3-Flash): one indexer key per pool of tokens, and a ring of the tokens of the open pool."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kvcore.config import ModelConfig
from kvcore.layout.cache import Cache, Growth
from kvcore.layout.indexer import IndexerCache
from kvcore.layout.latent import SparseLatentCache

LINEAR, INDEXED = "linear_attention", "indexed_attention"
LINEAR_IN_FOUR = 4


@dataclass(frozen=True, kw_only=True)
class PooledIndexerCache(IndexerCache):
    """Indexer keys of whole pools; ``tokens_per_key`` is the pool's size."""


@dataclass(frozen=True, kw_only=True)
class TailRingCache(Cache):
    """Keys and gate scores of the open pool's tokens, as 16-bit floats, whole on every rank.

    Attributes:
        index_head_dim: Elements of a key, and of its gate score.
        index_kpool: Tokens of a pool.
    """

    growth: ClassVar[Growth] = "per_request"
    index_head_dim: int
    index_kpool: int


def glm_sparse_kinds(config: ModelConfig) -> Sequence[str]:
    """Linear or indexed attention of each layer (transformers 5.16 `Glm5NextTextConfig`); other types attend."""
    stated = config.sequence("layer_types")
    layers = range(config.num_hidden_layers)
    if stated is None:
        return [INDEXED if index % LINEAR_IN_FOUR == LINEAR_IN_FOUR - 1 else LINEAR for index in layers]
    return [LINEAR if index < len(stated) and stated[index] == LINEAR else INDEXED for index in layers]


def pooled_indexer(config: ModelConfig, layer_index: int) -> PooledIndexerCache:
    """The indexer keys of one layer; every indexed layer has its own (vLLM 0.33.0 `Glm5NextMLAAttention`)."""
    return PooledIndexerCache(
        name="indexer", index_head_dim=config.integer("index_head_dim", 128), tokens_per_key=_pool(config)
    )


def tail_ring(config: ModelConfig, layer_index: int) -> TailRingCache:
    """The ring of one layer's open pool."""
    return TailRingCache(
        name="indexer tail", index_head_dim=config.integer("index_head_dim", 128), index_kpool=_pool(config)
    )


def glm_sparse_latent(config: ModelConfig, layer_index: int) -> SparseLatentCache:
    """The latent of one layer, without rotary key."""
    return SparseLatentCache(
        name="latent",
        kv_lora_rank=config.integer("kv_lora_rank", 512),
        qk_rope_head_dim=config.integer("qk_rope_head_dim", 0, minimum=0),
        qk_nope_head_dim=config.integer("qk_nope_head_dim", 256),
        index_topk=config.integer("index_topk", 2048),
    )


def _pool(config: ModelConfig) -> int:
    return config.integer("index_kpool", 16, minimum=2)
