"""Export: what of the engine's storage and paging a layout carries, so that it can be edited and read back."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from kvcore.engines.vllm.plan import Plan
from kvcore.engines.vllm.specs import MambaSpec
from kvcore.engines.vllm.store.stored import Stored
from kvcore.engines.vllm.tensor_layout import is_block_outermost
from kvcore.layout.layout import Layout


def exported_storage(stored: Stored) -> Mapping[str, Any]:
    """The ``engine`` object of one part, in the fields :mod:`kvcore.layout.by_hand` reads."""
    spec = stored.spec
    storage: dict[str, Any] = {
        "kind": spec.kind,
        "block_size": spec.block_size,
        "page_size_bytes": spec.page_size_bytes,
    }
    if isinstance(spec, MambaSpec):
        storage["checkpoint_copies"] = spec.num_prefill_checkpoint_blocks
    if stored.checkpoint_grain is not None:
        storage["checkpoint_grain"] = stored.checkpoint_grain
    if stored.backend is not None and stored.backend.smallest_block > 1:
        storage["kernel_block_size"] = stored.backend.smallest_block
    if spec.stride_alignment > 1:
        storage["row_alignment"] = spec.stride_alignment
    return storage


def exported_paging(layout: Layout, plan: Plan) -> Mapping[str, Any]:
    """The ``engine`` object of the whole layout; groups and widths only where they were given by hand."""
    alignment = plan.alignment
    paging: dict[str, Any] = {
        "block_size": alignment.block_size if alignment is not None else plan.block_size,
        "block_outermost": is_block_outermost(plan.kv_cache_layout),
        "extra_retained_tokens": layout.extra_retained_tokens,
    }
    given = layout.paging
    if given is not None and given.groups:
        groups = [dataclasses.asdict(group) for group in given.groups]
        paging["groups"] = [{key: value for key, value in group.items() if value is not None} for group in groups]
    if given is not None and given.pool_bytes_per_block:
        paging["pool_bytes_per_block"] = list(given.pool_bytes_per_block)
    return paging
