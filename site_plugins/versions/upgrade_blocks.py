"""What an upgrade does to one deployment: a table with a row per switch that matters, figures before and after."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kvcore.arithmetic import GIB, MIB
from kvcore.engines.vllm.upgrade import Change, Figures, Upgrade, upgrade
from kvcore.report.document import Block, Column, Details, Figure, Link, Note, Row, Table, Text
from kvcore.report.figures import UNKNOWN, count, scaled, times
from kvcore.request import parse_request
from site_plugins.pages.requests import calculator_link
from site_plugins.versions.switch_tables import switch_link

CALCULATOR = "../calculator/"
SAME = "="
"""Stands in a cell whose figure a switch leaves alone."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One figure of an upgrade as the table shows it.

    Attributes:
        name: Field of :class:`Figures`.
        title: Title of its column, and ``unit`` beneath.
        always: It is shown even where nothing changes it.
        figure: Makes it from its path in ``kvcore upgrade --json`` and its value.
    """

    name: str
    title: str
    unit: str
    always: bool
    figure: Callable[[str, Any], Figure]


def _mebibytes(path: str, value: int) -> Figure:
    return Figure(path, value, scaled(value, MIB))


SHOWN = (
    Shown(name="concurrency", title="Concurrency", unit="requests, as logged", always=True, figure=times),
    Shown(name="tokens", title="GPU KV cache size", unit="tokens, as logged", always=True, figure=count),
    Shown(name="num_gpu_blocks", title="Pool", unit="blocks", always=True, figure=count),
    Shown(name="blocks_per_request", title="One request", unit="blocks", always=False, figure=count),
    Shown(name="block_size", title="One block", unit="tokens", always=False, figure=count),
    Shown(name="block_bytes", title="One block", unit="MiB", always=False, figure=_mebibytes),
    Shown(name="max_model_len_that_fits", title="Longest that fits", unit="tokens", always=False, figure=count),
)


def upgrade_blocks(request: Mapping[str, object], old: str, new: str) -> tuple[Block, ...]:
    """Returns a table of an upgrade's effect, then the switches that differ without one.

    Args:
        request: The deployment.
        old: Release before.
        new: Release after.

    Raises:
        KvcoreError: A release is not known, or the request is wrong under any release.
    """
    found = upgrade(parse_request(request), old, new)
    notes = [Note("warning", (note,)) for note in found.notes]
    return (*notes, *_refusals(found), upgrade_table(request, found), *_without_effect(request, found))


def upgrade_table(request: Mapping[str, object], found: Upgrade) -> Table:
    """Returns the release before, every switch that changes a figure, and the release after.

    Args:
        request: The deployment, for the caption and for the links to the calculator.
        found: Its upgrade.
    """
    states = [found.before, found.after, *(change.after for change in found.changes)]
    shown = [item for item in SHOWN if item.always or len({getattr(state, item.name) for state in states}) > 1]
    rows = [
        _end(request, found.from_version, "before", found.before, shown),
        *(_turned(index, change, shown) for index, change in enumerate(found.changes) if change.has_effect),
        _end(request, found.to_version, "after", found.after, shown),
    ]
    columns = (Column("Release or switch"), *(Column(item.title, "right", item.unit) for item in shown))
    return Table(f"vLLM {found.from_version} → {found.to_version}: {_condition(request)}", columns, tuple(rows))


def _end(request: Mapping[str, object], version: str, side: str, figures: Figures, shown: list[Shown]) -> Row:
    link = Link(f"vLLM {version}", calculator_link(CALCULATOR, {**request, "engine_version": version}))
    return Row(((link,), *((_figure(item, side, figures),) for item in shown)), total=True)


def _turned(index: int, change: Change, shown: list[Shown]) -> Row:
    cells = [_before_and_after(item, f"changes.{index}", change) for item in shown]
    return Row(((switch_link(change.switch), f": {change.old} → {change.new}"), *cells))


def _before_and_after(item: Shown, path: str, change: Change) -> Text:
    if getattr(change.before, item.name) == getattr(change.after, item.name):
        return (SAME,)
    return (_figure(item, f"{path}.before", change.before), " → ", _figure(item, f"{path}.after", change.after))


def _figure(item: Shown, path: str, figures: Figures) -> Figure:
    value = getattr(figures, item.name)
    place = f"{path}.{item.name}"
    return Figure(place, None, UNKNOWN) if value is None or figures.refusal else item.figure(place, value)


def _condition(request: Mapping[str, object]) -> str:
    """The deployment in words: everything the request sets, in the engine's own flag names."""
    budget = request.get("kv_cache_memory_bytes")
    flags = [
        f"{name} {value:,}" if isinstance(value, int) and not isinstance(value, bool) else f"{name} {value}"
        for name, value in request.items()
        if name not in {"model", "kv_cache_memory_bytes"}
    ]
    memory = f"{scaled(budget, GIB)} GiB of cache on each GPU" if isinstance(budget, int) else "cache memory estimated"
    return ", ".join([str(request.get("model", "the given config")), *flags, memory])


def _refusals(found: Upgrade) -> list[Note]:
    sides = ((found.from_version, found.before), (found.to_version, found.after))
    return [
        Note("error", (f"vLLM {version} refuses this deployment: {figures.refusal}",))
        for version, figures in sides
        if figures.refusal
    ]


def _without_effect(request: Mapping[str, object], found: Upgrade) -> tuple[Block, ...]:
    idle = [change for change in found.changes if not change.has_effect]
    if not idle:
        return ()
    rows = tuple(Row(((switch_link(change.switch),), (change.old,), (change.new,))) for change in idle)
    columns = (Column("Switch"), Column(f"vLLM {found.from_version}"), Column(f"vLLM {found.to_version}"))
    summary = f"{len(idle)} of {len(found.changes)} switches that differ between the two change nothing here"
    caption = f"Switches without effect on {_condition(request)}"
    return (Details(summary, lambda: (Table(caption, columns, rows),)),)
