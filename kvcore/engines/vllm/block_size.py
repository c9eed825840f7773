"""Block size of hybrids: raised until one attention page holds one state.

Source: vLLM 0.33.0 `Platform._align_hybrid_block_size`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kvcore.arithmetic import cdiv, round_up
from kvcore.catalog.gpus import BLACKWELL
from kvcore.engines.vllm.profile import HybridGranularity, Profile
from kvcore.engines.vllm.selection import DEFAULT_BLOCK_SIZE
from kvcore.engines.vllm.specs import AttentionSpec, FullAttentionSpec, MambaSpec, MLAAttentionSpec
from kvcore.engines.vllm.store.stored import StoreContext, Stored
from kvcore.report.report import Step

MLA_BLOCK_MULTIPLE = 128
"""Latent decode kernels need block tables that are a multiple of 128 tokens in hybrids."""

LATENT_BLOCK, CUTLASS_LATENT_BLOCK = 64, 128
BLACKWELL_WIDE_HEAD, BLACKWELL_WIDE_BLOCK = 256, 32
"""Values of vLLM 0.16.0 `HybridAttentionMambaModelConfig.verify_and_update_config`."""


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Block size in force and the padding of states.

    Attributes:
        block_size: Tokens per block.
        state_block_size: Tokens per block of states where a state is kept for every block; None: as attention's.
        state_page_size_padded: Page bytes states are padded to; None: no padding.
        padding_percent: Padding in percent of the state as the engine logs it; None where nothing is padded.
        granularity: Multiple of tokens the block size was raised in; None where there are no states beside attention.
        state_bytes: Bytes of the state one page must hold.
        token_bytes: Bytes of one token in one attention layer.
    """

    block_size: int
    state_block_size: int | None = None
    state_page_size_padded: int | None = None
    padding_percent: float | None = None
    granularity: int | None = None
    state_bytes: int = 0
    token_bytes: int = 0


def align_block_size(stored: Sequence[Stored], context: StoreContext) -> Alignment:
    """Raises the block size of hybrids to the state page; other layouts keep the backends' size.

    Args:
        stored: Every part as stored at the block size so far.
        context: How the parts are stored; its block size is the backends' own, or the request's.
    """
    states = [item for item in stored if isinstance(item.spec, MambaSpec)]
    attention = _primary_attention(stored, context)
    if not states or attention is None:
        return Alignment(block_size=context.block_size)
    state_bytes = max(item.aligned_state_bytes or item.spec.unpadded_page_size_bytes for item in states)
    token_bytes = _token_bytes(attention)
    granularity = _granularity(stored, states, attention, context)
    raised = granularity * cdiv(state_bytes, granularity * token_bytes)
    if context.mamba_cache_mode == "all":
        granularity = math.lcm(context.mamba_chunk_size, granularity)
        raised = granularity * cdiv(cdiv(state_bytes, token_bytes), granularity)
    if context.profile.every_backend_granularity:
        raised = round_up(raised, math.lcm(*_kernel_blocks(stored)))
    block_size = max(context.block_size, raised)
    page = block_size * token_bytes
    return Alignment(
        block_size=block_size,
        state_block_size=raised if context.mamba_cache_mode == "all" else None,
        state_page_size_padded=None if page == state_bytes else page,
        padding_percent=None if page == state_bytes else 100 * (page - state_bytes) / state_bytes,
        granularity=granularity,
        state_bytes=state_bytes,
        token_bytes=token_bytes,
    )


def _primary_attention(stored: Sequence[Stored], context: StoreContext) -> AttentionSpec | None:
    """The attention layer whose token the engine measures: full attention or the latent, in the request's dtype."""
    specs = [item.spec for item in stored if isinstance(item.spec, AttentionSpec) and item.spec.tokens_per_state == 1]
    full = [spec for spec in specs if isinstance(spec, FullAttentionSpec)]
    in_dtype = [spec for spec in full if spec.cache_dtype == context.kv_cache_dtype]
    return next(iter([*in_dtype, *full, *specs]), None)


