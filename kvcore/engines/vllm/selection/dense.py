"""Backends for keys and values (vLLM 0.33.0 `v1/attention/backends`)."""

import dataclasses

from kvcore.catalog.gpus import ADA, AMPERE, BLACKWELL, BLACKWELL_THOR, BLACKWELL_WORKSTATION, HOPPER, TURING
from kvcore.engines.vllm.selection.backend import BLHNC, LBHNC, LBNHC, PLAIN, Backend
from kvcore.engines.vllm.selection.query import ENCODER_DECODER, ENCODER_ONLY, LayerQuery

FP8 = ("fp8", "fp8_e4m3")
PER_TOKEN_HEAD = ("int4_per_token_head", "int8_per_token_head", "fp8_per_token_head")
TURBOQUANT_DTYPES = ("turboquant_k8v4", "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_3bit_nc")
NVFP4 = ("nvfp4", "nvfp4_4over6")
ANY_DTYPE: frozenset[str] = frozenset()

FROM_AMPERE = (AMPERE, HOPPER, BLACKWELL, BLACKWELL_THOR, BLACKWELL_WORKSTATION)
FA4_MAJORS = (HOPPER, BLACKWELL, BLACKWELL_THOR)
FA3_LARGEST_HEAD, FA4_LARGEST_HEAD = 256, 512
FA4_BLACKWELL_HEAD = 128
HD256, HD256_PAGE = 256, 128
LARGE_PAGES = (16, 32, 64, 128, 256, 512, 1024)


def flash_attention_version(query: LayerQuery) -> int:
    """FlashAttention release that runs a layer (vLLM 0.33.0 `get_flash_attn_version`)."""
    if query.major == HOPPER:
        return 4 if query.head_size > FA3_LARGEST_HEAD else 3
    if query.major != BLACKWELL:
        return 2
    if query.head_size == HD256:
        return 2 if _hd256_falls_back(query) else 4
    return 4 if query.head_size <= FA4_BLACKWELL_HEAD else 2


def _hd256_falls_back(query: LayerQuery) -> bool:
    """Whether the Blackwell kernel for head size 256 does not take the layer (`_fa4_hd256_fallback_reason`)."""
    return (
        query.has_sink
        or query.soft_capping
        or query.is_quantized
        or query.use_mm_prefix
        or query.decode_context_parallel_size > 1
        or (query.block_size is not None and query.block_size % HD256_PAGE != 0)
    )


def _flash_attn(query: LayerQuery) -> str | None:
    largest = FA4_LARGEST_HEAD if query.major in FA4_MAJORS else FA3_LARGEST_HEAD
    if query.head_size % 8 or query.head_size > largest:
        return f"head size {query.head_size} is not a multiple of 8 up to {largest}"
    version = flash_attention_version(query)
    if query.use_mm_prefix and version != 4:
        return "image tokens that attend in both directions need FlashAttention 4"
    if query.use_mm_prefix and query.is_quantized and query.major == HOPPER:
        return "image tokens that attend in both directions need an unquantized cache on Hopper"
    if query.is_quantized and not _takes_fp8(query, version):
        return "an fp8 cache needs FlashAttention 3 on Hopper or 4 on Blackwell"
    return None


def _takes_fp8(query: LayerQuery, version: int) -> bool:
    if query.major == HOPPER:
        return version == 3 or query.head_size == FA4_LARGEST_HEAD
    return query.major == BLACKWELL and version == 4


def _flashinfer(query: LayerQuery) -> str | None:
    if query.kv_cache_dtype not in NVFP4 or query.major == BLACKWELL:
        return None
    if query.kv_cache_dtype == "nvfp4_4over6":
        return "nvfp4_4over6 runs on compute capability 10.x only"
    if query.head_size == 64:
        return "an nvfp4 cache at head size 64 is not read correctly on this GPU"
    return "attention sinks cannot read an nvfp4 cache on this GPU" if query.has_sink else None


def _triton(query: LayerQuery) -> str | None:
    if query.kv_cache_dtype.startswith("fp8") and query.capability < ADA:
        return "an fp8 cache needs compute capability 8.9"
    return None if query.head_size >= 32 else f"head size {query.head_size} is below 32"


ALL_ATTENTION = (ENCODER_ONLY, ENCODER_DECODER)

