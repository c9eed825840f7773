"""Layer specs: what vLLM stores for one layer, page by page, and how many blocks one request may hold.

The classes carry the names and fields of vLLM 0.33.0 `v1/kv_cache_interface.py`. All figures are for one GPU.
"""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import ClassVar

from kvcore.arithmetic import cdiv, round_up


@dataclass(frozen=True, kw_only=True)
class ChargeContext:
    """The engine settings that decide how many blocks one request is charged.

    Attributes:
        max_in_flight_tokens: Tokens scheduled but not settled (vLLM `VllmConfig.max_in_flight_tokens`).
        decode_context_parallel_size: Ranks that share a request's tokens.
        max_num_encoder_input_tokens: Encoder tokens cross attention reserves (the scheduler's figure).
        mamba_cache_mode: ``none``, ``align`` or ``all``.
        charged_draft_states: Modes of states whose charge includes one state per speculative token.
    """

    max_in_flight_tokens: int
    decode_context_parallel_size: int = 1
    max_num_encoder_input_tokens: int = 0
    mamba_cache_mode: str = "none"
    charged_draft_states: frozenset[str] = frozenset({"none", "align", "all"})


@dataclass(frozen=True, kw_only=True)
class LayerSpec:
    """What vLLM keeps for one layer.

    Attributes:
        block_size: Tokens per block.
        dcp_sharded: Whether decode context parallelism divides the tokens.
        page_size_padded: Page bytes after padding, where the page is padded.
        stride_multiple: Tokens to whose page the backend aligns a block's stride; None: no alignment
            (vLLM `block_stride_alignment`).
        stride_bytes: Bytes to which the backend aligns a block's stride, where it states bytes.
        is_draft: Layer of a speculative drafter; ignored when specs are compared.
    """

    kind: ClassVar[str]

    block_size: int
    dcp_sharded: bool = True
    page_size_padded: int | None = None
    stride_multiple: int | None = None
    stride_bytes: int | None = None
    is_draft: bool = field(default=False, compare=False)

    @property
    def unpadded_page_size_bytes(self) -> int:
        """Bytes of one block of one layer before padding."""
        raise NotImplementedError

    @property
    def page_size_bytes(self) -> int:
        """Bytes of one block of one layer."""
        return self.unpadded_page_size_bytes if self.page_size_padded is None else self.page_size_padded

    @property
    def block_stride_bytes(self) -> int:
        """Bytes from one block to the next where layers lie outermost (vLLM `_get_layer_block_stride`)."""
        return round_up(self.page_size_bytes, self.stride_alignment)

    @property
    def stride_alignment(self) -> int:
        """Alignment of the block stride in bytes (vLLM `KVCacheSpec.get_block_stride_alignment`)."""
        if self.stride_bytes is not None:
            return self.stride_bytes
        if self.stride_multiple is None:
            return 1
        kernel_block = math.gcd(self.stride_multiple, self.block_size)
        if kernel_block == self.block_size:
            return 1
        return self._page_of_kernel_block(kernel_block)

    def _page_of_kernel_block(self, kernel_block: int) -> int:
        """Bytes of one kernel block; a page that is padded stays as wide (vLLM `copy_with_new_block_size`)."""
        return dataclasses.replace(self, block_size=kernel_block).page_size_bytes

    @property
    def uniform_type(self) -> tuple[object, ...]:
        """Layers whose values are equal may share one group despite different pages (`is_uniform_with_collection`)."""
        raise NotImplementedError

    @property
    def merge_key(self) -> "LayerSpec":
        """The spec with the fields removed that vLLM's ``merge`` tolerates to differ."""
        return self

    def tokens_per_block(self, context: ChargeContext) -> int:
        """Tokens of a request one block stands for, over the ranks that share them (`resolve_dcp_kv_block_size`)."""
        return self.block_size * (context.decode_context_parallel_size if self.dcp_sharded else 1)

    def blocks_per_request(self, max_model_len: int, context: ChargeContext) -> int:
        """Blocks the engine's estimate charges one request of ``max_model_len`` tokens (`max_memory_usage_bytes`)."""
        raise NotImplementedError

    def blocks_held(self, max_model_len: int, context: ChargeContext) -> int:
        """Blocks a running request of ``max_model_len`` tokens holds between steps."""
        return self.blocks_per_request(max_model_len, context)


