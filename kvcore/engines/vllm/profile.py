"""Version profiles: what differs between vLLM releases, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The switches of one vLLM release.

    Attributes:
        version: Release the profile was read from.
        gpu_memory_utilization: Default share of GPU memory.
        group_size_ratio: Buckets whose counts differ by less than this ratio form groups of the larger count
            (`_get_kv_cache_groups_uniform_page_size`).
        null_block_in_fit_check: Whether the fit check sets one block aside (`check_enough_kv_cache_memory`).
        sources: Engine symbol each switch was read from.
    """

    version: str
    gpu_memory_utilization: Fraction
    group_size_ratio: Fraction
    null_block_in_fit_check: bool
    sources: Mapping[str, str]

    def group_size(self, counts: Sequence[int]) -> int:
        """Layers per cache group for buckets of these sizes."""
        smallest, largest = min(counts), max(counts)
        return largest if largest < self.group_size_ratio * smallest else smallest


V0_33_0 = Profile(
    version="0.33.0",
    gpu_memory_utilization=Fraction(92, 100),
    group_size_ratio=Fraction(3, 2),
    null_block_in_fit_check=True,
    sources={
        "gpu_memory_utilization": "vLLM 0.33.0 `CacheConfig.gpu_memory_utilization`",
        "group_size_ratio": "vLLM 0.33.0 `_get_kv_cache_groups_uniform_page_size`",
        "null_block_in_fit_check": "vLLM 0.33.0 `check_enough_kv_cache_memory`",
    },
)
