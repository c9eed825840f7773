"""Backend: what one attention backend accepts and what it asks of cache blocks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kvcore.engines.vllm.selection.query import DECODER, LayerQuery

DEFAULT_BLOCK_SIZE = 16
"""vLLM 0.33.0 `CacheConfig.DEFAULT_BLOCK_SIZE`."""

HALF_DTYPES = frozenset({"float16", "bfloat16"})
PLAIN = ("auto", "float16", "bfloat16")

LBNHC, LBHNC, BLHNC = "LBNHC", "LBHNC", "BLHNC"


def _no_reason(_query: LayerQuery) -> str | None:
    return None


@dataclass(frozen=True, kw_only=True)
class Backend:
    """One attention backend of vLLM 0.33.0 (`v1/attention/backends`).

    Attributes:
        name: vLLM's name.
        multiple_of: Kernels accept any multiple of this many tokens; None: only ``block_sizes``.
        block_sizes: Tokens per block the kernels accept, where they take a fixed list.
        row_pages: Sparse kernels read the cache as pages of this many entries, to which block strides are aligned;
            None: no such alignment.
        kv_cache_layouts: Tensor layouts the kernels take, best first; empty: any.
        dtypes: Model dtypes the kernels take; empty: any.
        kv_cache_dtypes: Cache dtypes the kernels take; empty: any.
        head_sizes: Head sizes the kernels take; empty: any.
        majors: Major compute capabilities the kernels run on; empty: any.
        is_mla: For latents.
        is_sparse: For layers an indexer chooses tokens for.
        supports_mm_prefix: Takes image tokens that attend in both directions.
        supports_dcp: Takes decode context parallelism.
        attn_types: Attention types besides decoders.
        sink_majors: Major compute capabilities on which attention sinks work.
        plans_any_block: Named by the layer's class and not selected, so that the engine plans with a given block size the
            kernels cannot take; its workers then find none in common (vLLM 0.33.0 `select_common_block_size`).
        plans_any_sharing: Named by the layer's class too, so that the engine plans with decode context parallelism its
            kernels cannot do; its workers then refuse it (vLLM 0.33.0 `check_attention_cp_compatibility`).
        refuses: Any further reason not to run a layer, None where there is none.
    """

    name: str
    multiple_of: int | None = None
    block_sizes: tuple[int, ...] = ()
    row_pages: int | None = None
    kv_cache_layouts: tuple[str, ...] = ()
    dtypes: frozenset[str] = HALF_DTYPES
    kv_cache_dtypes: tuple[str, ...] = PLAIN
    head_sizes: tuple[int, ...] = ()
    majors: tuple[int, ...] = ()
    is_mla: bool = False
    is_sparse: bool = False
    supports_mm_prefix: bool = False
    supports_dcp: bool = False
    attn_types: tuple[str, ...] = ()
    sink_majors: tuple[int, ...] = ()
    plans_any_block: bool = False
    plans_any_sharing: bool = False
    refuses: Callable[[LayerQuery], str | None] = field(default=_no_reason, compare=False, repr=False)

    @property
    def smallest_block(self) -> int:
        """Smallest number of tokens per kernel block."""
        return self.multiple_of if self.multiple_of is not None else min(self.block_sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Kernel block sizes of which a block may be a multiple."""
        return self.block_sizes if self.multiple_of is None else (self.multiple_of,)

    @property
    def stride_multiple(self) -> int | None:
        """Tokens of the largest kernel block where the kernels take a fixed list (vLLM `customize_attention_spec`)."""
        return None if self.multiple_of is not None else max(self.block_sizes)

    @property
    def kv_cache_layout(self) -> str:
        """The layout the backend likes best; empty: any."""
        return self.kv_cache_layouts[0] if self.kv_cache_layouts else ""

    def accepts(self, block_size: int) -> bool:
        """Whether the kernels can work on blocks of this many tokens (vLLM `supports_block_size`)."""
        return any(block_size % size == 0 for size in self.sizes)

    def reasons_against(self, query: LayerQuery) -> Iterator[str]:
        """Why the backend cannot run a layer; nothing where it can (vLLM `validate_configuration`)."""
        if self.head_sizes and query.head_size not in self.head_sizes:
            yield f"head size {query.head_size} is not supported"
        if self.dtypes and query.dtype not in self.dtypes:
            yield f"model dtype {query.dtype} is not supported"
        if self.kv_cache_dtypes and query.kv_cache_dtype not in self.kv_cache_dtypes:
            yield f"kv_cache_dtype {query.kv_cache_dtype} is not supported"
        if query.block_size is not None and not self.accepts(query.block_size):
            yield f"block_size {query.block_size} is not supported"
        if query.use_mm_prefix and not self.supports_mm_prefix:
            yield "image tokens that attend in both directions are not supported"
        if query.use_mla != self.is_mla:
            yield "latents are not supported" if query.use_mla else "only latents are supported"
        if query.use_sparse != self.is_sparse:
            yield "sparse attention is not supported" if query.use_sparse else "only sparse attention is supported"
        if query.has_sink and query.major not in self.sink_majors:
            yield "attention sinks are not supported on this GPU"
        if self.majors and query.major not in self.majors:
            yield f"compute capability {query.major}.{query.capability[1]} is not supported"
        if query.attn_type != DECODER and query.attn_type not in self.attn_types:
            yield f"attention type {query.attn_type} is not supported"
        if query.decode_context_parallel_size > 1 and not self.supports_dcp:
            yield "decode context parallelism is not supported"
        further = self.refuses(query)
        if further is not None:
            yield further
