"""Packed groups: mixed pages side by side in one block (vLLM 0.33.0 `_get_packed_kv_cache_groups`)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from kvcore.arithmetic import cdiv
from kvcore.engines.vllm.specs import CircularBufferSpec, LayerSpec, MambaSpec, SlidingWindowSpec

Layer = TypeVar("Layer")


@dataclass(frozen=True)
class _Bucket(Generic[Layer]):
    """Layers of one type and block size, by page size in first-seen order."""

    by_page: dict[int, list[Layer]]
    first_spec: LayerSpec

    @property
    def repeats(self) -> int:
        """Layers of the most frequent page size."""
        return max(len(layers) for layers in self.by_page.values())

    @property
    def is_balanced(self) -> bool:
        """Whether every page size occurs equally often, so that layers repeat as a pattern."""
        return len({len(layers) for layers in self.by_page.values()}) == 1

    @property
    def num_layers(self) -> int:
        return sum(len(layers) for layers in self.by_page.values())


def packed_groups(layers: Sequence[Layer], spec_of: Callable[[Layer], LayerSpec]) -> list[list[Layer]]:
    """Splits layers of mixed page sizes into groups that pack into blocks of about one width.

    Args:
        layers: Layers in model order.
        spec_of: The spec of a layer.

    Returns:
        Groups of layers; the widest one decides the bytes of a block.
    """
    buckets = _buckets(layers, spec_of)
    repeats_per_group = _repeats_per_group(buckets)

    def pattern_groups(bucket: _Bucket[Layer]) -> int:
        if bucket.is_balanced and repeats_per_group is not None:
            return cdiv(bucket.repeats, repeats_per_group)
        return 1

    def is_state(bucket: _Bucket[Layer]) -> bool:
        kinds: tuple[type[LayerSpec], ...] = (MambaSpec, CircularBufferSpec)
        if repeats_per_group is None:
            kinds = (*kinds, SlidingWindowSpec)
        return isinstance(bucket.first_spec, kinds)

    anchor = max(
        _widest_group(bucket, bucket.num_layers if is_state(bucket) else pattern_groups(bucket)) for bucket in buckets
    )
    groups: list[list[Layer]] = []
    for bucket in buckets:
        number = pattern_groups(bucket)
        if is_state(bucket):
            per_group = max(1, anchor // bucket.first_spec.page_size_bytes)
            number = max(number, cdiv(bucket.num_layers, per_group))
        groups.extend(
            [layer for page_layers in bucket.by_page.values() for layer in page_layers[first::number]]
            for first in range(number)
        )
    return [group for group in groups if group]


def _buckets(layers: Sequence[Layer], spec_of: Callable[[Layer], LayerSpec]) -> list[_Bucket[Layer]]:
    found: dict[tuple[object, ...], _Bucket[Layer]] = {}
    for layer in layers:
        spec = spec_of(layer)
        key = (spec.uniform_type, spec.block_size, spec.dcp_sharded)
        bucket = found.setdefault(key, _Bucket({}, spec))
        bucket.by_page.setdefault(spec.page_size_bytes, []).append(layer)
    return list(found.values())


def _repeats_per_group(buckets: Sequence[_Bucket[Layer]]) -> int | None:
    """Pattern repeats per group that leave the least padding; None where no bucket mixes pages evenly."""
    balanced = [bucket for bucket in buckets if bucket.is_balanced]
    least = max((bucket.repeats for bucket in balanced if len(bucket.by_page) > 1), default=0)
    if not least:
        return None
    repeats = [bucket.repeats for bucket in balanced]
    candidates = range(least, max(repeats) + 1)
    padding = Counter({size: sum(-count % size for count in repeats) for size in candidates})
    return min(candidates, key=lambda size: (padding[size], -size))


def _widest_group(bucket: _Bucket[Layer], number: int) -> int:
    return sum(cdiv(len(layers), number) * page for page, layers in bucket.by_page.items())
