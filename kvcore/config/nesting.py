"""A bound on how deep JSON text is nested, checked before it is parsed.

Python's parser recurses once per level. CPython raises ``RecursionError`` in time; in WebAssembly the engine's own
stack ends first, and with it the whole interpreter (seen with 5,000 brackets in Pyodide 314.0.7).
"""

import re

MAX_NESTING = 200
"""Levels accepted; the deepest published config.json has fewer than 10."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{\]}]', re.DOTALL)


def nested_too_deeply(text: str) -> bool:
    """Tells whether the brackets of a JSON text, strings aside, are nested deeper than :data:`MAX_NESTING`."""
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return False
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in {"[", "{"}:
            depth += 1
            if depth > MAX_NESTING:
                return True
        elif token in {"]", "}"}:
            depth -= 1
    return False
