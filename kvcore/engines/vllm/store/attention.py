"""Keys and values as vLLM stores them: what every attention spec has in common, and full attention."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvcore.catalog.gpus import BLACKWELL, HOPPER
from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.selection.dense import FLASH_ATTN_DIFFKV, TRITON_ATTN_DIFFKV, UNEQUAL_BACKENDS
from kvcore.engines.vllm.selection.query import DECODER
from kvcore.engines.vllm.specs import AttentionSpec, FullAttentionSpec
from kvcore.engines.vllm.store.entry import Entry, attention_entry
from kvcore.engines.vllm.store.stored import StoreContext, Stored, heads_per_rank
from kvcore.layout.cache import AttentionCache

UNEQUAL = {backend.name: backend for backend in UNEQUAL_BACKENDS}


def key_value_backend(cache: AttentionCache, context: StoreContext, attn_type: str = DECODER) -> Backend:
    """The backend of a layer that keeps keys and values.

    Keys and values of different sizes run on backends of their own, which the model class picks where none of them is
    asked for (vLLM 0.33.0 `FlashAttentionDiffKVBackend.is_supported_on_current_device`).
    """
    if cache.head_size != cache.head_size_v:
        asked_for = (context.attention_backend or "").upper()
        if asked_for in UNEQUAL:
            return UNEQUAL[asked_for]
        return FLASH_ATTN_DIFFKV if context.gpu.capability[0] in {HOPPER, BLACKWELL} else TRITON_ATTN_DIFFKV
    return context.select(
        cache.head_size, use_mm_prefix=context.mm_prefix_lm, has_sink=cache.has_sink, attn_type=attn_type
    )


@dataclass(frozen=True, kw_only=True)
class KeyValueStore:
    """What the specs of one cache of keys and values have in common on one rank.

    Attributes:
        entry: One token's entry.
        backend: The attention backend of the layer.
        num_kv_heads: KV heads on this rank, and ``split`` whether they are divided or replicated.
        shards: Ranks among which the heads divide without repetition.
    """

    cache: AttentionCache
    context: StoreContext
    entry: Entry
    backend: Backend
    num_kv_heads: int
    split: str
    shards: int

    @property
    def spec_fields(self) -> Mapping[str, Any]:
        """The fields every attention spec shares, but for the block size."""
        return {
            "num_kv_heads": self.num_kv_heads,
            "head_size": self.cache.head_size,
            "head_size_v": self.cache.head_size_v,
            "dtype": self.entry.dtype,
            "dtype_bytes": self.entry.dtype_bytes,
            "cache_dtype": self.context.kv_cache_dtype,
            "state_content_bytes": self.entry.state_content_bytes,
            "num_head_slots": self.entry.num_head_slots,
            "stride_multiple": self.backend.stride_multiple,
        }

    @property
    def entry_bytes(self) -> int:
        """Bytes of one token on this rank."""
        return FullAttentionSpec(block_size=1, **self.spec_fields).entry_bytes

    @property
    def plain_entry_bytes(self) -> int:
        """Bytes of one token if its elements were not packed."""
        fields = {**self.spec_fields, "state_content_bytes": None, "num_head_slots": None}
        return FullAttentionSpec(block_size=1, **fields).entry_bytes

    def stored(self, spec: AttentionSpec, symbol: str = "AttentionSpec.unpadded_page_size_bytes") -> Stored:
        """The cache as stored under a spec, which the engine's symbol makes."""
        return Stored(
            spec=spec,
            backend=self.backend,
            dtype=self.entry.label,
            split=self.split,
            shards=self.shards,
            formula=self.entry.formula,
            substituted=self.entry.substituted,
            source=f"vLLM 0.33.0 `{symbol}`",
        )


def key_value_store(
    cache: AttentionCache, context: StoreContext, attn_type: str = DECODER, backend: Backend | None = None
) -> KeyValueStore:
    """Works out what the specs of a cache have in common.

    Args:
        cache: Keys and values.
        context: How the layer is stored.
        attn_type: What the layer attends to.
        backend: The backend that the layer's class names; None: the engine selects one.

    Raises:
        EngineRefusal: The heads do not divide, no backend takes the layer, or the cache dtype does not fit.
    """
    heads, split = heads_per_rank(cache.num_kv_heads, context)
    return KeyValueStore(
        cache=cache,
        context=context,
        entry=attention_entry(cache, heads, context),
        backend=backend or key_value_backend(cache, context, attn_type),
        num_kv_heads=heads,
        split=split,
        shards=min(cache.num_kv_heads, context.tensor_parallel_size),
    )


def store_attention(cache: AttentionCache, context: StoreContext) -> Stored:
    """Stores one key and one value per KV head and token (vLLM 0.33.0 `Attention.get_kv_cache_spec`)."""
    store = key_value_store(cache, context)
    return store.stored(FullAttentionSpec(block_size=context.block_size, **store.spec_fields))
