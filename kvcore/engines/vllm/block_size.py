"""Block size of hybrids: raised until one attention page holds one state (vLLM 0.33.0 `HybridAttentionMambaModelConfig`)."""

from collections.abc import Sequence
from dataclasses import dataclass

from kvcore.engines.vllm.specs import MambaSpec
from kvcore.engines.vllm.store.stored import StoreContext, Stored


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Block size in force and the padding of states.

    Attributes:
        block_size: Tokens per block.
        state_page_size_padded: Page bytes states are padded to; None: no padding.
        padding_percent: Padding in percent of the state; None where there are no states beside attention.
    """

    block_size: int
    state_page_size_padded: int | None = None
    padding_percent: float | None = None


def align_block_size(stored: Sequence[Stored], context: StoreContext) -> Alignment:
    """Raises the block size of hybrids to the state page; other layouts keep the backends' size."""
    if not any(isinstance(item.spec, MambaSpec) for item in stored):
        return Alignment(block_size=context.block_size)
    raise NotImplementedError
