"""The latent of multi-head latent attention as vLLM stores it: whole on every rank."""

import dataclasses

from kvcore.catalog.gpus import BLACKWELL
from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.specs import MLAAttentionSpec
from kvcore.engines.vllm.store.stored import StoreContext, Stored, element_bytes
from kvcore.errors import refusal
from kvcore.layout.cache import LatentCache
from kvcore.layout.latent import SparseLatentCache

PACKED_ENTRIES = {"fp8_ds_mla": 656, "nvfp4_ds_mla": 352}
"""Bytes of one token's packed latent (vLLM 0.33.0 `MLAAttention.get_kv_cache_spec`)."""

PACKED_FORMULAS = {
    "fp8_ds_mla": ("512 × 1 byte of latent + 4 scales × 4 bytes + 64 rotary elements × 2 bytes", "512 + 16 + 128"),
    "nvfp4_ds_mla": ("packed 4-bit latent with scales and rotary key, one block of bytes", "352"),
}

KERNEL_BLOCK = 64
"""Tokens of one kernel block of FLASHMLA_SPARSE."""


def store_latent(cache: LatentCache, context: StoreContext) -> Stored:
    """Stores one latent and one rotary key per token (vLLM 0.33.0 `MLAAttention.get_kv_cache_spec`).

    Raises:
        EngineRefusal: No backend of the GPU takes the latent in this cache dtype.
    """
    head_size = cache.kv_lora_rank + cache.qk_rope_head_dim
    sparse = isinstance(cache, SparseLatentCache)
    backend = context.select(
        head_size,
        use_mla=True,
        use_sparse=sparse,
        kv_lora_rank=cache.kv_lora_rank,
        qk_rope_head_dim=cache.qk_rope_head_dim,
        qk_nope_head_dim=cache.qk_nope_head_dim,
        index_topk=cache.index_topk if isinstance(cache, SparseLatentCache) else None,
    )
    _check_sharded(backend, context)
    kv_cache_dtype = stored_format(backend, context.kv_cache_dtype)
    packed = PACKED_ENTRIES.get(kv_cache_dtype)
    dtype = "uint8" if packed else dataclasses.replace(context, kv_cache_dtype=kv_cache_dtype).stored_dtype
    size = element_bytes(dtype)
    entry = packed if packed is not None else head_size * size
    backend, stride_multiple, stride_bytes = strides(backend, context, quantized=packed is not None, entry_bytes=entry)
    spec = MLAAttentionSpec(
        block_size=context.block_size,
        num_kv_heads=1,
        head_size=head_size,
        head_size_v=0,
        dtype=dtype,
        dtype_bytes=size,
        cache_dtype=kv_cache_dtype,
        state_content_bytes=packed,
        stride_multiple=stride_multiple,
        stride_bytes=stride_bytes,
    )
    formula, substituted = PACKED_FORMULAS.get(kv_cache_dtype) or (
        "(kv_lora_rank + qk_rope_head_dim) × bytes per element",
        f"({cache.kv_lora_rank} + {cache.qk_rope_head_dim}) × {size}",
    )
    return Stored(
        spec=spec,
        backend=backend,
        dtype=kv_cache_dtype if packed else dtype,
        split="whole",
        shards=1,
        formula=formula,
        substituted=substituted,
        source="vLLM 0.33.0 `MLAAttentionSpec`, one latent per token, not divided by tensor parallelism",
    )


def stored_format(backend: Backend, kv_cache_dtype: str) -> str:
    """The format a backend stores a cache dtype in (vLLM 0.33.0 `_canonicalize_sparse_mla_kv_cache_dtype`)."""
    if backend.name == "FLASHMLA_SPARSE" and kv_cache_dtype in {"fp8", "fp8_ds_mla"}:
        return "fp8_ds_mla"
    if backend.name == "FLASHINFER_MLA_SPARSE_SM120" and kv_cache_dtype in {"auto", "fp8", "fp8_e4m3"}:
        return "fp8_ds_mla"
    return kv_cache_dtype


def strides(
    backend: Backend, context: StoreContext, *, quantized: bool, entry_bytes: int
) -> tuple[Backend, int | None, int | None]:
    """The backend as it takes this cache, and what it aligns block strides to: tokens of a kernel block, or bytes.

    Sparse kernels read rows, so blocks lie whole rows apart (vLLM 0.33.0 `align_blocks_to_rows`).
    """
    if backend.name == "FLASHMLA_SPARSE" and quantized:
        if context.gpu.capability[0] != BLACKWELL:
            return backend, KERNEL_BLOCK, None
        backend = dataclasses.replace(backend, multiple_of=None, block_sizes=(KERNEL_BLOCK,))
    if backend.row_pages is not None:
        return backend, None, backend.row_pages * entry_bytes
    return backend, backend.stride_multiple, None


def _check_sharded(backend: Backend, context: StoreContext) -> None:
    unpacked = context.kv_cache_dtype in {"auto", "bfloat16", "float16"}
    if context.decode_context_parallel_size > 1 and backend.name == "FLASHMLA_SPARSE" and unpacked:
        rule = "vLLM's FLASHMLA_SPARSE shares tokens between ranks only with an fp8 cache"
        raise refusal("kv_cache_dtype", context.kv_cache_dtype, rule, "Use fp8, or decode_context_parallel_size 1.")
