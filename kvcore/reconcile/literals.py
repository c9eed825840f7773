"""Arguments as engines print them: ``{'name': value, …}`` or ``name=value, …``, whole or cut off in the middle.

A printed list may hold anything (objects, templates) and may stop anywhere; what cannot be read as a plain value is kept
as its text, and nothing is ever evaluated.
"""

import re
from typing import Any

_WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$")
_OPENING, _CLOSING = "([{", ")]}"
MOST_CHARACTERS = 100_000
MOST_LEVELS = 40


class _CutOff(Exception):
    """The text ended in the middle of a value."""


def read_arguments(text: str, separator: str) -> tuple[dict[str, Any], bool]:
    """Reads a list of arguments from just behind its opening bracket.

    Args:
        text: The rest of the line.
        separator: ``:`` for a dict, ``=`` for keyword arguments.

    Returns:
        The values by name, and whether the list was complete; where it was not, its last value is dropped.
    """
    scanner = _Scanner(text[:MOST_CHARACTERS])
    values: dict[str, Any] = {}
    try:
        while not scanner.at_end():
            name = scanner.name(separator)
            if name is None:
                return values, True
            values[name] = scanner.value(0)
            scanner.skip(", ")
    except _CutOff:
        return values, False
    # Keyword arguments may end with the line; a dict must be closed.
    return values, separator == "="


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def at_end(self) -> bool:
        return self.at >= len(self.text)

    def skip(self, characters: str) -> None:
        while not self.at_end() and self.text[self.at] in characters:
            self.at += 1

    def name(self, separator: str) -> str | None:
        """The next name; None where the list ends here."""
        self.skip(", ")
        if self.at_end():
            raise _CutOff
        if self.text[self.at] in _CLOSING:
            return None
        end = self.text.find(separator, self.at)
        if end < 0:
            raise _CutOff
        name = self.text[self.at : end].strip().strip("'\"")
        self.at = end + len(separator)
        return name

    def value(self, level: int) -> Any:
        self.skip(" ")
        if self.at_end():
            raise _CutOff
        first = self.text[self.at]
        if first in "'\"":
            return self._quoted(first)
        if first == "{" and level < MOST_LEVELS:
            return self._mapping(level)
        if first in "[(" and level < MOST_LEVELS:
            return self._list(level)
        return self._bare()

    def _quoted(self, quote: str) -> str:
        at = self.at + 1
        pieces = []
        while at < len(self.text):
            character = self.text[at]
            if character == "\\":
                pieces.append(self.text[at + 1 : at + 2])
                at += 2
                continue
            if character == quote:
                self.at = at + 1
                return "".join(pieces)
            pieces.append(character)
            at += 1
        raise _CutOff

    def _mapping(self, level: int) -> dict[str, Any]:
        self.at += 1
        values: dict[str, Any] = {}
        while True:
            name = self.name(":")
            if name is None:
                self.at += 1
                return values
            values[name] = self.value(level + 1)

    def _list(self, level: int) -> list[Any]:
        self.at += 1
        values: list[Any] = []
        while True:
            self.skip(", ")
            if self.at_end():
                raise _CutOff
            if self.text[self.at] in _CLOSING:
                self.at += 1
                return values
            values.append(self.value(level + 1))

    def _bare(self) -> Any:
        """A word, a number, or an object such as ``SpeculativeConfig(method='mtp', …)`` as its text."""
        start, depth, quote = self.at, 0, ""
        while not self.at_end():
            character = self.text[self.at]
            if quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            elif character in _OPENING:
                depth += 1
            elif character in _CLOSING:
                if depth == 0:
                    break
                depth -= 1
            elif character == "," and depth == 0:
                break
            self.at += 1
        if self.at_end() and (depth or quote):
            raise _CutOff
        word = self.text[start : self.at].strip()
        if word in _WORDS:
            return _WORDS[word]
        if _NUMBER.match(word):
            return int(word) if word.lstrip("-").isdigit() else float(word)
        return word
