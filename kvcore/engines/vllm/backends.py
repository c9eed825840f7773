"""Attention backends: which one vLLM picks and what it asks of blocks, as data.

A backend matters to capacity through the block sizes its kernels accept, the tensor layout it declares and the
alignment of block strides. Source: vLLM 0.33.0 `platforms/cuda.py` and `v1/attention/backends/*`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kvcore.catalog.gpus import Gpu
from kvcore.dtypes import is_fp8
from kvcore.errors import refusal

DEFAULT_BLOCK_SIZE = 16
"""vLLM 0.33.0 `CacheConfig.DEFAULT_BLOCK_SIZE`."""

HOPPER = (9, 0)
BLACKWELL = (10, 0)


@dataclass(frozen=True, kw_only=True)
class Backend:
    """One attention backend.

    Attributes:
        name: vLLM's name.
        multiple_of: Kernels accept any multiple of this many tokens; None: only ``block_sizes``.
        block_sizes: Tokens per block the kernels accept, where they take a fixed list.
        stride_multiple: Tokens to whose page block strides are aligned; None: no alignment.
        block_outermost: Whether the backend declares only layouts with blocks outermost.
        kv_cache_layout: Layout the backend declares; empty: the engine's default LBNHC.
    """

    name: str
    multiple_of: int | None = None
    block_sizes: tuple[int, ...] = ()
    stride_multiple: int | None = None
    block_outermost: bool = False
    kv_cache_layout: str = ""

    @property
    def smallest_block(self) -> int:
        """Smallest number of tokens per kernel block."""
        return self.multiple_of if self.multiple_of is not None else min(self.block_sizes)

    def accepts(self, block_size: int) -> bool:
        """Whether the kernels can work on blocks of this many tokens."""
        if self.multiple_of is not None:
            return block_size % self.multiple_of == 0
        return any(block_size % size == 0 for size in self.block_sizes)


FLASH_ATTN = Backend(name="FLASH_ATTN", multiple_of=16)
FLASH_ATTN_DIFFKV = Backend(name="FLASH_ATTN_DIFFKV", multiple_of=16)
TRITON_ATTN = Backend(name="TRITON_ATTN", multiple_of=16)
FLASHINFER = Backend(name="FLASHINFER", block_sizes=(16, 32, 64))
FLASHINFER_BLACKWELL = Backend(
    name="FLASHINFER", block_sizes=(16, 32, 64), stride_multiple=1024, kv_cache_layout="LBHNC"
)
FLASH_ATTN_MLA = Backend(name="FLASH_ATTN_MLA", multiple_of=16)
TRITON_MLA = Backend(name="TRITON_MLA", multiple_of=16)
FLASHMLA = Backend(name="FLASHMLA", block_sizes=(64,))
FLASHINFER_MLA = Backend(name="FLASHINFER_MLA", block_sizes=(32, 64), kv_cache_layout="LBHNC")


def attention_backend(gpu: Gpu, kv_cache_dtype: str, *, head_size: int, head_size_v: int) -> Backend:
    """The backend for keys and values of full-attention and window layers."""
    if head_size != head_size_v:
        return FLASH_ATTN_DIFFKV
    if kv_cache_dtype.endswith("_per_token_head"):
        return TRITON_ATTN
    if gpu.capability[0] == BLACKWELL[0]:
        return FLASHINFER_BLACKWELL
    if is_fp8(kv_cache_dtype) and gpu.capability < HOPPER:
        return FLASHINFER
    return FLASH_ATTN


def latent_backend(gpu: Gpu, kv_cache_dtype: str) -> Backend:
    """The backend for dense multi-head latent attention."""
    if gpu.capability[0] == BLACKWELL[0]:
        return FLASHINFER_MLA
    if gpu.capability == HOPPER:
        return FLASHMLA if is_fp8(kv_cache_dtype) else FLASH_ATTN_MLA
    return TRITON_MLA


def block_size_in_force(backends: Sequence[Backend], given: int | None) -> int:
    """Tokens per block before hybrid alignment: the given size, or the smallest one every backend takes.

    Sizes of at least 16 are tried in order (vLLM 0.33.0 `Platform.update_block_size_for_backend`).

    Raises:
        EngineRefusal: A backend cannot work on blocks of the given size.
    """
    if given is not None:
        for backend in backends:
            if not backend.accepts(given):
                sizes = f"multiples of {backend.smallest_block}"
                rule = f"the attention backend {backend.name} accepts {sizes} only"
                raise refusal("block_size", given, rule, f"Use one of the {sizes}.")
        return given
    size = DEFAULT_BLOCK_SIZE
    while not all(backend.accepts(size) for backend in backends):
        size *= 2
    return size
