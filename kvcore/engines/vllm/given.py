"""Groups given by hand, in place of the engine's own grouping: for forks and releases whose rules kvcore has not."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kvcore.engines.vllm.grouping import CacheGroup, PlannedLayer
from kvcore.engines.vllm.specs import ChargeContext, LayerSpec, MambaSpec
from kvcore.errors import input_error
from kvcore.layout.paging import GivenGroup, GivenPaging


@dataclass(frozen=True, kw_only=True)
class FixedBlocksSpec(MambaSpec):
    """A page of stated bytes, of which a request is charged a stated number whatever its length."""

    kind: ClassVar[str] = "fixed_blocks"
    charged_blocks: int
    held_blocks: int

    def blocks_per_request(self, max_model_len: int, context: ChargeContext) -> int:
        """The stated number."""
        return self.charged_blocks

    def blocks_held(self, max_model_len: int, context: ChargeContext) -> int:
        """The stated number a running request holds."""
        return self.held_blocks


def given_groups(layers: Sequence[PlannedLayer], paging: GivenPaging) -> tuple[CacheGroup, ...]:
    """The stated groups; each part's layers are dealt out in strides, as the engine does.

    Raises:
        InputError: A group is to be dealt out to more groups than it has layers.
    """
    groups: list[CacheGroup] = []
    for given in paging.groups:
        own = [layer for layer in layers if layer.part in given.parts]
        if given.count > len(own):
            rule = f"the parts {', '.join(given.parts)} have only {len(own)} layers to deal out"
            raise input_error("layout.engine.groups.count", given.count, rule, f"Use at most {len(own)}.")
        restated = [dataclasses.replace(layer, spec=_restated(layer.spec, given)) for layer in own]
        groups.extend(
            CacheGroup(layers=tuple(restated[first :: given.count]), is_uniform_type=True)
            for first in range(given.count)
        )
    return tuple(groups)


def _restated(spec: LayerSpec, group: GivenGroup) -> LayerSpec:
    block_size = group.block_size or spec.block_size
    resized = dataclasses.replace(spec, block_size=block_size)
    if group.fixed_blocks is None:
        return resized
    return FixedBlocksSpec(
        block_size=block_size,
        shapes=((resized.page_size_bytes,),),
        dtypes=("uint8",),
        dtype_bytes=(1,),
        mamba_type="given",
        charged_blocks=group.fixed_blocks,
        held_blocks=group.fixed_blocks if group.held_blocks is None else group.held_blocks,
    )


def given_block_bytes(computed: Sequence[int], paging: GivenPaging) -> tuple[int, ...]:
    """Bytes of one block of the pool per pipeline stage: as stated, or as computed.

    Raises:
        InputError: The stated width does not hold the widest group, or there are not as many widths as stages.
    """
    stated = paging.pool_bytes_per_block
    if not stated:
        return tuple(computed)
    widths = stated * len(computed) if len(stated) == 1 else stated
    if len(widths) != len(computed):
        rule = f"one width, or one per pipeline stage ({len(computed)}), is expected"
        raise input_error("layout.engine.pool_bytes_per_block", list(stated), rule, "Give as many widths as stages.")
    for width, needed in zip(widths, computed, strict=True):
        if width < needed:
            rule = f"the widest group takes {needed:,} bytes per block"
            raise input_error("layout.engine.pool_bytes_per_block", width, rule, "State at least that many bytes.")
    return tuple(widths)
