"""DeepSeek V4's caches as vLLM stores them: packed entries in pages of a fixed alignment, whole on every rank."""

from dataclasses import dataclass

from kvcore.catalog.gpus import BLACKWELL, BLACKWELL_WORKSTATION, HOPPER
from kvcore.dtypes import is_fp8
from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.specs import MLAAttentionSpec, SlidingWindowMLASpec
from kvcore.engines.vllm.store.indexer import stored_index_keys
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.errors import refusal
from kvcore.layout.compressed import (
    CompressedIndexerCache,
    CompressedLatentCache,
    CompressorStateCache,
    WindowLatentCache,
)

NOPE_BYTES, ROPE_ELEMENTS, ROPE_BYTES, SCALES_BYTES = 448, 64, 2, 8
PACKED_ENTRY = NOPE_BYTES + ROPE_ELEMENTS * ROPE_BYTES + SCALES_BYTES
"""8-bit elements without position, rotary elements of 16 bits, and scales (vLLM 0.33.0 `DeepseekV4Attention`)."""

PACKED_ALIGNMENT, ROW_ALIGNMENT = 576, 512
"""Bytes to which pages are rounded up: packed entries, or plain rows (vLLM 0.33.0 `_apply_alignment_padding`)."""

WINDOW_BLOCK = 64
"""Tokens of a block of window latents (vLLM 0.33.0 `DeepseekV4SWACache`)."""

STATE_BLOCKS = {4: 4, 128: 8}
"""Tokens of a block of compressor states, by ratio (vLLM 0.33.0 `CompressorStateCache`)."""

FLOAT32_BYTES = 4

SPARSE_SWA = Backend(name="DEEPSEEK_SPARSE_SWA", multiple_of=32, plans_any_block=True)
V4_INDEXER = Backend(
    name="DEEPSEEK_V4_INDEXER", block_sizes=(256,), kv_cache_layouts=("BLHNC", "BLNHC"), plans_any_block=True
)
COMPRESSOR = Backend(name="CompressorBackend", multiple_of=1)
FLASHMLA_SPARSE_DSV4 = Backend(name="FLASHMLA_SPARSE_DSV4", block_sizes=(256,), plans_any_block=True)
FLASHINFER_MLA_SPARSE_DSV4 = Backend(name="FLASHINFER_MLA_SPARSE_DSV4", block_sizes=(256,), plans_any_block=True)


@dataclass(frozen=True, kw_only=True)
class RowFormat:
    """How one latent is stored.

    Attributes:
        backend: Backend of compressed latents.
        kv_cache_dtype: Resolved cache dtype.
        dtype: Element type, and ``dtype_bytes`` its size.
        entry_bytes: Bytes of a packed entry; None: plain elements.
        alignment: Bytes to which pages are rounded up.
    """

    backend: Backend
    kv_cache_dtype: str
    dtype: str
    dtype_bytes: int
    entry_bytes: int | None
    alignment: int


def row_format(context: StoreContext) -> RowFormat:
    """The format of the latents on this GPU (vLLM 0.33.0 `_select_dsv4_attn_cls`, `_resolve_dsv4_kv_cache_dtype`).

    Raises:
        EngineRefusal: The GPU, the backend asked for, or the cache dtype has no kernels.
    """
    backend = _backend(context)
    plain_rows = backend is FLASHINFER_MLA_SPARSE_DSV4 and context.gpu.capability[0] == BLACKWELL
    given = context.kv_cache_dtype
    if plain_rows:
        if is_fp8(given):
            return RowFormat(
                backend=backend, kv_cache_dtype=given, dtype="fp8_e4m3", dtype_bytes=1, entry_bytes=None,
                alignment=ROW_ALIGNMENT,
            )  # fmt: skip
        if given in {"auto", "bfloat16"}:
            return RowFormat(
                backend=backend, kv_cache_dtype=given, dtype="bfloat16", dtype_bytes=2, entry_bytes=None,
                alignment=ROW_ALIGNMENT,
            )  # fmt: skip
    elif given == "auto" or given.startswith("fp8"):
        return RowFormat(
            backend=backend, kv_cache_dtype="fp8_ds_mla", dtype="uint8", dtype_bytes=1, entry_bytes=PACKED_ENTRY,
            alignment=PACKED_ALIGNMENT,
        )  # fmt: skip
    rule = f"vLLM's {backend.name} does not store DeepSeek V4's latents in this format"
    raise refusal("kv_cache_dtype", given, rule, "Use auto or fp8.")


