"""``kvcore upgrade``: what another release of vLLM does to a deployment, switch by switch."""

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Any

from kvcore.engines.vllm.profile_table import PROFILES
from kvcore.engines.vllm.upgrade import Change, Figures, Upgrade, upgrade
from kvcore.report.json import to_json
from kvcore.request import parse_request
from kvcore.subcommands.arguments import add_request_arguments, request_of
from kvcore.subcommands.streams import ANSWERED, DOES_NOT_FIT, say

NAME = "upgrade"
HELP = "show what another vLLM release does to a deployment, switch by switch"

FIGURES = (
    ("num_gpu_blocks", "blocks in the pool"),
    ("block_bytes", "bytes of one block"),
    ("block_size", "tokens per block"),
    ("blocks_per_request", "blocks of one request"),
    ("tokens", "GPU KV cache size, as logged"),
    ("concurrency", "maximum concurrency, as logged"),
    ("max_model_len_that_fits", "longest request that fits"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the two releases and the request's flags."""
    parser.add_argument("--from", dest="old", required=True, metavar="RELEASE", help="the release before")
    parser.add_argument(
        "--to",
        dest="new",
        default=PROFILES[-1].version,
        metavar="RELEASE",
        help="the release after; default: %(default)s",
    )
    parser.add_argument("--all", action="store_true", help="list switches without effect on this deployment too")
    parser.add_argument("--json", action="store_true", help="print the upgrade as one line of JSON")
    add_request_arguments(parser)


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints both releases' figures and every change between them."""
    found = upgrade(parse_request(request_of(arguments, unknown)), arguments.old, arguments.new)
    say(
        json.dumps(upgrade_json(found), allow_nan=False)
        if arguments.json
        else "\n".join(upgrade_lines(found, every_switch=arguments.all))
    )
    return DOES_NOT_FIT if found.after.fits is False else ANSWERED


def upgrade_json(found: Upgrade) -> dict[str, Any]:
    """An upgrade as plain JSON values."""
    changes = [
        {
            "field": change.switch.field,
            "label": change.switch.label,
            "symbol": change.switch.symbol,
            "old": change.old,
            "new": change.new,
            "has_effect": change.has_effect,
            "before": to_json(change.before),
            "after": to_json(change.after),
        }
        for change in found.changes
    ]
    ends = {"before": to_json(found.before), "after": to_json(found.after)}
    return {
        "from_version": found.from_version,
        "to_version": found.to_version,
        **ends,
        "changes": changes,
        "notes": list(found.notes),
    }


def upgrade_lines(found: Upgrade, *, every_switch: bool = False) -> Iterator[str]:
    """The upgrade as text: both ends, then every change with its figures before and after.

    Args:
        found: The upgrade.
        every_switch: Whether switches without effect on this deployment are listed too.
    """
    yield f"vLLM {found.from_version} → {found.to_version}"
    yield from (f"note: {note}" for note in found.notes)
    for side, figures in ((found.from_version, found.before), (found.to_version, found.after)):
        if figures.refusal:
            yield f"vLLM {side} refuses this deployment: {figures.refusal}"
        elif figures.fits is False:
            yield f"vLLM {side} does not start: one request of max_model_len tokens does not fit"
    yield from _differences(found.before, found.after, "  ")
    changes = found.changes if every_switch else found.effective_changes
    if not changes:
        yield "No switch between these releases changes a figure of this deployment."
    for number, change in enumerate(changes, start=1):
        yield from _change(number, change)


def _change(number: int, change: Change) -> Iterator[str]:
    yield ""
    yield f"{number}. {change.switch.label}: {change.old} → {change.new} (`{change.switch.symbol}`)"
    if change.after.refusal:
        yield f"     refused: {change.after.refusal}"
    yield from _differences(change.before, change.after, "     ")


def _differences(before: Figures, after: Figures, indent: str) -> Iterator[str]:
    width = max(len(label) for _, label in FIGURES)
    for name, label in FIGURES:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield f"{indent}{label.ljust(width)}  {_text(old)} → {_text(new)}"


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else "–"
