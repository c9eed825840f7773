"""The command line that asks the same question, for copying."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kvcore.request_fields import REQUEST_FIELDS

CONFIG_FILE = "config.json"
"""Name the command gives a config that was pasted: the reader saves it under this name."""


def kvcore_command(request: Mapping[str, Any], *question: str, options: Sequence[str] = ()) -> str:
    """Writes a request as a ``kvcore`` command line, quoted for a POSIX shell.

    Args:
        request: Request fields by name; a pasted config becomes the file name ``config.json``.
        question: The subcommand and its question; ``report`` where there are none.
        options: The subcommand's own flags, which stand last.

    Returns:
        One line; fields in the order of the request table, unknown ones left out.
    """
    words = ["kvcore", *(quoted(word) for word in question or ("report",))]
    words += [quoted(str(request["model"]))] if "model" in request else []
    words += [CONFIG_FILE] if "config" in request else []
    for field in REQUEST_FIELDS:
        value = request.get(field.name)
        if value is None or field.name in {"model", "config"}:
            continue
        flag = f"--{field.name.replace('_', '-')}"
        if value is True or value == "true":
            words.append(flag)
        elif value is False or value == "false":
            words.append(f"--no-{flag[2:]}")
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            words += [flag, quoted(text)]
    return " ".join((*words, *map(quoted, options)))


_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


def quoted(word: str) -> str:
    """One word, quoted as ``shlex.quote`` does, whose module a page that only answers need not load."""
    if word and _SAFE.issuperset(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"
