"""A line of a log as the engine wrote it: without colours or markup, and out of the JSON that a collector put around it."""

import html
import json
import re

_COLOUR = re.compile(r"(?:\x1b|\\x1b|\\u001b|\\033|\^\[|\u241b)\[[0-9;?]*[A-Za-z]|\[(?:\d{1,3};)*\d{1,3}m")
"""Terminal codes: as bytes, as the texts editors and viewers show for them, and with the escape character lost."""

_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|amp|lt|gt|quot|apos|nbsp);")
_MARKUP = re.compile(r"</?(?:strong|b|em|i|code|span|mark|br|p|pre|td|th|li)\b[^<>]*>|\*\*|`|\\(?=[_*\[\]])")
"""Markup of web pages and of Markdown, and the backslashes that hide it."""

_BEGINNING = re.compile(r"\(\w+ pid=\d+|\b(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b|^\W*\d{4}-\d\d-\d\d[ T]|^\s*$")
"""What only stands in the first part of a line: a process, a level, a time; and an empty line."""

_RANK = re.compile(r"\b(?:DP|TP|PP|EP|PCP)\d+\b")
_MESSAGE_KEYS = ("message", "msg", "MESSAGE", "log", "text", "textPayload", "line", "body")
_AROUND_MESSAGE = ("jsonPayload", "record", "attributes")
_PREFIX_CHARACTERS = 200
_NESTED_COLLECTORS = 3
_LARGEST_BYTE = 255
_WRITTEN_BREAK = re.compile(r"\\n(?=\(\w+ pid=|(?:INFO|WARNING|ERROR|DEBUG) |\[?\d{4}-\d\d-\d\d[ T])")
"""A line break that a string literal holds, in front of what begins a line of an engine."""


def plain_lines(raw: bytes) -> list[str]:
    """The texts of a line: codes and markup removed, and a JSON record replaced by its message, which may have many lines."""
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    for _ in range(_NESTED_COLLECTORS):
        message = _message(text)
        if message is None:
            break
        text = message
    text = _COLOUR.sub("", text)
    if "&" in text and _ENTITY.search(text):
        text = html.unescape(text).replace("\xa0", " ")
    text = _MARKUP.sub("", text)
    if "\\n" in text:
        text = _WRITTEN_BREAK.sub("\n", text)
    return text.rstrip("\n").split("\n")


def begins_a_line(text: str) -> bool:
    """Whether a text is the start of a line of its own, not the rest of one that was broken."""
    return _BEGINNING.search(text) is not None


def rank_of(text: str) -> str:
    """The worker a line names in its prefix, such as ``DP0 TP1``; empty where it names none."""
    return " ".join(dict.fromkeys(_RANK.findall(text[:_PREFIX_CHARACTERS].replace("_", " "))))


def _message(text: str) -> str | None:
    """What a collector's JSON record says; journald, Docker, Kubernetes and loggers each name it differently."""
    start = text.find('{"')
    if start < 0 or start > _PREFIX_CHARACTERS or not text.rstrip().endswith("}"):
        return None
    try:
        record = json.loads(text[start:])
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    for inner in (record, *(record[key] for key in _AROUND_MESSAGE if isinstance(record.get(key), dict))):
        for key in _MESSAGE_KEYS:
            if (said := _said(inner.get(key))) is not None:
                return said
    return None


def _said(value: object) -> str | None:
    """A message; journald exports one that holds terminal codes as a list of its bytes."""
    if isinstance(value, str):
        return value
    if (
        isinstance(value, list)
        and value
        and all(isinstance(item, int) and 0 <= item <= _LARGEST_BYTE for item in value)
    ):
        return bytes(value).decode("utf-8", "replace")
    return None
