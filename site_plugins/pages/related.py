"""Related models: the same family, else the same mechanism with nearly the same bytes per token."""

from collections.abc import Sequence
from heapq import nsmallest

from kvcore.catalog import ModelEntry
from site_plugins.pages.generated import as_text
from site_plugins.pages.summary import Summary

_MOST = 6


def related_section(entry: ModelEntry, summary: Summary, models: Sequence[tuple[ModelEntry, Summary]]) -> str:
    """Returns a section of links to related models as Markdown; empty where there are none.

    Args:
        entry: The model of the page.
        summary: Its summary.
        models: Every model.
    """
    others = [(other, its) for other, its in models if other.id != entry.id and its.kind == summary.kind]
    others += [(other, its) for other, its in models if other.family == entry.family and its.kind != summary.kind]
    nearest = nsmallest(_MOST, others, key=lambda item: _distance(entry, summary, *item))
    if not nearest:
        return ""
    links = " · ".join(f"[{as_text(other.title)}](../{other.id}.md)" for other, _ in nearest)
    return f"\n## Related models {{#related}}\n\n{links}\n"


def _distance(entry: ModelEntry, summary: Summary, other: ModelEntry, its: Summary) -> tuple[bool, bool, int, str]:
    own, theirs = summary.bytes_per_token or 0, its.bytes_per_token or 0
    return other.family != entry.family, other.organisation != entry.organisation, abs(own - theirs), other.id