@dataclass(frozen=True, kw_only=True)
class AttentionSpec(LayerSpec):
    """Entries of fixed size per token, or per ``tokens_per_state`` tokens.

    Attributes:
        num_kv_heads: Key/value heads on this rank.
        head_size: Elements of a key (or of the latent).
        head_size_v: Elements of a value; 0 where one tensor serves both.
        dtype: Stored element type.
        dtype_bytes: Bytes of one stored element.
        state_content_bytes: Bytes of one packed entry of one head slot, where the backend packs.
        num_head_slots: Head slots of a page, where packing differs from one per head.
        tokens_per_state: Tokens one stored entry stands for.
    """

    num_kv_heads: int
    head_size: int
    head_size_v: int
    dtype: str
    dtype_bytes: int
    cache_dtype: str = "auto"
    state_content_bytes: int | None = None
    num_head_slots: int | None = None
    tokens_per_state: int = 1
    page_alignment: int | None = None

    @property
    def entry_bytes(self) -> int:
        """Bytes of one stored entry over all head slots."""
        slots = self.num_kv_heads if self.num_head_slots is None else self.num_head_slots
        if self.state_content_bytes is not None:
            return slots * self.state_content_bytes
        return slots * (self.head_size + self.head_size_v) * self.dtype_bytes

    @property
    def unpadded_page_size_bytes(self) -> int:
        """Entries of one block times their bytes, rounded up to the page alignment where there is one."""
        page = self._bytes_of_entries(self.block_size)
        return page if self.page_alignment is None else round_up(page, self.page_alignment)

    def _bytes_of_entries(self, tokens: int) -> int:
        return tokens // self.tokens_per_state * self.entry_bytes

    def _page_of_kernel_block(self, kernel_block: int) -> int:
        """The block's own page where it is padded and the kernel block needs no rounding (`_apply_alignment_padding`)."""
        entries = self._bytes_of_entries(kernel_block)
        if self.page_alignment is not None and entries % self.page_alignment:
            return round_up(entries, self.page_alignment)
        is_padded = self.page_size_bytes != self._bytes_of_entries(self.block_size)
        return self.page_size_bytes if is_padded else entries


@dataclass(frozen=True, kw_only=True)
class FullAttentionSpec(AttentionSpec):
    """Every token stays."""

    kind: ClassVar[str] = "full_attention"
    sliding_window: int | None = None
    attention_chunk_size: int | None = None

    @property
    def uniform_type(self) -> tuple[object, ...]:
        """Full attention, latent and sink layers are one type."""
        return ("full",)

    @property
    def merge_key(self) -> LayerSpec:
        """A recorded window or chunk does not keep full-attention layers apart."""
        return dataclasses.replace(self, sliding_window=None, attention_chunk_size=None)

    def blocks_per_request(self, max_model_len: int, context: ChargeContext) -> int:
        """Blocks for every token of the request, divided by decode context parallelism."""
        tokens = max_model_len
        if self.dcp_sharded and context.decode_context_parallel_size > 1:
            tokens = cdiv(tokens, context.decode_context_parallel_size)
        return cdiv(tokens, self.block_size)


@dataclass(frozen=True, kw_only=True)
class MLAAttentionSpec(FullAttentionSpec):
    """One latent per token (or per ``tokens_per_state`` tokens), no separate value."""

    kind: ClassVar[str] = "mla_attention"
    model_version: str | None = None
    cache_role: str = "sparse"


@dataclass(frozen=True, kw_only=True)
class SlidingWindowSpec(AttentionSpec):
    """The last ``sliding_window`` tokens stay, and those of steps in flight.

    ``extra_retained_tokens`` are kept for multi-module drafters that prefill again from the end.
    """

    kind: ClassVar[str] = "sliding_window"
    sliding_window: int
    extra_retained_tokens: int = 0

    @property
    def uniform_type(self) -> tuple[object, ...]:
        """Layers of one window are one type."""
        return ("sliding_window", self.sliding_window)

    def blocks_per_request(self, max_model_len: int, context: ChargeContext) -> int:
        """Blocks for the window and the tokens in flight, plus one since a window need not start on a block edge."""
        retained = self.sliding_window - 1 + self.extra_retained_tokens
        return cdiv(min(retained + context.max_in_flight_tokens, max_model_len), self.block_size) + 1