def _backend(context: StoreContext) -> Backend:
    major = context.gpu.capability[0]
    name = context.attention_backend.upper() if context.attention_backend else None
    if name is None:
        name = "FLASHINFER_MLA_SPARSE_DSV4" if major == BLACKWELL_WORKSTATION else "FLASHMLA_SPARSE_DSV4"
    if name in {"FLASHMLA_SPARSE", "FLASHMLA_SPARSE_DSV4"} and major in {HOPPER, BLACKWELL}:
        return FLASHMLA_SPARSE_DSV4
    if name == "FLASHINFER_MLA_SPARSE_DSV4" and major in {BLACKWELL, BLACKWELL_WORKSTATION}:
        return FLASHINFER_MLA_SPARSE_DSV4
    if context.attention_backend is not None:
        rule = "this is no backend vLLM runs DeepSeek V4's attention on with this GPU"
        raise refusal("attention_backend", context.attention_backend, rule, "Leave attention_backend out.")
    rule = "vLLM has kernels for DeepSeek V4 on compute capability 9.x, 10.x and 12.x only"
    raise refusal("gpu", context.gpu.name, rule, "Choose a Hopper or Blackwell GPU.")


def store_window_latent(cache: WindowLatentCache, context: StoreContext) -> Stored:
    """Stores the window of whole latents (vLLM 0.33.0 `DeepseekV4SWACache`)."""
    row = row_format(context)
    spec = SlidingWindowMLASpec(
        block_size=WINDOW_BLOCK,
        num_kv_heads=1,
        head_size=cache.head_dim,
        head_size_v=0,
        dtype=row.dtype,
        dtype_bytes=row.dtype_bytes,
        cache_dtype=row.kv_cache_dtype,
        state_content_bytes=row.entry_bytes,
        page_alignment=row.alignment,
        sliding_window=cache.sliding_window,
        model_version="deepseek_v4",
    )
    return _stored(spec, SPARSE_SWA, row, cache.head_dim, "vLLM 0.33.0 `DeepseekV4SWACache`")


def store_compressed_latent(cache: CompressedLatentCache, context: StoreContext) -> Stored:
    """Stores one latent per ``compress_ratio`` tokens (vLLM 0.33.0 `DeepseekV4Attention.get_kv_cache_spec`).

    Raises:
        EngineRefusal: A block holds no latent: the engine divides by the zero bytes of its page.
    """
    if context.given_block_size is not None and context.given_block_size < cache.compress_ratio:
        rule = f"a block must hold one latent of DeepSeek V4 at least, and one stands for {cache.compress_ratio} tokens"
        raise refusal("block_size", context.given_block_size, rule, "Leave block_size out.")
    row = row_format(context)
    spec = MLAAttentionSpec(
        block_size=context.block_size,
        num_kv_heads=1,
        head_size=cache.head_dim,
        head_size_v=0,
        dtype=row.dtype,
        dtype_bytes=row.dtype_bytes,
        cache_dtype=row.kv_cache_dtype,
        state_content_bytes=row.entry_bytes,
        page_alignment=row.alignment,
        tokens_per_state=cache.compress_ratio,
        stride_multiple=row.backend.stride_multiple,
        model_version="deepseek_v4",
    )
    return _stored(spec, row.backend, row, cache.head_dim, "vLLM 0.33.0 `DeepseekV4Attention.get_kv_cache_spec`")


def store_compressed_indexer(cache: CompressedIndexerCache, context: StoreContext) -> Stored:
    """Stores one indexer key per compressed latent (vLLM 0.33.0 `DeepseekV4IndexerCache`)."""
    source, alignment = "vLLM 0.33.0 `DeepseekV4IndexerCache`", row_format(context).alignment
    return stored_index_keys(cache, V4_INDEXER, context, source, page_alignment=alignment)


def store_compressor_state(cache: CompressorStateCache, context: StoreContext) -> Stored:
    """Stores tokens still to be compressed as 32-bit floats (vLLM 0.33.0 `CompressorStateCache`)."""
    spec = SlidingWindowMLASpec(
        block_size=STATE_BLOCKS[cache.compress_ratio],
        num_kv_heads=1,
        head_size=cache.state_dim,
        head_size_v=0,
        dtype="float32",
        dtype_bytes=FLOAT32_BYTES,
        page_alignment=row_format(context).alignment,
        sliding_window=cache.window or 0,
    )
    return Stored(
        spec=spec,
        backend=COMPRESSOR,
        dtype="float32",
        split="whole",
        shards=1,
        formula="(inputs + scores) of all entries a token takes part in × bytes per element",
        substituted=f"{cache.state_dim} × {FLOAT32_BYTES}",
        source="vLLM 0.33.0 `CompressorStateCache`",
    )


def _stored(
    spec: SlidingWindowMLASpec | MLAAttentionSpec, backend: Backend, row: RowFormat, head_dim: int, source: str
) -> Stored:
    packed = row.entry_bytes is not None
    return Stored(
        spec=spec,
        backend=backend,
        dtype=row.kv_cache_dtype if packed else row.dtype,
        split="whole",
        shards=1,
        formula=f"{NOPE_BYTES} × 1 byte + {ROPE_ELEMENTS} rotary elements × {ROPE_BYTES} bytes + {SCALES_BYTES} bytes of scales"
        if packed
        else "head_dim × bytes per element",
        substituted=f"{NOPE_BYTES} + {ROPE_ELEMENTS * ROPE_BYTES} + {SCALES_BYTES}"
        if packed
        else f"{head_dim} × {row.dtype_bytes}",
        source=source,
    )
