"""The engine's tax on one request: what its paging adds over plain entries, by cause."""

from collections.abc import Mapping

from kvcore.charge.plain import plain_bytes, plain_tokens
from kvcore.charge.request_charge import RequestCharge
from kvcore.engines.vllm.plan import Plan
from kvcore.engines.vllm.specs import (
    AttentionSpec,
    ChargeContext,
    ChunkedLocalAttentionSpec,
    LayerSpec,
    MambaSpec,
    SlidingWindowSpec,
)

ROUNDING = "rounding up to whole blocks"
PADDING = "padding of pages and groups"
IN_FLIGHT = "window tokens in flight"
STRADDLE = "window straddling a block"
ALIGN_COPY = "align copy of states"
REUSE_COPIES = "state kept at every block"
DRAFT_COPIES = "state copies for speculation"
NULL_BLOCK = "null block"

CAUSES = (ROUNDING, PADDING, IN_FLIGHT, STRADDLE, ALIGN_COPY, REUSE_COPIES, DRAFT_COPIES, NULL_BLOCK)


def tax_by_cause(plan: Plan, charge: RequestCharge) -> Mapping[str, int]:
    """Bytes per cause on one GPU of the binding stage.

    They add up to ``charge.bytes_estimate - charge.bytes_plain`` and one null block, which the pool keeps once whatever
    the number of requests.
    """
    taxes = dict.fromkeys(CAUSES, 0)
    taxes[NULL_BLOCK] = charge.block_bytes
    for own, blocks in zip(plan.stage_groups[charge.stage], plan.group_blocks, strict=True):
        counted = own.counted_specs
        entries = sum(_entries_bytes(spec) * count for spec, count in counted)
        taxes[PADDING] += blocks * (charge.block_bytes - entries)
        for spec, count in counted:
            for cause, amount in _layer_tax(spec, blocks, plan.max_model_len, plan.context).items():
                taxes[cause] += amount * count
    return taxes


def _entries_bytes(spec: LayerSpec) -> int:
    """Bytes of a page's entries alone."""
    if isinstance(spec, AttentionSpec):
        return spec.block_size // spec.tokens_per_state * spec.entry_bytes
    return spec.unpadded_page_size_bytes


def _layer_tax(spec: LayerSpec, blocks: int, max_model_len: int, context: ChargeContext) -> dict[str, int]:
    page = _entries_bytes(spec)
    over_plain = blocks * page - plain_bytes(spec, max_model_len, context)
    if isinstance(spec, MambaSpec):
        drafts = spec.draft_states(context) * page
        copies = REUSE_COPIES if context.mamba_cache_mode == "all" else ALIGN_COPY
        return {DRAFT_COPIES: drafts, copies: over_plain - drafts}
    if isinstance(spec, SlidingWindowSpec):
        in_flight = _in_flight_bytes(spec, spec.sliding_window - 1 + spec.extra_retained_tokens, max_model_len, context)
        return {IN_FLIGHT: in_flight, STRADDLE: page, ROUNDING: over_plain - in_flight - page}
    if isinstance(spec, ChunkedLocalAttentionSpec):
        in_flight = _in_flight_bytes(spec, spec.attention_chunk_size, max_model_len, context)
        return {IN_FLIGHT: in_flight, ROUNDING: over_plain - in_flight}
    return {ROUNDING: over_plain}


def _in_flight_bytes(spec: AttentionSpec, retained: int, max_model_len: int, context: ChargeContext) -> int:
    kept = min(retained + context.max_in_flight_tokens, max_model_len)
    return max(0, kept - plain_tokens(spec, max_model_len, context)) * spec.entry_bytes
