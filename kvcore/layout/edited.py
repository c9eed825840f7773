"""Editing a layout given by hand: its parts as rows, and the layout that stands for the rows after a change.

What an engine derived from the old sizes is forgotten with them, so that its rules work it out again: padded pages, and in
hybrids the block size, which follows from the state one page must hold. What its kernels demand stays.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kvcore.errors import input_error
from kvcore.layout.by_hand import EXPORTED_SUMS, WINDOWED

Object = Mapping[str, Any]

COLUMNS = ("name", "growth", "layers", "entry_bytes", "tokens_per_entry", "window", "copies")
"""What can be changed of a part."""

_WHOLE = frozenset(COLUMNS) - {"name", "growth"}
_SIZES = frozenset({"growth", "entry_bytes", "tokens_per_entry"})
"""Columns a padded page follows from."""

_EXPLANATIONS = frozenset({"formula", "substituted", "source", "entry_bytes_partition"})
_USUAL: Object = {"tokens_per_entry": 1, "copies": 1, "window": None, "draft": False, "dtype": ""}
_STATE_KINDS = frozenset({"", "mamba"})
_DRAFT = " (draft)"
MOST_ROWS = 200


def bare(exported: Object) -> dict[str, Any]:
    """An exported layout as the shortest object that reads back the same: no sums, no explanations, no defaults."""
    kept = {name: value for name, value in exported.items() if name not in (*EXPORTED_SUMS, "parts")}
    return {**kept, "parts": [_bare_part(part) for part in exported["parts"]]}


def _bare_part(part: Object) -> dict[str, Any]:
    kept = {
        name: value
        for name, value in part.items()
        if name not in _EXPLANATIONS and not (name in _USUAL and value == _USUAL[name])
    }
    if kept.get("draft"):  # the export marks drafters in their names too
        kept["name"] = kept["name"].removesuffix(_DRAFT)
    indices = kept.pop("layer_indices", None)
    if indices and list(indices) != list(range(len(indices))):
        kept["layer_indices"] = list(indices)
        kept.pop("layers", None)
    return kept


def rows_of(layout: Object) -> list[dict[str, Any]]:
    """The parts as rows; a value that is not stated is None.

    Raises:
        InputError: The layout has no list of parts, or more than the table shows.
    """
    return [
        {"part": index, **{column: _cell(part, column) for column in COLUMNS}, "draft": part.get("draft") is True}
        for index, part in enumerate(_parts(layout))
    ]


def _cell(part: Object, column: str) -> Any:
    if column == "layers" and isinstance(part.get("layer_indices"), list):
        return len(part["layer_indices"])
    return part.get(column)


def edited(layout: Object, rows: Sequence[Object]) -> dict[str, Any]:
    """The layout that rows stand for.

    Args:
        layout: The layout before the edit.
        rows: One object per part that stays or is new: its :data:`COLUMNS` as typed, and ``part``, the number of the part
            it was, absent for a new one. Texts that are no whole numbers stay as typed, for the request's parser to refuse.

    Raises:
        InputError: The rows or the layout are no lists of objects, or too long.
    """
    before = _parts(layout)
    if len(rows) > MOST_ROWS or not all(isinstance(row, Mapping) for row in rows):
        raise input_error("layout.parts", len(rows), f"at most {MOST_ROWS} parts are edited", "Drop some.")
    pairs = [(_origin(before, row), row) for row in rows]
    parts = [_edited_part(origin, row) for origin, row in pairs]
    if parts == before:
        return dict(layout)
    if any(_is_state(part) for part in (*before, *parts)):
        parts = [_without(part, "page_size_bytes", *(() if _is_ring(part) else ("block_size",))) for part in parts]
    return {**layout, **_depth(layout, parts), "engine": _paging(layout, before, parts), "parts": parts}


def _parts(layout: Object) -> list[Any]:
    parts = layout.get("parts")
    if not isinstance(parts, list) or len(parts) > MOST_ROWS or not all(isinstance(part, Mapping) for part in parts):
        rule = f"a layout with a list of at most {MOST_ROWS} parts is expected"
        raise input_error("layout.parts", parts, rule, "Edit it as JSON.")
    return parts


def _origin(parts: Sequence[Object], row: Object) -> Object:
    index = row.get("part")
    return parts[index] if type(index) is int and 0 <= index < len(parts) else {}


def _edited_part(origin: Object, row: Object) -> dict[str, Any]:
    part = dict(origin)
    changed = set()
    for column in COLUMNS:
        value = _typed(column, row.get(column))
        if value != _cell(origin, column):
            changed.add(column)
            part[column] = value
    if "layers" in changed:
        part.update(_layers(origin, part["layers"]))
    if "growth" in changed:
        # How ranks share a part and how the engine stores it follow from how it grows.
        part = {name: value for name, value in part.items() if name not in {"split", "engine"}}
    if "growth" in changed and part.get("growth") not in WINDOWED:
        part["window"] = None
    if changed & _SIZES:
        part = _without(part, "page_size_bytes")
    return {name: value for name, value in part.items() if value is not None}


def _typed(column: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text:
        return None
    digits = text.replace(",", "").replace(" ", "")
    is_whole = column in _WHOLE and digits.isascii() and digits.isdigit() and len(digits) < 20
    return int(digits) if is_whole else text


def _layers(origin: Object, count: Any) -> dict[str, Any]:
    """As many layers as wanted: the first of the listed ones, or further ones behind the last."""
    indices = origin.get("layer_indices")
    if not isinstance(indices, list) or type(count) is not int or not 0 < count <= 2 * len(indices):
        return {"layer_indices": None, "layers": count}
    longer = [indices[-1] + step for step in range(1, count - len(indices) + 1)]
    return {"layer_indices": [*indices, *longer][:count], "layers": None}


def _is_state(part: Object) -> bool:
    return part.get("growth") == "per_request" and _engine(part).get("kind", "") in _STATE_KINDS


def _is_ring(part: Object) -> bool:
    return part.get("growth") == "per_request" and not _is_state(part)


def _engine(part: Object) -> Object:
    engine = part.get("engine")
    return engine if isinstance(engine, Mapping) else {}


def _without(part: Object, *names: str) -> dict[str, Any]:
    kept = {name: value for name, value in _engine(part).items() if name not in names}
    rest = {name: value for name, value in part.items() if name != "engine"}
    return {**rest, "engine": kept} if kept else rest


def _depth(layout: Object, parts: Sequence[Object]) -> dict[str, Any]:
    """The stated depth, raised where the parts now reach beyond it."""
    stated = layout.get("num_hidden_layers")
    ends = [_end(part) for part in parts if part.get("draft") is not True]
    return {"num_hidden_layers": max([stated, *ends])} if type(stated) is int else {}


def _end(part: Object) -> int:
    indices, count = part.get("layer_indices"), part.get("layers")
    if isinstance(indices, list):
        return max((index + 1 for index in indices if type(index) is int), default=0)
    return count if type(count) is int and count <= 1 << 50 else 0


def _paging(layout: Object, before: Sequence[Object], parts: Sequence[Object]) -> dict[str, Any]:
    """The stated paging without what followed from the parts as they were."""
    engine = dict(layout["engine"]) if isinstance(layout.get("engine"), Mapping) else {}
    engine.pop("pool_bytes_per_block", None)
    if any(_is_state(part) for part in (*before, *parts)):
        engine.pop("block_size", None)
    if sorted(map(_name, before)) != sorted(map(_name, parts)):
        engine.pop("groups", None)
    return engine


def _name(part: Object) -> str:
    return json.dumps(part.get("name"))
