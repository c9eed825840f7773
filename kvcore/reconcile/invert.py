"""Inversion: from the figures a log prints to the blocks and bytes that made them, as the ranges its digits allow."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from kvcore.arithmetic import GIB, cdiv
from kvcore.reconcile.budget_line import logged_budget, logged_pool
from kvcore.reconcile.record import LogRecord

DEFAULT_BLOCK_SIZE = 16
"""Tokens per block of vLLM where nothing else is said."""

Range = tuple[Fraction, Fraction]


@dataclass(frozen=True, kw_only=True)
class Inversion:
    """What must have been true for the log to print its figures; every range holds its ends.

    Attributes:
        num_gpu_blocks: Fewest and most blocks of the pool.
        block_bytes: Bytes of one block on one GPU.
        bytes_per_token: Budget divided by the printed tokens.
        budget_bytes: Bytes the printed budget stands for.
        request_blocks: Blocks one request of the printed length is charged.
        block_size: Tokens per block, and ``groups`` cache groups, that were assumed or known.
        groups: Cache groups.
        assumed: Whether block size and groups are assumptions: one group of 16 tokens.
    """

    num_gpu_blocks: tuple[int, int] | None = None
    block_bytes: Range | None = None
    bytes_per_token: Range | None = None
    budget_bytes: Range | None = None
    request_blocks: int | None = None
    block_size: int
    groups: int
    assumed: bool


def invert(
    record: LogRecord, *, block_size: int | None = None, groups: int | None = None, request_blocks: int | None = None
) -> Inversion:
    """Inverts a vLLM log.

    Args:
        record: The log.
        block_size: Tokens per block, where a plan says so.
        groups: Cache groups, where a plan says so.
        request_blocks: Blocks one request of the printed length is charged, where a plan says so.
    """
    printed_block = record.first("attention_block_size") or record.first("kernel_block_size")
    size = block_size or (int(printed_block.value) if printed_block else DEFAULT_BLOCK_SIZE)
    charged = request_blocks
    length = record.first("max_concurrency_len")
    if charged is None and length is not None:
        charged = cdiv(int(length.value), size) * (groups or 1)
    blocks = _blocks(record, size, groups or 1, charged)
    budget = _budget(record)
    tokens = logged_pool(record, "gpu_kv_cache_tokens") or record.first("max_total_num_tokens")
    return Inversion(
        num_gpu_blocks=blocks,
        budget_bytes=budget,
        block_bytes=_divided(budget, blocks),
        bytes_per_token=None if tokens is None or tokens.value == 0 else _divided(budget, (int(tokens.value),) * 2),
        request_blocks=charged,
        block_size=size,
        groups=groups or 1,
        assumed=block_size is None or groups is None,
    )


def _blocks(record: LogRecord, size: int, groups: int, charged: int | None) -> tuple[int, int] | None:
    """The pool's blocks: as printed, else from the concurrency, else from the tokens of releases up to 0.20.0."""
    printed = record.first("num_gpu_blocks")
    if printed is not None:
        return int(printed.value), int(printed.value)
    tokens, concurrency = logged_pool(record, "gpu_kv_cache_tokens"), logged_pool(record, "max_concurrency")
    length = record.first("max_concurrency_len")
    if concurrency is not None and charged:
        low, high = concurrency.interval
        if tokens is not None and length is not None:
            # From 0.20.1 on tokens = int(concurrency × length): the same number with more digits.
            fine = Fraction(int(tokens.value), int(length.value))
            if low <= fine <= high:
                low, high = fine, min(high, fine + Fraction(1, int(length.value)))
        fewest, most = ceil(low * charged), floor(high * charged)
        return (fewest, most) if fewest <= most else None
    if tokens is not None:
        fewest = int(tokens.value) // size * groups
        return fewest, fewest + groups - 1
    return None


def _budget(record: LogRecord) -> Range | None:
    available = logged_budget(record)
    if available is None or available.value <= 0:
        return None
    low, high = available.interval
    return low * GIB, high * GIB


def _divided(dividend: Range | None, divisor: tuple[int, int] | None) -> Range | None:
    if dividend is None or divisor is None or divisor[0] <= 0:
        return None
    return dividend[0] / divisor[1], dividend[1] / divisor[0]
