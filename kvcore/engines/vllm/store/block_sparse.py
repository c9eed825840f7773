"""MiniMax M3's sparse layers as vLLM stores them: blocks of 128 tokens, index keys as 16-bit floats."""

import dataclasses

from kvcore.catalog.gpus import BLACKWELL
from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.specs import FullAttentionSpec, MLAAttentionSpec
from kvcore.engines.vllm.store.attention import key_value_store
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.errors import refusal
from kvcore.layout.block_sparse import BlockSparseCache, IndexKeyCache

MINIMAX_M3_SPARSE = Backend(name="MINIMAX_M3_SPARSE", block_sizes=(128,), plans_any_block=True, plans_any_sharing=True)
MINIMAX_M3_SPARSE_INDEXER = Backend(name="MINIMAX_M3_SPARSE_INDEXER", block_sizes=(128,), plans_any_block=True)

CACHE_DTYPES = frozenset({"auto", "bfloat16", "float16", "fp8", "fp8_e4m3", "fp8_e5m2"})
MSA_TOPK_BLOCKS = frozenset({4, 8, 16, 32})
"""Blocks per query Blackwell's own kernels take (vLLM 0.33.0 `select_main_backend_and_impl_cls`)."""

BFLOAT16_BYTES = 2


def store_block_sparse(cache: BlockSparseCache, context: StoreContext) -> Stored:
    """Stores keys and values of every token (vLLM 0.33.0 `MiniMaxM3SparseAttention.get_kv_cache_spec`).

    Raises:
        EngineRefusal: The kernels do not take the cache dtype.
    """
    store = key_value_store(cache, context, backend=_backend(cache, context))
    spec = FullAttentionSpec(block_size=context.block_size, **store.spec_fields)
    return store.stored(spec, "MiniMaxM3SparseAttention.get_kv_cache_spec")


def _backend(cache: BlockSparseCache, context: StoreContext) -> Backend:
    given = context.kv_cache_dtype
    if given == "nvfp4" and context.gpu.capability[0] == BLACKWELL and cache.topk_blocks in MSA_TOPK_BLOCKS:
        return dataclasses.replace(MINIMAX_M3_SPARSE, kv_cache_layouts=("LBHNC",))
    if given not in CACHE_DTYPES:
        rule = "vLLM's sparse attention of MiniMax M3 does not store this format on this GPU"
        raise refusal("kv_cache_dtype", given, rule, "Use auto or fp8.")
    return MINIMAX_M3_SPARSE


def store_index_key(cache: IndexKeyCache, context: StoreContext) -> Stored:
    """Stores one index key per token, never quantized by default (vLLM 0.33.0 `MiniMaxM3IndexerCache`)."""
    spec = MLAAttentionSpec(
        block_size=context.block_size,
        num_kv_heads=1,
        head_size=cache.index_head_dim,
        head_size_v=0,
        dtype="bfloat16",
        dtype_bytes=BFLOAT16_BYTES,
        cache_role="indexer",
        stride_multiple=MINIMAX_M3_SPARSE_INDEXER.stride_multiple,
    )
    return Stored(
        spec=spec,
        backend=MINIMAX_M3_SPARSE_INDEXER,
        dtype="bfloat16",
        split="whole",
        shards=1,
        formula="sparse_index_dim × bytes per element",
        substituted=f"{cache.index_head_dim} × {BFLOAT16_BYTES}",
        source="vLLM 0.33.0 `MiniMaxM3IndexerCache`",
    )