FLASH_ATTN = Backend(
    name="FLASH_ATTN", multiple_of=16, kv_cache_dtypes=(*PLAIN, *FP8), majors=FROM_AMPERE,
    sink_majors=(HOPPER, BLACKWELL), supports_mm_prefix=True, supports_dcp=True, attn_types=ALL_ATTENTION,
    refuses=_flash_attn,
)  # fmt: skip
FLASH_ATTN_DIFFKV = dataclasses.replace(FLASH_ATTN, name="FLASH_ATTN_DIFFKV")
FLASHINFER = Backend(
    name="FLASHINFER", block_sizes=(16, 32, 64), kv_cache_dtypes=(*PLAIN, *FP8, "fp8_e5m2", *NVFP4),
    head_sizes=(64, 128, 256, 512), majors=FROM_AMPERE, sink_majors=(HOPPER, BLACKWELL, BLACKWELL_WORKSTATION), supports_dcp=True,
    refuses=_flashinfer,
)  # fmt: skip
TRITON_ATTN = Backend(
    name="TRITON_ATTN", multiple_of=16, dtypes=frozenset({"float16", "bfloat16", "float32"}),
    kv_cache_dtypes=(*PLAIN, *FP8, "fp8_e5m2", *PER_TOKEN_HEAD), sink_majors=(TURING, *FROM_AMPERE),
    supports_mm_prefix=True, attn_types=ALL_ATTENTION, refuses=_triton,
)  # fmt: skip
TRITON_ATTN_DIFFKV = dataclasses.replace(
    TRITON_ATTN, name="TRITON_ATTN_DIFFKV", kv_cache_dtypes=("auto", "bfloat16", *FP8), attn_types=()
)
FLEX_ATTENTION = Backend(
    name="FLEX_ATTENTION", multiple_of=16, dtypes=frozenset({"float16", "bfloat16", "float32"}),
    kv_cache_layouts=(LBNHC,), supports_mm_prefix=True, attn_types=(ENCODER_ONLY,),
)  # fmt: skip
TURBOQUANT = Backend(
    name="TURBOQUANT", block_sizes=(16, 32, 64, 128), kv_cache_dtypes=TURBOQUANT_DTYPES, kv_cache_layouts=(LBNHC,)
)
TRITON_FLASH_ATTN = dataclasses.replace(
    FLASH_ATTN, name="TRITON_FLASH_ATTN", head_sizes=(256, 512), majors=(HOPPER,), supports_dcp=False,
    refuses=lambda query: _flash_attn(dataclasses.replace(query, use_mm_prefix=False)),
)  # fmt: skip
TRITON_FLASHINFER = dataclasses.replace(
    FLASHINFER, name="TRITON_FLASHINFER", block_sizes=(64,), kv_cache_dtypes=(*PLAIN, *FP8, "fp8_e5m2"),
    head_sizes=(256, 512), majors=(BLACKWELL,), supports_mm_prefix=True, supports_dcp=False,
)  # fmt: skip

UNEQUAL_BACKENDS = (FLASH_ATTN_DIFFKV, TRITON_ATTN_DIFFKV)
"""Backends for keys and values of different sizes, which other layers take too where they are asked for."""

DENSE_BACKENDS = (
    FLASH_ATTN, FLASHINFER, TRITON_ATTN, FLEX_ATTENTION, TURBOQUANT, TRITON_FLASH_ATTN, TRITON_FLASHINFER, *UNEQUAL_BACKENDS,
)  # fmt: skip
"""Every backend for keys and values by itself, for ``attention_backend``."""


def dense_priorities(query: LayerQuery) -> tuple[Backend, ...]:
    """Backends in the order vLLM tries them (vLLM 0.33.0 `_get_backend_priorities`, part without latents)."""
    if query.major == BLACKWELL:
        first = (TRITON_FLASHINFER,) if query.use_mm_prefix else ()
        return (*first, FLASHINFER, FLASH_ATTN, TRITON_ATTN, FLEX_ATTENTION, TURBOQUANT)
    first = (TRITON_FLASH_ATTN,) if query.major == HOPPER and query.use_mm_prefix else ()
    return (*first, FLASH_ATTN, FLASHINFER, TRITON_ATTN, FLEX_ATTENTION, TURBOQUANT)


def on_this_gpu(backend: Backend, query: LayerQuery) -> Backend:
    """The backend with the block sizes and layouts its kernels take on the query's GPU and model."""
    if backend.name in {"FLASHINFER", "TRITON_FLASHINFER"} and query.major == BLACKWELL:
        sizes = backend.block_sizes
        if backend.name == "FLASHINFER" and _shares_heads(query):
            sizes = LARGE_PAGES
        return dataclasses.replace(backend, block_sizes=sizes, kv_cache_layouts=(LBHNC, BLHNC))
    if backend.name not in {"FLASH_ATTN", "FLASH_ATTN_DIFFKV", "TRITON_FLASH_ATTN"}:
        return backend
    head_size = query.model_head_size or query.head_size
    fp8 = query.kv_cache_dtype in FP8
    if query.major == HOPPER and fp8 and head_size == FA4_LARGEST_HEAD:
        return dataclasses.replace(backend, multiple_of=None, block_sizes=(64,))
    if query.major in {BLACKWELL, BLACKWELL_THOR} and head_size == HD256 and flash_attention_version(query) == 4:
        return dataclasses.replace(backend, multiple_of=None, block_sizes=(HD256_PAGE,))
    return backend


def _shares_heads(query: LayerQuery) -> bool:
    """Whether several query heads share a KV head on a rank, which lets FlashInfer take large pages."""
    heads, kv_heads = query.num_heads, query.num_kv_heads
    return bool(heads and kv_heads) and heads // kv_heads > 1 and heads % kv_heads == 0  # type: ignore[operator]
