"""From pasted text to words: a shell line, a container command, or the ``args:`` of a manifest."""

import json
import re
import shlex
from collections.abc import Sequence

from kvcore.commandline.environment import assigned
from kvcore.commandline.manifest import Manifest, read_manifest, unquoted
from kvcore.errors import input_error

MOST_CHARACTERS = 100_000
_SHELL_ENDS = frozenset({"|", "||", "&&", ";", "&", "<"})
_REDIRECTION = re.compile(r"\d?&?>.*")
_LONG_DASH = re.compile(r"-*[\u2010-\u2015\u2212][-\u2010-\u2015\u2212]*(?=[A-Za-z])")
_SHORT_FLAG = 3
"""Letters of the longest flag that takes one dash."""


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
    manifest = read_manifest(lines)
    if manifest is not None:
        return _manifest_words(manifest)
    if _is_yaml_list(lines):
        return _yaml_words(lines)
    return _shell_words(_joined(lines))


def _manifest_words(manifest: Manifest) -> list[str]:
    """The words of a container's command; an image that names its engine stands for the program where none is named."""
    if len(manifest.items) == 1:
        words = _shell_words(_joined(manifest.items[0].splitlines()))
    else:
        words = [word for item in manifest.items for word in _item_words(item)]
    return [*manifest.environment, *manifest.image.split(), *words]


def _joined(lines: Sequence[str]) -> str:
    """Joins continued lines: a trailing backslash, caret or backtick; comments and a prompt before the command are dropped."""
    joined = ""
    for line in _without_comments("\n".join(lines)).splitlines():
        stripped = line.strip()
        continued = stripped.endswith(("\\", "^", "`"))
        joined += (stripped[:-1] if continued else stripped) + " "
    return joined.strip().removeprefix("$ ").removeprefix("> ")


def _without_comments(text: str) -> str:
    """A shell's text without comments: from a ``#`` at the start of a word, outside quotes, to the end of the line."""
    kept: list[str] = []
    quote, number = "", 0
    while number < len(text):
        character = text[number]
        if character == "\\" and quote != "'":
            kept.append(text[number : number + 2])
            number += 2
            continue
        if not quote and character == "#" and (number == 0 or text[number - 1].isspace()):
            end = text.find("\n", number)
            number = len(text) if end < 0 else end
            continue
        if character in "'\"" and quote in {"", character}:
            quote = "" if quote else character
        kept.append(character)
        number += 1
    return "".join(kept)


def _with_plain_dashes(word: str) -> str:
    """A flag as it was before a text program made one long dash of its two."""
    match = _LONG_DASH.match(word)
    if match is None:
        return word
    name = word[match.end() :]
    return ("-" if len(name.partition("=")[0]) <= _SHORT_FLAG else "--") + name


def _shell_words(text: str) -> list[str]:
    try:
        words = shlex.split(text, comments=False, posix=True)
    except ValueError as error:
        raise input_error(
            "command", text[:60], f"the shell quoting is not closed ({error})", "Paste the whole command."
        ) from None
    return _engine_command(_flatten(words))


def _engine_command(words: Sequence[str]) -> list[str]:
    """Of several commands the one that starts an engine; ``pip install vllm`` does not."""
    commands: list[list[str]] = [[]]
    for word in map(_with_plain_dashes, words):
        is_end = word in _SHELL_ENDS or _REDIRECTION.fullmatch(word) is not None
        if not is_end:
            commands[-1].append(word.removesuffix(";"))
        if is_end or word.endswith(";"):
            commands.append([])
    for starts in (_serves, _starts_engine):
        chosen = next((number for number, command in enumerate(commands) if starts(command)), None)
        if chosen is not None:
            before = [word for command in commands[:chosen] for word in assigned(command)]
            return [*before, *commands[chosen]]
    return list(words)


def _serves(words: Sequence[str]) -> bool:
    """Whether an engine's program is followed by its verb, or is a module with one."""
    return any(
        is_engine_word(word) and (word.count(".") > 0 or words[number + 1 : number + 2] == ["serve"])
        for number, word in enumerate(words)
    )


def _starts_engine(words: Sequence[str]) -> bool:
    return any(is_engine_word(word) for word in words)


def is_engine_word(word: str) -> bool:
    """Whether a word names an engine's entry point."""
    return word in {"vllm", "sglang"} or word.endswith(("/vllm", "/sglang")) or word.startswith(("vllm.", "sglang."))


def _json_list(text: str) -> list[object] | None:
    candidate = text.strip().removeprefix("args:").lstrip()
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
        if value not in {"|", ">", "|-", ">-"}:
            words.extend(
                _item_words(unquoted(value.partition(" #")[0].rstrip() if value[:1] not in {"'", '"'} else value))
            )
    return words


def _item_words(item: str) -> list[str]:
    """The words of one item: ``--flag value`` in one item is two."""
    is_flag_with_value = item.startswith("-") and " " in item and "=" not in item.split(maxsplit=1)[0]
    return _shell_words(_joined(item.splitlines())) if is_flag_with_value else _flatten([item])
