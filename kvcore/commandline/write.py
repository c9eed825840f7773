"""A command line out: the engine command that realises a request."""

import json
from collections.abc import Mapping
from typing import Any

from kvcore.request_fields import REQUEST_FIELDS, RequestField

MODEL_PLACEHOLDER = "ORG/NAME"
"""Stands for a model that was pasted as a config.json."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


def engine_command(request: Mapping[str, Any]) -> str:
    """The ``vllm serve`` or ``sglang.launch_server`` command of a request, quoted for a POSIX shell.

    Fields that have no engine flag (a logged budget, an override of kvcore's own) are left out.
    """
    engine = str(request.get("engine", "vllm"))
    model = str(request.get("model", MODEL_PLACEHOLDER))
    start = (
        ["vllm", "serve", model]
        if engine == "vllm"
        else ["python", "-m", "sglang.launch_server", "--model-path", model]
    )
    words = list(start)
    for field in REQUEST_FIELDS:
        value = request.get(field.name)
        if value is not None and field.flag and field.engine in {engine, "both"}:
            words.extend(_flag(field, value))
    return " ".join(quoted(word) for word in words)


def quoted(word: str) -> str:
    """One word, quoted where a shell would read it otherwise."""
    if word and _SAFE.issuperset(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _flag(field: RequestField, value: Any) -> list[str]:
    if field.type == "boolean":
        return [field.flag] if value else [f"--no-{field.flag.removeprefix('--')}"]
    if isinstance(value, Mapping | list | tuple):
        is_names = field.type in {"strings", "integers"}
        return [field.flag, ",".join(map(str, value)) if is_names else json.dumps(value)]
    return [field.flag, str(value)]
