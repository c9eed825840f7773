"""A line of a log as the engine wrote it: without colours, and out of the JSON that a collector put around it."""

import json
import re

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_RANK = re.compile(r"\b(?:DP|TP|PP|EP|PCP)\d+\b")
_MESSAGE_KEYS = ("message", "msg", "MESSAGE", "log", "text", "textPayload", "line", "body")
_PREFIX_CHARACTERS = 200
_NESTED_COLLECTORS = 3


def plain_line(raw: bytes) -> str:
    """The text of a line: colours and control codes removed, and a JSON record replaced by its message."""
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    for _ in range(_NESTED_COLLECTORS):
        message = _message(text)
        if message is None:
            break
        text = message
    return _COLOUR.sub("", text)


def rank_of(text: str) -> str:
    """The worker a line names in its prefix, such as ``DP0 TP1``; empty where it names none."""
    return " ".join(dict.fromkeys(_RANK.findall(text[:_PREFIX_CHARACTERS].replace("_", " "))))


def _message(text: str) -> str | None:
    """What a collector's JSON record says; journald, Docker, Kubernetes and loggers each name it differently."""
    start = text.find("{")
    if start < 0 or '"' not in text or not text.rstrip().endswith("}") or text[:start].strip():
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    return next((record[key] for key in _MESSAGE_KEYS if isinstance(record.get(key), str)), None)
