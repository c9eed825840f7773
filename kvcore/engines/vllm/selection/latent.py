"""Backends for multi-head latent attention (vLLM 0.33.0 `v1/attention/backends/mla`)."""

from kvcore.catalog.gpus import BLACKWELL, BLACKWELL_WORKSTATION, HOPPER
from kvcore.engines.vllm.selection.backend import PLAIN, Backend
from kvcore.engines.vllm.selection.query import LayerQuery

LATENT_HEAD_SIZES = (320, 512, 576)
"""Widths of latent and rotary key dense kernels take (vLLM 0.33.0 `MLACommonBackend.get_supported_head_sizes`)."""

FP8 = ("fp8", "fp8_e4m3")

FA4_SPARSE_DIMS = (512, 64)
FA4_SPARSE_HEADS = (8, 16, 32, 64, 128)
FA4_SPARSE_HEADS_DCP = (8, 16, 32, 64)
FA4_TOPK_MULTIPLE = 128
SM120_INDEX_TOPK = 2048


def _flashinfer_mla(query: LayerQuery) -> str | None:
    nope = 1 if query.qk_nope_head_dim is None else query.qk_nope_head_dim
    return None if nope in {64, 128, 192} else f"qk_nope_head_dim {nope} is not 64, 128 or 192"


def _flashmla_sparse(query: LayerQuery) -> str | None:
    if query.head_size == 512:
        if query.kv_cache_dtype not in {*PLAIN, "fp8_ds_mla"} or query.major != HOPPER:
            return "without rotary keys it takes unquantized or fp8_ds_mla caches on Hopper only"
        if query.qk_rope_head_dim != 0:
            return "head size 512 is for models without rotary keys"
    if query.kv_cache_dtype == "nvfp4_ds_mla" and query.major != BLACKWELL:
        return "nvfp4_ds_mla runs on compute capability 10.x only"
    return None


def _flash_attn_mla_sparse(query: LayerQuery) -> str | None:
    return None if query.index_topk is not None else "the model states no index_topk"


def _flashinfer_mla_sparse(query: LayerQuery) -> str | None:
    if query.qk_rope_head_dim == 0:
        if (query.qk_nope_head_dim, query.kv_lora_rank) != (256, 512):
            return "without rotary keys it takes qk_nope_head_dim 256 and kv_lora_rank 512 only"
    elif query.qk_nope_head_dim not in {128, 192}:
        return f"qk_nope_head_dim {query.qk_nope_head_dim} is not 128 or 192"
    return None if query.index_topk is not None else "the model states no index_topk"


def _flash_attn_mla_sparse_fa4(query: LayerQuery) -> str | None:
    if query.index_topk is None or query.index_topk % FA4_TOPK_MULTIPLE:
        return f"index_topk must be a multiple of {FA4_TOPK_MULTIPLE}"
    if (query.kv_lora_rank, query.qk_rope_head_dim) != FA4_SPARSE_DIMS:
        return "kv_lora_rank 512 and qk_rope_head_dim 64 are required"
    dcp = query.decode_context_parallel_size
    heads = FA4_SPARSE_HEADS_DCP if dcp > 1 else FA4_SPARSE_HEADS
    if query.num_heads is None or query.num_heads * dcp not in heads:
        return f"query heads must be one of {heads}"
    return _flashinfer_mla_sparse(query)


def _flashinfer_mla_sparse_sm120(query: LayerQuery) -> str | None:
    return None if query.index_topk == SM120_INDEX_TOPK else f"index_topk must be {SM120_INDEX_TOPK}"


