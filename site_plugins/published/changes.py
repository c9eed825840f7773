"""What changed for readers: models that were added and figures that moved, as an Atom feed and as a page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

from kvcore.report.sections.wording import capitalised
from site_plugins.pages.generated import as_text, front_matter
from site_plugins.published.places import FEED


@dataclass(frozen=True, kw_only=True)
class Change:
    """One entry of the list of changes.

    Attributes:
        id: Name of the entry, never changed once published.
        date: Day, YYYY-MM-DD.
        title: What happened.
        text: Why, in a sentence or two.
        models: Catalogue ids it concerns.
        figure: Report path of the figure that moved, if one did.
        before: That figure before.
        after: And after.
    """

    id: str
    date: str
    title: str
    text: str
    models: tuple[str, ...] = ()
    figure: str = ""
    before: int | float | str | None = None
    after: int | float | str | None = None


def load_changes(file: Path) -> tuple[Change, ...]:
    """Returns the changes of a data file, newest first.

    Raises:
        ValueError: Two entries have the same id, or a figure lacks its value before or after.
    """
    changes = [
        Change(**{**item, "models": tuple(item.get("models", ()))}) for item in json.loads(file.read_text("utf-8"))
    ]
    if len({change.id for change in changes}) != len(changes):
        raise ValueError(f"{file.name}: two changes have the same id; feed readers would take them for one")
    for change in changes:
        if change.figure and (change.before is None or change.after is None):
            raise ValueError(f"{file.name}: {change.id}: a changed figure is given before and after")
    return tuple(sorted(changes, key=lambda change: (change.date, change.id), reverse=True))


def feed(changes: Sequence[Change], site_url: str, site_name: str) -> str:
    """Returns the Atom feed (RFC 4287).

    Args:
        changes: Newest first.
        site_url: Where the site will be published, with a slash at its end.
        site_name: Its name.
    """
    updated = changes[0].date if changes else "1970-01-01"
    entries = "\n".join(_entry(change, site_url) for change in changes)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<title>{escape(site_name)}: changes</title>\n<id>{escape(site_url)}{FEED}</id>\n"
        f'<link rel="self" href="{escape(site_url)}{FEED}"/>\n<link href="{escape(site_url)}changes/"/>\n'
        f"<updated>{updated}T00:00:00Z</updated>\n<author><name>{escape(site_name)}</name></author>\n"
        f"{entries}\n</feed>\n"
    )


def _entry(change: Change, site_url: str) -> str:
    link = f"{escape(site_url)}changes/#{escape(change.id)}"
    return (
        f"<entry>\n<title>{escape(change.title)}</title>\n<id>{link}</id>\n"
        f'<link href="{link}"/>\n<updated>{change.date}T00:00:00Z</updated>\n'
        f"<content>{escape(_words(change))}</content>\n</entry>"
    )


def _words(change: Change) -> str:
    if not change.figure:
        return change.text
    return f"{change.text} {_moved(change)}"


def _moved(change: Change) -> str:
    return f"{capitalised(change.figure)}: {_said(change.before)} before, {_said(change.after)} now."


def _said(value: float | str | None) -> str:
    """A figure as pages show it: two decimals for requests at once, whole numbers in groups of three digits."""
    if value is None or isinstance(value, str):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def changes_page(changes: Sequence[Change], known: frozenset[str]) -> str:
    """Returns the Markdown of the page of changes.

    Args:
        changes: Newest first.
        known: Catalogue ids that have a page.
    """
    meta = {"title": "Changes", "description": "Models added and figures that moved, newest first."}
    parts = [
        front_matter(meta),
        "# Changes\n",
        f"Models added and figures that moved, newest first; also as an [Atom feed]({FEED}).\n",
    ]
    for _, group in groupby(changes, lambda change: (change.date, change.text, change.models)):
        parts += _section(tuple(group), known)
    return "\n".join(parts)


def _section(changes: Sequence[Change], known: frozenset[str]) -> list[str]:
    """One heading for all figures of a model that moved for the same reason on the same day."""
    first, *others = changes
    models = [f"[{as_text(model)}](models/{model}.md)" for model in first.models if model in known]
    links = [f"{', '.join(models)}\n"] if models else []
    if not others:
        return [f"## {as_text(first.title)} {{#{first.id}}}\n", f"{first.date}. {as_text(_words(first))}\n", *links]
    title = first.title.removesuffix(f": {first.figure}")
    # Each figure keeps its anchor, which the feed links.
    figures = "".join(f'<li id="{escape(change.id)}">{escape(_moved(change))}</li>\n' for change in changes)
    return [
        f"## {as_text(title)} {{#{first.id}-all}}\n",
        f"{first.date}. {as_text(first.text)}\n",
        f"<ul>\n{figures}</ul>\n",
        *links,
    ]
