"""Capacity: blocks in the pool and the logged figures (vLLM 0.33.0 `v1/core/kv_cache_planning`)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kvcore.arithmetic import round_up
from kvcore.engines.vllm.grouping import CacheGroup
from kvcore.engines.vllm.profile import PrintedTokens
from kvcore.engines.vllm.specs import ChargeContext


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The groups as one pipeline stage holds them, and its budget.

    Attributes:
        number: The stage, from 0.
        groups: Every group of the model with this stage's layers only; a group may be empty here.
        bytes_per_block: Bytes of one block of the pool.
        available_bytes: Bytes for the cache on one GPU of the stage.
        overridden_blocks: Blocks asked for instead of those the bytes hold; None: not asked for.
    """

    number: int
    groups: tuple[CacheGroup, ...]
    bytes_per_block: int
    available_bytes: int
    overridden_blocks: int | None = None

    @property
    def raw_num_blocks(self) -> int:
        """Blocks that fit on this stage alone."""
        if self.overridden_blocks is not None:
            return self.overridden_blocks
        return self.available_bytes // self.bytes_per_block


def bytes_per_block(groups: Sequence[CacheGroup], *, block_outermost: bool) -> int:
    """Bytes of one block of the pool: those of the widest group (vLLM 0.33.0 `_get_kv_cache_bytes_per_block`)."""
    if not block_outermost:
        return max(sum(spec.block_stride_bytes * count for spec, count in group.counted_specs) for group in groups)
    widest = max(group.page_size_bytes for group in groups)
    alignment = math.lcm(*(spec.stride_alignment for group in groups for spec, _ in group.counted_specs))
    return round_up(widest, alignment)


def project(group: CacheGroup, stage: int) -> CacheGroup:
    """The group with the layers of one pipeline stage only (vLLM 0.33.0 `_project_kv_cache_groups_to_worker`)."""
    own = tuple(layer for layer in group.layers if layer.stage == stage)
    if len(own) == len(group.layers):
        return group
    return CacheGroup(layers=own, is_uniform_type=group.is_uniform_type)


def blocks_per_request(group: CacheGroup, max_model_len: int, context: ChargeContext) -> int:
    """Blocks of one group the engine charges one request."""
    if group.is_uniform_type:
        return max(spec.blocks_per_request(max_model_len, context) for spec, _ in group.counted_specs)
    return group.specs[0].blocks_per_request(max_model_len, context)


def blocks_held(group: CacheGroup, max_model_len: int, context: ChargeContext) -> int:
    """Blocks of one group a running request holds."""
    if group.is_uniform_type:
        return max(spec.blocks_held(max_model_len, context) for spec, _ in group.counted_specs)
    return group.specs[0].blocks_held(max_model_len, context)


def request_blocks(groups: Sequence[CacheGroup], max_model_len: int, context: ChargeContext) -> int:
    """Blocks the engine charges one request over all groups."""
    return sum(blocks_per_request(group, max_model_len, context) for group in groups)


def set_aside_blocks(num_blocks: int, percent: float) -> int:
    """Blocks a decode worker keeps free for caches in transfer: the share of the pool, at least one where there is any.

    One block always stays in use.
    """
    if percent <= 0:
        return 0
    return min(max(1, int(Fraction(percent) * num_blocks / 100)), max(0, num_blocks - 1))


def logged_concurrency(num_blocks: int, charged_blocks: int) -> float:
    """The engine's own ratio in double precision (vLLM 0.33.0 `get_max_concurrency_for_kv_cache_config`)."""
    return num_blocks / charged_blocks


def logged_tokens(
    form: PrintedTokens, groups: Sequence[CacheGroup], num_blocks: int, max_model_len: int, context: ChargeContext
) -> int:
    """The figure of "GPU KV cache size".

    Args:
        form: ``pool_blocks``: the pool divided by the groups, in blocks of the smallest group, times the ranks that share
            a request's tokens (vLLM 0.20.0 `_report_kv_cache_config`). ``concurrency``: the logged concurrency times the
            length, a truncated double product (vLLM 0.33.0 `get_kv_cache_capacity`).
        groups: The groups of the model.
        num_blocks: Blocks of the pool.
        max_model_len: Context length in force.
        context: What decides a request's charge.
    """
    if form == "pool_blocks":
        shards = context.decode_context_parallel_size
        return num_blocks // len(groups) * min(group.block_size for group in groups) * shards
    return int(logged_concurrency(num_blocks, request_blocks(groups, max_model_len, context)) * max_model_len)