def _token_bytes(attention: AttentionSpec) -> int:
    """Bytes of one token; of a latent those of its plain elements, packed or not."""
    if isinstance(attention, MLAAttentionSpec):
        return attention.head_size * attention.dtype_bytes
    return attention.entry_bytes


def _granularity(
    stored: Sequence[Stored], states: Sequence[Stored], attention: AttentionSpec, context: StoreContext
) -> int:
    """Multiple of tokens the block size is raised in: kernel block, latent multiple and checkpoint grain."""
    size = _GRANULARITIES[context.profile.hybrid_granularity](stored, context, attention)
    if context.mamba_cache_mode != "align" or not context.profile.checkpoint_grain:
        return size
    grains = [item.checkpoint_grain for item in states]
    if any(grain is None for grain in grains):  # exported only where every state layer can
        return size
    return math.lcm(size, *(grain for grain in grains if grain is not None))


def _kernel_of_kind(_stored: Sequence[Stored], context: StoreContext, attention: AttentionSpec) -> int:
    """Kernel blocks named in the config's rule, before any model exists (`HybridAttentionMambaModelConfig`)."""
    if isinstance(attention, MLAAttentionSpec):
        return CUTLASS_LATENT_BLOCK if context.attention_backend == "CUTLASS_MLA" else LATENT_BLOCK
    on_flashinfer = context.attention_backend in {None, "FLASHINFER"}
    is_wide = context.model_head_size == BLACKWELL_WIDE_HEAD and context.gpu.capability[0] == BLACKWELL
    return BLACKWELL_WIDE_BLOCK if is_wide and on_flashinfer else DEFAULT_BLOCK_SIZE


def _first_backend(stored: Sequence[Stored], context: StoreContext, _attention: AttentionSpec) -> int:
    """Smallest kernel block of the first attention backend, or the block size so far."""
    return max(_kernel_blocks(stored)[0], context.block_size)


def _first_backend_latent_128(stored: Sequence[Stored], context: StoreContext, attention: AttentionSpec) -> int:
    """The same, of latents at least what their decode kernels need of block tables."""
    size = _first_backend(stored, context, attention)
    return max(size, MLA_BLOCK_MULTIPLE) if isinstance(attention, MLAAttentionSpec) else size


_GRANULARITIES: Mapping[HybridGranularity, Callable[[Sequence[Stored], StoreContext, AttentionSpec], int]] = {
    "kernel_16": lambda _stored, _context, _attention: DEFAULT_BLOCK_SIZE,
    "kernel_of_kind": _kernel_of_kind,
    "first_backend": _first_backend,
    "first_backend_latent_128": _first_backend_latent_128,
}


def _kernel_blocks(stored: Sequence[Stored]) -> list[int]:
    """Smallest kernel block of every attention backend, in layer order."""
    return [item.backend.smallest_block for item in stored if item.backend is not None]


def alignment_steps(alignment: Alignment | None, profile: Profile) -> Iterator[Step]:
    """How the block size came about; nothing for layouts without states beside attention."""
    if alignment is None or alignment.granularity is None:
        return
    in_config = profile.hybrid_granularity in {"kernel_16", "kernel_of_kind"}
    symbol = "HybridAttentionMambaModelConfig" if in_config else "Platform._align_hybrid_block_size"
    source = f"vLLM {profile.version} `{symbol}`"
    granularity, state, token = alignment.granularity, alignment.state_bytes, alignment.token_bytes
    yield Step(
        path="plan.block_size",
        label="Tokens per block: raised until one attention page holds one state",
        formula="granularity × ceil(state bytes / (granularity × bytes of one token in one attention layer))",
        substituted=f"{granularity:,} × ceil({state:,} / ({granularity:,} × {token:,}))",
        result=alignment.block_size,
        unit="tokens",
        source=source,
    )
    if alignment.padding_percent is not None and alignment.state_page_size_padded is not None:
        page = alignment.state_page_size_padded
        yield Step(
            path="plan.padding_percent",
            label="Padding of states to the attention page",
            formula="100 × (attention page − state) / state",
            substituted=f"100 × ({page:,} − {state:,}) / {state:,}",
            result=alignment.padding_percent,
            unit="%",
            source=source,
        )
