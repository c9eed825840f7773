"""Upgrade: what another release does to a deployment, switch by switch."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from kvcore.engines.vllm.answer import work_out
from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.profiles import find_profile, release_notes
from kvcore.engines.vllm.switches import SWITCHES, Switch
from kvcore.errors import KvcoreError
from kvcore.request import Request


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a release answers.

    Attributes:
        fits: Whether the engine starts; None without a budget.
        num_gpu_blocks: Blocks of the pool.
        tokens: "GPU KV cache size" as printed.
        concurrency: "Maximum concurrency" as printed, in double precision.
        block_size: Tokens per block.
        blocks_per_request: Blocks one request of ``max_model_len`` tokens is charged.
        block_bytes: Bytes of one block of the pool on one GPU.
        max_model_len_that_fits: Longest request that fits.
        refusal: Why the release refuses the deployment; empty where it does not.
    """

    fits: bool | None = None
    num_gpu_blocks: int | None = None
    tokens: int | None = None
    concurrency: float | None = None
    block_size: int | None = None
    blocks_per_request: int = 0
    block_bytes: int = 0
    max_model_len_that_fits: int | None = None
    refusal: str = ""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One switch that differs, and the figures before and after it alone is turned.

    Attributes:
        switch: The switch.
        old: Its value before, in words, and ``new`` after.
        before: Figures with every earlier switch turned already.
        after: Figures with this one turned too.
    """

    switch: Switch
    old: str
    new: str
    before: Figures
    after: Figures

    @property
    def has_effect(self) -> bool:
        """Whether any figure of this deployment changes."""
        return self.before != self.after


@dataclass(frozen=True, kw_only=True)
class Upgrade:
    """Two releases' answers to one request, and how one becomes the other.

    Attributes:
        from_version: Release before, as asked for, and ``to_version`` after.
        before: Figures of the release before.
        after: Figures of the release after.
        changes: Every switch that differs, in the order in which they are turned.
        notes: What the reader must know about either release.
    """

    from_version: str
    to_version: str
    before: Figures
    after: Figures
    changes: tuple[Change, ...]
    notes: tuple[str, ...]

    @property
    def effective_changes(self) -> tuple[Change, ...]:
        """The changes that matter to this deployment."""
        return tuple(change for change in self.changes if change.has_effect)


def upgrade(request: Request, from_version: str, to_version: str) -> Upgrade:
    """Answers a request under two releases and turns the switches between them one at a time.

    Args:
        request: The deployment; its own ``engine_version`` does not count.
        from_version: The release before.
        to_version: The release after; it may be the older one.

    Raises:
        KvcoreError: A release is not known, or the request is wrong under any release.
    """
    old, new = find_profile(from_version), find_profile(to_version)
    before = _figures(dataclasses.replace(request, engine_version=from_version), old)
    changes: list[Change] = []
    current, figures = old, before
    for switch in SWITCHES:
        if switch.value_of(old) == switch.value_of(new):
            continue
        turned = turn(current, switch, new)
        after = _figures(dataclasses.replace(request, engine_version=None), turned)
        changes.append(Change(switch=switch, old=switch.words(old), new=switch.words(new), before=figures, after=after))
        current, figures = turned, after
    return Upgrade(
        from_version=from_version,
        to_version=to_version,
        before=before,
        after=_figures(dataclasses.replace(request, engine_version=to_version), new),
        changes=tuple(changes),
        notes=(*release_notes(from_version), *release_notes(to_version)),
    )


def turn(profile: Profile, switch: Switch, target: Profile) -> Profile:
    """The profile with one switch as in the target, under the target's name."""
    values: dict[str, Any] = {"version": target.version, switch.field: switch.value_of(target)}
    return dataclasses.replace(profile, **values)


def _figures(request: Request, profile: Profile) -> Figures:
    try:
        result = work_out(request, profile)
    except KvcoreError as error:
        return Figures(fits=False, refusal=error.errors[0].message)
    plan, charge, fit = result.plan, result.charge, result.plan.fit
    return Figures(
        fits=None if fit is None else fit.fits,
        num_gpu_blocks=plan.num_gpu_blocks if fit is not None and fit.fits else None,
        tokens=plan.tokens,
        concurrency=plan.concurrency,
        block_size=plan.block_size if plan.groups else None,
        blocks_per_request=plan.charged_blocks,
        block_bytes=0 if charge is None else charge.block_bytes,
        max_model_len_that_fits=None if fit is None else fit.longest,
    )
