"""Fit check: does one request of ``max_model_len`` tokens fit, and if not, how long a request would.

Releases charge the request differently; each form is a function that turns the plan into charges, one per budget that must
hold. The engine's own names: `check_enough_kv_cache_memory`, `_max_memory_usage_bytes_from_groups`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kvcore.engines.vllm.capacity import Stage, blocks_per_request, request_blocks
from kvcore.engines.vllm.grouping import CacheGroup, PlannedLayer
from kvcore.engines.vllm.profile import FitCheck, Profile
from kvcore.engines.vllm.specs import ChargeContext


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


@dataclass(frozen=True)
class Charge:
    """Bytes a request of a given length is charged, and the bytes it is compared with."""

    needed: Callable[[int], int]
    available_bytes: int


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What the check looks at.

    Attributes:
        stages: Groups and budgets per pipeline stage.
        groups: The groups over all stages.
        layers: Every layer as its class describes it, before pages are unified and windows promoted.
        context: What decides a request's charge.
    """

    stages: Sequence[Stage]
    groups: Sequence[CacheGroup]
    layers: Sequence[PlannedLayer]
    context: ChargeContext


def check_fit(checked: Checked, max_model_len: int, profile: Profile) -> Fit:
    """Whether one request of ``max_model_len`` tokens fits by the release's measure, and the longest one that does."""
    fits: list[Fit] = []
    for charge in _CHARGES[profile.fit_check](checked, profile):
        available, needed = charge.available_bytes, charge.needed(max_model_len)
        fits.append(
            Fit(
                fits=available > 0 and needed <= available,
                needed_bytes=needed,
                available_bytes=available,
                longest=_longest(max_model_len, charge),
            )
        )
    tightest = min(fits, key=lambda fit: (fit.longest, fit.available_bytes - fit.needed_bytes))
    return Fit(
        fits=all(fit.fits for fit in fits),
        needed_bytes=tightest.needed_bytes,
        available_bytes=tightest.available_bytes,
        longest=tightest.longest,
    )


def _per_layer(checked: Checked, _profile: Profile) -> list[Charge]:
    """Each worker's own layers one by one: no grouping, no padding to a common page."""

    def charge(stage: Stage) -> Charge:
        specs = [layer.spec for layer in checked.layers if layer.stage == stage.number]
        return Charge(
            lambda length: sum(
                spec.blocks_per_request(length, checked.context) * spec.page_size_bytes for spec in specs
            ),
            stage.available_bytes,
        )

    return [charge(stage) for stage in checked.stages]


def _first_group_of_model(checked: Checked, _profile: Profile) -> list[Charge]:
    """The first group alone, with the layers of every stage, against the worker with the least memory."""
    smallest = min(stage.available_bytes for stage in checked.stages)
    return [_first_group_charge(checked, checked.groups, smallest)]


def _first_group(checked: Checked, _profile: Profile) -> list[Charge]:
    """The first group alone, on each worker with its own layers."""
    return [_first_group_charge(checked, stage.groups, stage.available_bytes) for stage in checked.stages]


def _first_group_charge(checked: Checked, groups: Sequence[CacheGroup], available_bytes: int) -> Charge:
    """Blocks of the first group, as wide as the group with most layers; layers of one type are summed up."""
    first = checked.groups[0]
    width = groups[0].page_size_bytes
    if not first.is_uniform_type:
        width = max(len(group.layers) for group in groups) * first.specs[0].page_size_bytes
    return Charge(lambda length: blocks_per_request(first, length, checked.context) * width, available_bytes)


def _all_groups(checked: Checked, profile: Profile) -> list[Charge]:
    """Blocks of every group on each worker; from 0.29 on beside one block that requests never get."""

    def charge(stage: Stage) -> Charge:
        charged = _charged_groups(stage, checked.groups)
        return Charge(
            lambda length: request_blocks(charged, length, checked.context) * stage.bytes_per_block,
            stage.available_bytes - (stage.bytes_per_block if profile.null_block_in_fit_check else 0),
        )

    return [charge(stage) for stage in checked.stages]


_CHARGES: Mapping[FitCheck, Callable[[Checked, Profile], list[Charge]]] = {
    "per_layer": _per_layer,
    "first_group_of_model": _first_group_of_model,
    "first_group": _first_group,
    "all_groups": _all_groups,
}


def _charged_groups(stage: Stage, groups: Sequence[CacheGroup]) -> list[CacheGroup]:
    """A stage is charged for groups it holds no layer of; mixed groups shrink to the stage's members."""
    return [
        own if own.layers and own.is_uniform_type else whole for own, whole in zip(stage.groups, groups, strict=True)
    ]


def _longest(upper: int, charge: Charge) -> int:
    """Largest length from 1 to ``upper`` that fits, 0 if none does; fits must not come back once lost."""
    if charge.needed(upper) <= charge.available_bytes:
        return upper
    low, high = 0, upper
    while low < high:
        middle = (low + high + 1) // 2
        if charge.needed(middle) <= charge.available_bytes:
            low = middle
        else:
            high = middle - 1
    return low
