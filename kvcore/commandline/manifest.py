"""The command inside a manifest: what Compose and Kubernetes files say under ``command:`` and ``args:``.

Only these keys are read, wherever they stand; the rest of the file is left aside. No YAML library is at hand at run time,
and none is needed for the three forms commands are written in: a scalar, a list in brackets, a list of lines.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from kvcore.commandline.environment import assigned_in

_KEY = re.compile(r"^(?P<indent>\s*(?:-\s+)?)(?P<key>entrypoint|command|args|image)\s*:(?:\s+(?P<value>.*))?$")
_BLOCK = re.compile(r"[|>][+-]?\d?")
_ITEM = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^,\[\]]+")


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a manifest says of one container.

    Attributes:
        image: Its image; empty where none is named.
        environment: Its engine's environment variables, as ``NAME=value``.
        items: The items under ``entrypoint``, ``command`` and ``args``, in this order.
    """

    image: str
    environment: tuple[str, ...]
    items: tuple[str, ...]


def read_manifest(lines: Sequence[str]) -> Manifest | None:
    """The first container's command; None where the text is no manifest with one."""
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines):
        match = _KEY.match(line)
        if match is None or match["key"] in found:
            continue
        found[match["key"]] = _value((match["value"] or "").strip(), len(match["indent"]), lines[number + 1 :])
    items = tuple(item for key in ("entrypoint", "command", "args") for item in found.get(key, ()))
    if not items:
        return None
    return Manifest(image=" ".join(found.get("image", ())), environment=assigned_in(lines), items=items)


def _value(inline: str, indent: int, following: Sequence[str]) -> tuple[str, ...]:
    inline = _without_comment(inline)
    if inline.startswith("["):
        return _bracketed(inline, following)
    deeper = _deeper(indent, following)
    if _BLOCK.fullmatch(inline):
        return ("\n".join(line.strip() for line in deeper),)
    if inline:
        # A plain scalar may go on over lines that stand deeper.
        return (unquoted(" ".join((inline, *(line.strip() for line in deeper)))),)
    return _listed(deeper)


def _bracketed(inline: str, following: Sequence[str]) -> tuple[str, ...]:
    lines = [inline]
    for line in following:
        if _closed(lines[-1]):
            break
        lines.append(line.strip())
    text = " ".join(lines)
    return tuple(item for item in map(unquoted, map(str.strip, _ITEM.findall(text.strip()[1:]))) if item)


def _closed(text: str) -> bool:
    return "]" in re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'", "", text)


def _deeper(indent: int, following: Sequence[str]) -> list[str]:
    """The lines that belong to a key: those that stand deeper, and list items at its own depth."""
    own: list[str] = []
    for line in following:
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        is_item = line.lstrip().startswith("- ") and depth == indent
        if depth <= indent and not is_item:
            break
        own.append(line)
    return own


def _listed(lines: Sequence[str]) -> tuple[str, ...]:
    """Items of a list of lines; an item's own block of lines is one item."""
    items: list[str] = []
    for number, line in enumerate(lines):
        stripped = line.strip()
        if not stripped.startswith("- "):
            continue
        text = _without_comment(stripped[2:].strip())
        if _BLOCK.fullmatch(text):
            depth = len(line) - len(line.lstrip())
            text = "\n".join(inner.strip() for inner in _deeper(depth + 1, lines[number + 1 :]))
        items.append(unquoted(text))
    return tuple(items)


def _without_comment(text: str) -> str:
    return text if text[:1] in {"'", '"'} else text.partition(" #")[0].rstrip()


def unquoted(text: str) -> str:
    """A YAML scalar without its quotes."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            return text[1:-1]
    return text
