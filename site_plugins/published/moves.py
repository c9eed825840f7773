"""What changed between two builds: models that came and went, and figures that moved, as entries of the list of changes."""

from collections.abc import Iterator, Mapping
from typing import Any

from site_plugins.published.changes import Change

Built = Mapping[str, Any]
"""A ``models.json`` as published."""


def moves(before: Built, after: Built, date: str, why: str) -> tuple[Change, ...]:
    """Returns an entry for the models that came, one for those that went, and one for each figure that moved.

    Args:
        before: The older build's ``models.json``.
        after: The newer build's.
        date: Day of the newer build, YYYY-MM-DD.
        why: What made the figures move, in a sentence.
    """
    old, new = _by_id(before), _by_id(after)
    came, went = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
    found: list[Change] = []
    if came:
        title = f"{len(came)} {_models(len(came))} added"
        found.append(Change(id=f"{date}-added", date=date, title=title, text=_listed(came), models=tuple(came)))
    if went:
        title = f"{len(went)} {_models(len(went))} removed"
        found.append(Change(id=f"{date}-removed", date=date, title=title, text=_listed(went)))
    for model in sorted(new.keys() & old.keys()):
        earlier, later = dict(_figures(old[model])), dict(_figures(new[model]))
        moved = [name for name in later if name in earlier and earlier[name] != later[name]]
        found += [
            Change(
                id=f"{date}-{_anchor(model)}-{_anchor(figure)}",
                date=date,
                title=f"{new[model]['title']}: {figure}",
                text=why,
                models=(model,),
                figure=figure,
                before=_said(earlier[figure]),
                after=_said(later[figure]),
            )
            for figure in moved
        ]
    return tuple(found)


def _figures(model: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The figures of a model by a name that people can read."""
    yield "longest context", model["max_model_len"]
    yield "bytes per request", model["bytes_per_request"]
    for size, value in model["bytes_per_token"].items():
        yield f"bytes per token, {size}", value
    for cell in model["requests"]:
        yield f"requests of {cell['max_model_len']:,} tokens, tp{cell['tensor_parallel_size']}", cell["concurrency"]


def _said(value: Any) -> Any:
    return "refused" if value is None else value


def _listed(models: list[str]) -> str:
    return f"{', '.join(models)}."


def _models(number: int) -> str:
    return "model" if number == 1 else "models"


def _by_id(built: Built) -> dict[str, Mapping[str, Any]]:
    return {model["id"]: model for model in built["models"]}


def _anchor(text: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    return "-".join(words)
