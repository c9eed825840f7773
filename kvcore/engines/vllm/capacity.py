"""Capacity: blocks in the pool, the fit check and the logged figures (vLLM 0.33.0 `v1/core/kv_cache_planning`)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kvcore.engines.vllm.grouping import CacheGroup
from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.specs import ChargeContext


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The groups as one pipeline stage holds them, and its budget.

    Attributes:
        groups: Every group of the model with this stage's layers only; a group may be empty here.
        bytes_per_block: Bytes of one block of the pool.
        available_bytes: Bytes for the cache on one GPU of the stage.
    """

    groups: tuple[CacheGroup, ...]
    bytes_per_block: int
    available_bytes: int

    @property
    def raw_num_blocks(self) -> int:
        """Blocks that fit on this stage alone."""
        return self.available_bytes // self.bytes_per_block


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The engine's fit check for one request of ``max_model_len`` tokens on the stage that is tightest.

    Attributes:
        fits: Whether the engine starts.
        needed_bytes: Bytes one request needs, as the refusal prints them.
        available_bytes: Bytes the check compares with (one block set aside where the release does so).
        longest: Longest request that fits, at most ``max_model_len``; 0 where not even one token fits.
    """

    fits: bool
    needed_bytes: int
    available_bytes: int
    longest: int


def bytes_per_block(groups: Sequence[CacheGroup], *, block_outermost: bool) -> int:
    """Bytes of one block of the pool: those of the widest group (vLLM 0.33.0 `_get_kv_cache_bytes_per_block`)."""
    if not block_outermost:
        return max(sum(spec.block_stride_bytes for spec in group.specs) for group in groups)
    widest = max(group.page_size_bytes for group in groups)
    alignment = math.lcm(*(spec.stride_alignment for group in groups for spec in group.specs))
    return -(-widest // alignment) * alignment


def project(group: CacheGroup, stage: int) -> CacheGroup:
    """The group with the layers of one pipeline stage only (vLLM 0.33.0 `_project_kv_cache_groups_to_worker`)."""
    own = tuple(layer for layer in group.layers if layer.stage == stage)
    return CacheGroup(layers=own, is_uniform_type=group.is_uniform_type)


def blocks_per_request(group: CacheGroup, max_model_len: int, context: ChargeContext) -> int:
    """Blocks of one group the engine charges one request."""
    if group.is_uniform_type:
        return max(spec.blocks_per_request(max_model_len, context) for spec in group.specs)
    return group.specs[0].blocks_per_request(max_model_len, context)


def blocks_held(group: CacheGroup, max_model_len: int, context: ChargeContext) -> int:
    """Blocks of one group a running request holds."""
    if group.is_uniform_type:
        return max(spec.blocks_held(max_model_len, context) for spec in group.specs)
    return group.specs[0].blocks_held(max_model_len, context)


def request_blocks(groups: Sequence[CacheGroup], max_model_len: int, context: ChargeContext) -> int:
    """Blocks the engine charges one request over all groups."""
    return sum(blocks_per_request(group, max_model_len, context) for group in groups)


def check_fit(
    stages: Sequence[Stage],
    groups: Sequence[CacheGroup],
    max_model_len: int,
    context: ChargeContext,
    profile: Profile,
) -> Fit:
    """Whether every stage holds one request of ``max_model_len`` tokens, and the longest one that fits all stages."""
    fits: list[Fit] = []
    for stage in stages:
        charged = _charged_groups(stage, groups)
        available = stage.available_bytes - (stage.bytes_per_block if profile.null_block_in_fit_check else 0)

        def needed(length: int, charged: Sequence[CacheGroup] = charged, stage: Stage = stage) -> int:
            return request_blocks(charged, length, context) * stage.bytes_per_block

        longest = _longest(max_model_len, lambda length, needed=needed, available=available: needed(length) <= available)
        fits.append(
            Fit(
                fits=available > 0 and needed(max_model_len) <= available,
                needed_bytes=needed(max_model_len),
                available_bytes=available,
                longest=longest,
            )
        )
    tightest = min(fits, key=lambda fit: (fit.longest, fit.available_bytes - fit.needed_bytes))
    return Fit(
        fits=all(fit.fits for fit in fits),
        needed_bytes=tightest.needed_bytes,
        available_bytes=tightest.available_bytes,
        longest=tightest.longest,
    )


def _charged_groups(stage: Stage, groups: Sequence[CacheGroup]) -> list[CacheGroup]:
    """A stage is charged for groups it holds no layer of; mixed groups shrink to the stage's members."""
    return [
        own if own.layers and own.is_uniform_type else whole
        for own, whole in zip(stage.groups, groups, strict=True)
    ]


def _longest(upper: int, fits: Callable[[int], bool]) -> int:
    """Largest length from 1 to ``upper`` that fits, 0 if none does; fits must not come back once lost."""
    low, high = 0, upper
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


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


def logged_tokens(concurrency: float, max_model_len: int) -> int:
    """The figure of "GPU KV cache size" (vLLM 0.33.0 `get_kv_cache_capacity`): a truncated double product."""
    return int(concurrency * max_model_len)