FLASH_ATTN_MLA = Backend(
    name="FLASH_ATTN_MLA",
    multiple_of=16,
    is_mla=True,
    head_sizes=LATENT_HEAD_SIZES,
    majors=(HOPPER,),
    supports_dcp=True,
)
TRITON_MLA = Backend(name="TRITON_MLA", multiple_of=16, is_mla=True, kv_cache_dtypes=(*PLAIN, *FP8), supports_dcp=True)
FLASHMLA = Backend(
    name="FLASHMLA", block_sizes=(64,), is_mla=True, kv_cache_dtypes=(*PLAIN, *FP8), head_sizes=LATENT_HEAD_SIZES,
    majors=(HOPPER,), supports_dcp=True,
)  # fmt: skip
FLASHINFER_MLA = Backend(
    name="FLASHINFER_MLA", block_sizes=(32, 64), is_mla=True, kv_cache_dtypes=(*PLAIN, *FP8),
    head_sizes=LATENT_HEAD_SIZES, majors=(BLACKWELL,), supports_dcp=True, refuses=_flashinfer_mla,
)  # fmt: skip
CUTLASS_MLA = Backend(
    name="CUTLASS_MLA", block_sizes=(128,), is_mla=True, kv_cache_dtypes=(*PLAIN, *FP8), head_sizes=LATENT_HEAD_SIZES,
    majors=(BLACKWELL,), supports_dcp=True,
)  # fmt: skip
FLASH_ATTN_MLA_SPARSE = Backend(
    name="FLASH_ATTN_MLA_SPARSE", multiple_of=64, row_pages=1, is_mla=True, is_sparse=True, majors=(HOPPER,),
    refuses=_flash_attn_mla_sparse,
)  # fmt: skip
FLASHMLA_SPARSE = Backend(
    name="FLASHMLA_SPARSE", multiple_of=64, row_pages=1, is_mla=True, is_sparse=True, dtypes=frozenset({"bfloat16"}),
    kv_cache_dtypes=("auto", "bfloat16", "fp8_ds_mla", "fp8", "nvfp4_ds_mla"), head_sizes=(576, 512), majors=(HOPPER, BLACKWELL),
    supports_dcp=True, refuses=_flashmla_sparse,
)  # fmt: skip
FLASHINFER_MLA_SPARSE = Backend(
    name="FLASHINFER_MLA_SPARSE", multiple_of=32, row_pages=32, is_mla=True, is_sparse=True,
    kv_cache_dtypes=(*PLAIN, *FP8), head_sizes=(512, 576), majors=(BLACKWELL,), supports_dcp=True,
    refuses=_flashinfer_mla_sparse,
)  # fmt: skip
FLASH_ATTN_MLA_SPARSE_FA4 = Backend(
    name="FLASH_ATTN_MLA_SPARSE_FA4", multiple_of=64, row_pages=64, is_mla=True, is_sparse=True,
    dtypes=frozenset({"bfloat16"}), kv_cache_dtypes=("auto", "bfloat16"), head_sizes=(576,), majors=(BLACKWELL,),
    supports_dcp=True, refuses=_flash_attn_mla_sparse_fa4,
)  # fmt: skip
FLASHINFER_MLA_SPARSE_SM120 = Backend(
    name="FLASHINFER_MLA_SPARSE_SM120", multiple_of=64, row_pages=64, is_mla=True, is_sparse=True,
    dtypes=frozenset({"bfloat16"}), kv_cache_dtypes=("auto", *FP8, "fp8_ds_mla"), head_sizes=(512, 576), majors=(BLACKWELL_WORKSTATION,),
    refuses=_flashinfer_mla_sparse_sm120,
)  # fmt: skip


def latent_priorities(query: LayerQuery) -> tuple[Backend, ...]:
    """Backends in the order vLLM tries them (vLLM 0.33.0 `_get_backend_priorities`, latent part).

    TOKENSPEED_MLA, whose package is not part of an installation, and FLASHINFER_MLA_SPARSE_SM90, which needs a newer
    FlashInfer than the release's own check finds, never win and are left out; so are kernels of other GPUs.
    """
    if query.major == BLACKWELL:
        return (FLASHINFER_MLA, CUTLASS_MLA, TRITON_MLA, *_blackwell_sparse(query))
    if query.major == BLACKWELL_WORKSTATION:
        return (TRITON_MLA, FLASHINFER_MLA_SPARSE_SM120)
    return (FLASH_ATTN_MLA, FLASHMLA, TRITON_MLA, FLASH_ATTN_MLA_SPARSE, FLASHMLA_SPARSE)


def _blackwell_sparse(query: LayerQuery) -> tuple[Backend, ...]:
    if query.is_quantized:
        return (FLASHINFER_MLA_SPARSE, FLASHMLA_SPARSE)
    if query.num_heads is not None and query.num_heads <= 16:
        return (FLASH_ATTN_MLA_SPARSE_FA4, FLASHINFER_MLA_SPARSE, FLASHMLA_SPARSE)
    return (FLASHMLA_SPARSE, FLASHINFER_MLA_SPARSE)


LATENT_BACKENDS = (
    FLASH_ATTN_MLA, TRITON_MLA, FLASHMLA, FLASHINFER_MLA, CUTLASS_MLA, FLASH_ATTN_MLA_SPARSE, FLASHMLA_SPARSE,
    FLASHINFER_MLA_SPARSE, FLASH_ATTN_MLA_SPARSE_FA4, FLASHINFER_MLA_SPARSE_SM120,
)  # fmt: skip
"""Every latent backend by itself, for ``attention_backend``."""
