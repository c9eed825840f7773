"""Releases × switches: which release plans by which rule, what each switch decides, and where it was read."""

from collections.abc import Sequence
from itertools import groupby, pairwise

from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.profile_table import PROFILES
from kvcore.engines.vllm.switches import SWITCHES, Switch
from kvcore.report.document import Code, Column, Inline, Link, Row, Strong, Table, Text

MARKS = "abcdefghijklmnopqrstuvwxyz"
"""Stand for values that take a sentence, in the order in which releases took them."""

BETWEEN = " · "
"""Between items of a cell; their own words hold commas and semicolons."""


def anchor(switch: Switch) -> str:
    """Returns the place on the page where a switch is explained."""
    return f"switch-{switch.field}"


def switch_link(switch: Switch) -> Link:
    """Returns a link to a switch's explanation."""
    return Link(switch.label, f"#{anchor(switch)}")


def release_table(profiles: Sequence[Profile] = PROFILES, switches: Sequence[Switch] = SWITCHES) -> Table:
    """Returns every switch of every release, the newest first; a value new in a release is set off from one that stayed.

    Args:
        profiles: Releases, oldest first.
        switches: Rows.
    """
    columns = (Column("Switch"), *(Column(profile.version) for profile in reversed(profiles)))
    rows = tuple(Row(((switch_link(switch),), *reversed(_values(switch, profiles)))) for switch in switches)
    caption = f"{len(switches)} switches in {len(profiles)} releases of vLLM, the newest first; bold where a release changed one"
    return Table(caption, columns, rows, id="releases")


def _values(switch: Switch, profiles: Sequence[Profile]) -> list[Text]:
    marks = _marks(switch, profiles)
    shown: list[Text] = []
    before: str | None = None
    for profile in profiles:
        words = switch.words(profile)
        is_new = before is not None and words != before
        shown.append((Strong(marks[words]),) if is_new else (marks[words],))
        before = words
    return shown


def _marks(switch: Switch, profiles: Sequence[Profile]) -> dict[str, str]:
    """What stands in the table for each value: itself where it is a yes, a no or a number, else a letter."""
    words = list(dict.fromkeys(switch.words(profile) for profile in profiles))
    if isinstance(switch.value_of(profiles[0]), str | frozenset):
        return dict(zip(words, MARKS, strict=False))
    return {value: value for value in words}


def meaning_table(profiles: Sequence[Profile] = PROFILES, switches: Sequence[Switch] = SWITCHES) -> Table:
    """Returns what each switch decides, its values with the release each began with, and its source.

    Args:
        profiles: Releases, oldest first.
        switches: Rows; each is the target of :func:`switch_link`.
    """
    columns = (Column("Switch"), Column("Its value from each release on"), Column("Read from"))
    rows = tuple(
        Row(((switch.label,), _history(switch, profiles), (Code(switch.symbol),)), id=anchor(switch))
        for switch in switches
    )
    return Table(
        "What each switch decides, and the symbol of the engine it was read from", columns, rows, id="switches"
    )


def _history(switch: Switch, profiles: Sequence[Profile]) -> Text:
    marks = _marks(switch, profiles)
    history: list[Inline] = []
    for words, run in groupby(profiles, key=switch.words):
        history.append(f"{BETWEEN if history else ''}{next(run).version}: ")
        history += [Strong(marks[words]), f" {words}"] if marks[words] != words else [words]
    return tuple(history)


def change_table(profiles: Sequence[Profile] = PROFILES, switches: Sequence[Switch] = SWITCHES) -> Table:
    """Returns what each release changed since the one before, the newest first.

    Args:
        profiles: Releases, oldest first.
        switches: What is compared.
    """
    pairs = reversed(list(pairwise(profiles)))
    rows = tuple(Row(((newer.version,), _changes(older, newer, switches))) for older, newer in pairs)
    columns = (Column("Release"), Column("Switch: before → after"))
    return Table("What each release changed since the one before it", columns, rows, id="changes")


def _changes(older: Profile, newer: Profile, switches: Sequence[Switch]) -> Text:
    changed = [switch for switch in switches if switch.value_of(older) != switch.value_of(newer)]
    content: list[Inline] = []
    for switch in changed:
        content += [BETWEEN] if content else []
        content += [switch_link(switch), f": {switch.words(older)} → {switch.words(newer)}"]
    return tuple(content) or ("nothing that a figure depends on",)
