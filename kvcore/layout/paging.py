"""Paging a layout given by hand may state: block sizes, groups and the width of a block."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class GivenGroup:
    """Parts that share a block table, ``count`` times over.

    Attributes:
        parts: Names of the parts whose layers the groups hold.
        count: Groups the layers are dealt out to.
        block_size: Tokens of one block; None: that of the layout.
        fixed_blocks: Blocks one request is charged in each group whatever its length; None: by the parts' growth.
        held_blocks: Blocks a running request holds of those; None: all.
    """

    parts: tuple[str, ...]
    count: int = 1
    block_size: int | None = None
    fixed_blocks: int | None = None
    held_blocks: int | None = None


@dataclass(frozen=True, kw_only=True)
class GivenPaging:
    """What a layout states about an engine's paging.

    Attributes:
        block_size: Tokens of one block.
        groups: Groups, instead of the engine's own grouping; empty: the engine groups.
        pool_bytes_per_block: Bytes of one block of the pool, one for all or one per pipeline stage; empty: the widest
            group decides.
        block_outermost: Whether the cache tensor lays blocks outermost.
    """

    block_size: int | None = None
    groups: tuple[GivenGroup, ...] = ()
    pool_bytes_per_block: tuple[int, ...] = ()
    block_outermost: bool = False