@dataclass(frozen=True, kw_only=True)
class SlidingWindowMLASpec(SlidingWindowSpec):
    """A sliding window over latents or compressor states."""

    kind: ClassVar[str] = "sliding_window_mla"
    model_version: str | None = None

    @property
    def uniform_type(self) -> tuple[object, ...]:
        """Latent windows do not mix with plain ones."""
        return ("sliding_window_mla", self.sliding_window)


@dataclass(frozen=True, kw_only=True)
class ChunkedLocalAttentionSpec(AttentionSpec):
    """The current chunk stays, and the tokens of steps in flight."""

    kind: ClassVar[str] = "chunked_local_attention"
    attention_chunk_size: int

    @property
    def uniform_type(self) -> tuple[object, ...]:
        """Layers of one chunk size are one type."""
        return ("chunked_local", self.attention_chunk_size)

    def blocks_per_request(self, max_model_len: int, context: ChargeContext) -> int:
        """Blocks for the chunk and the tokens in flight; a chunk starts on a block edge."""
        return cdiv(min(self.attention_chunk_size + context.max_in_flight_tokens, max_model_len), self.block_size)


@dataclass(frozen=True, kw_only=True)
class CrossAttentionSpec(AttentionSpec):
    """Keys and values of the encoder's output."""

    kind: ClassVar[str] = "cross_attention"

    @property
    def uniform_type(self) -> tuple[object, ...]:
        """Cross attention is a type of its own."""
        return ("cross",)

    def blocks_per_request(self, max_model_len: int, context: ChargeContext) -> int:
        """Blocks for the encoder tokens the scheduler reserves, whatever the request's length."""
        return cdiv(context.max_num_encoder_input_tokens, self.block_size)


@dataclass(frozen=True, kw_only=True)
class CircularBufferSpec(AttentionSpec):
    """A ring of raw keys still to be compressed: one block per request."""

    kind: ClassVar[str] = "circular_buffer"

    @property
    def uniform_type(self) -> tuple[object, ...]:
        """Rings are one type."""
        return ("circular",)

    def blocks_per_request(self, max_model_len: int, context: ChargeContext) -> int:
        """One block for the request's whole life."""
        return 1


@dataclass(frozen=True, kw_only=True)
class MambaSpec(LayerSpec):
    """A state of fixed size per request.

    Attributes:
        shapes: Shapes of the state's tensors on this rank.
        dtypes: Their element types, and ``dtype_bytes`` their sizes.
        num_speculative_blocks: Copies of the state for speculative tokens.
        num_prefill_checkpoint_blocks: 1 where the prefill kernel exports an intermediate state.
    """

    kind: ClassVar[str] = "mamba"
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    dtype_bytes: tuple[int, ...]
    mamba_type: str
    num_speculative_blocks: int = 0
    num_prefill_checkpoint_blocks: int = 0

    @property
    def unpadded_page_size_bytes(self) -> int:
        """Bytes of the state."""
        return sum(math.prod(shape) * size for shape, size in zip(self.shapes, self.dtype_bytes, strict=True))

    @property
    def uniform_type(self) -> tuple[object, ...]:
        """States of one page size and one number of copies are one type."""
        copies = (self.num_speculative_blocks, self.num_prefill_checkpoint_blocks)
        return ("mamba", *copies, self.page_size_bytes)

    def blocks_per_request(self, max_model_len: int, context: ChargeContext) -> int:
        """The state and its copies.

        Mode ``align`` adds the previous step's state and the checkpoint; mode ``all`` keeps a state per block.
        """
        drafts = self.draft_states(context)
        if context.mamba_cache_mode == "align":
            return 2 + drafts + self.num_prefill_checkpoint_blocks
        return self._kept_states(max_model_len, context) + drafts

    def blocks_held(self, max_model_len: int, context: ChargeContext) -> int:
        """The states kept and one copy per speculative token: the align copy is freed after the step."""
        return self._kept_states(max_model_len, context) + self.num_speculative_blocks

    def draft_states(self, context: ChargeContext) -> int:
        """States for speculative tokens the estimate charges."""
        return self.num_speculative_blocks if context.mamba_cache_mode in context.charged_draft_states else 0

    def _kept_states(self, max_model_len: int, context: ChargeContext) -> int:
        return cdiv(max_model_len, self.block_size) if context.mamba_cache_mode == "all" else 1
