"""Plain: what a layer's entries weigh without any engine overhead.

No block rounding, no padding, no tokens in flight, no copies: entries × bytes. This is kvcore's own yardstick.
"""

from kvcore.arithmetic import cdiv
from kvcore.engines.vllm.specs import (
    AttentionSpec,
    ChargeContext,
    ChunkedLocalAttentionSpec,
    CircularBufferSpec,
    CrossAttentionSpec,
    LayerSpec,
    SlidingWindowSpec,
)


def plain_tokens(spec: AttentionSpec, max_model_len: int, context: ChargeContext) -> int:
    """Tokens whose entries one GPU keeps for a request of ``max_model_len`` tokens."""
    if isinstance(spec, SlidingWindowSpec):
        return min(max_model_len, spec.sliding_window)
    if isinstance(spec, ChunkedLocalAttentionSpec):
        return min(max_model_len, spec.attention_chunk_size)
    if isinstance(spec, CircularBufferSpec):
        return spec.block_size
    if isinstance(spec, CrossAttentionSpec):
        return context.max_num_encoder_input_tokens
    shards = context.decode_context_parallel_size if spec.dcp_sharded else 1
    return cdiv(max_model_len, shards)


def plain_bytes(spec: LayerSpec, max_model_len: int, context: ChargeContext) -> int:
    """Bytes of one request in one layer on one GPU, without engine overhead."""
    if not isinstance(spec, AttentionSpec):
        return spec.unpadded_page_size_bytes
    return _entries(spec, plain_tokens(spec, max_model_len, context)) * spec.entry_bytes


def _entries(spec: AttentionSpec, tokens: int) -> int:
    """Entries that stand for some tokens; a block keeps whole entries only, where it is no multiple of their tokens."""
    per_block = spec.block_size // spec.tokens_per_state
    blocks, rest = divmod(tokens, spec.block_size)
    return blocks * per_block + min(cdiv(rest, spec.tokens_per_state), per_block)
