"""From pasted text to words: a shell line, a container command, or the ``args:`` of a manifest."""

import json
import shlex
from collections.abc import Sequence

from kvcore.errors import input_error

MOST_CHARACTERS = 100_000
_SHELL_ENDS = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "2>&1", "<"})


def split_words(text: str) -> list[str]:
    r"""Splits a pasted command into words.

    Understands shell quoting, ``\`` and ``^`` or backtick line ends, comment lines, JSON lists, and YAML lists
    (``- --flag``, ``args: ["--flag", "value"]``, block scalars).

    Raises:
        InputError: The text is too long or a quotation is not closed.
    """
    if len(text) > MOST_CHARACTERS:
        rule = f"a command of at most {MOST_CHARACTERS:,} characters is read"
        raise input_error("command", text[:40], rule, "Paste the command line alone.")
    listed = _json_list(text)
    if listed is not None:
        return _flatten(listed)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("#", "//"))]
    if _is_yaml_list(lines):
        return _yaml_words(lines)
    return _shell_words(_joined(lines))


def _joined(lines: Sequence[str]) -> str:
    """Joins continued lines: a trailing backslash, caret or backtick; a prompt before the command is dropped."""
    joined = ""
    for line in lines:
        stripped = line.strip()
        continued = stripped.endswith(("\\", "^", "`"))
        joined += (stripped[:-1] if continued else stripped) + " "
    return joined.strip().removeprefix("$ ").removeprefix("> ")


def _shell_words(text: str) -> list[str]:
    try:
        words = shlex.split(text, comments=False, posix=True)
    except ValueError as error:
        raise input_error(
            "command", text[:60], f"the shell quoting is not closed ({error})", "Paste the whole command."
        ) from None
    ends = [number for number, word in enumerate(words) if word in _SHELL_ENDS and _starts_engine(words[:number])]
    return words[: ends[0]] if ends else words


def _starts_engine(words: Sequence[str]) -> bool:
    return any(is_engine_word(word) for word in words)


def is_engine_word(word: str) -> bool:
    """Whether a word names an engine's entry point."""
    return word in {"vllm", "sglang"} or word.endswith(("/vllm", "/sglang")) or word.startswith(("vllm.", "sglang."))


def _json_list(text: str) -> list[object] | None:
    stripped = text.strip()
    _, _, after = stripped.partition("args:")
    candidate = after.strip() if after else stripped
    if not candidate.startswith("["):
        return None
    try:
        value = json.loads(candidate)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _flatten(items: Sequence[object]) -> list[str]:
    """Words of a list; an item that holds a whole command (``sh -c "vllm serve …"``) is split again."""
    words: list[str] = []
    for item in items:
        word = str(item)
        if " " in word and any(is_engine_word(part) for part in word.split()):
            words.extend(_shell_words(_joined(word.splitlines())))
        else:
            words.append(word)
    return words


def _is_yaml_list(lines: Sequence[str]) -> bool:
    items = [line.strip() for line in lines if line.strip()]
    listed = [item for item in items if item.startswith("- ")]
    return (
        bool(listed)
        and len(listed) * 2 >= len(items)
        and any(item[2:].lstrip("'\"").startswith("-") for item in listed)
    )


def _yaml_words(lines: Sequence[str]) -> list[str]:
    words: list[str] = []
    for line in lines:
        item = line.strip()
        if not item.startswith("- "):
            continue
        value = item[2:].strip()
        if value in {"|", ">", "|-", ">-"}:
            continue
        unquoted = _unquoted(value)
        is_flag_with_value = (
            value == unquoted and value.startswith("-") and " " in value and "=" not in value.split()[0]
        )
        words.extend(_shell_words(value) if is_flag_with_value else _flatten([unquoted]))
    return words


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return str(json.loads(value))
        except ValueError:
            return value[1:-1]
    return value.partition(" #")[0].rstrip()
