"""Module names: whether a checkpoint's list of unquantized modules names a module of the engine.

Checkpoint and engine wrap the same path differently (``model.language_model.layers.0`` against
``language_model.model.layers.0``), so every path is looked up in all its spellings.
"""

import fnmatch
import functools
import re
from collections.abc import Callable, Sequence

WRAPPERS = ("model.", "language_model.", "thinker.", "backbone.", "llm.", "transformer.")
"""Path prefixes that say nothing about the module."""

SPELLINGS = (
    "",
    "model.",
    "model.language_model.",
    "language_model.model.",
    "language_model.",
    "thinker.model.",
    "backbone.",
)
"""Prefixes a checkpoint may put before a bare path."""

Matcher = Callable[[str], bool]
"""Whether a module path is named."""


@functools.lru_cache(maxsize=4096)
def spellings(path: str) -> tuple[str, ...]:
    """The path as checkpoints may write it."""
    bare = path
    while wrapper := next((prefix for prefix in WRAPPERS if bare.startswith(prefix)), None):
        bare = bare.removeprefix(wrapper)
    return (path, *(prefix + bare for prefix in SPELLINGS))


def exact(entries: Sequence[str]) -> Matcher:
    """Names whole modules (vLLM 0.33.0 `is_layer_skipped`)."""
    known = frozenset(entries)
    return lambda path: not known.isdisjoint(spellings(path))


def suffix(entries: Sequence[str]) -> Matcher:
    """Names modules wholly or by the end of their path (vLLM 0.33.0 `is_layer_skipped`, match mode suffix)."""
    known = tuple(f".{entry}" for entry in entries)
    whole = exact(entries)
    return lambda path: whole(path) or path.endswith(known)


def containing(entries: Sequence[str]) -> Matcher:
    """Names modules by any part of their path (vLLM 0.33.0 `is_layer_skipped`, match mode substring)."""
    known = tuple(entries)

    def named(path: str) -> bool:
        spelled = "\n".join(spellings(path))
        return any(entry in spelled for entry in known)

    return named


def wildcard(entries: Sequence[str]) -> Matcher:
    """Names modules by patterns, subtrees or parts (vLLM 0.33.0 `ModelOptQuantConfigBase.is_layer_excluded`).

    A pattern that ends in ``*`` without a dot before it stands for the module and everything below.
    """
    parts = [
        entry.removesuffix("*") if entry.endswith("*") and not entry.endswith(".*") else entry for entry in entries
    ]
    inside = containing([part for part in parts if part and "*" not in part])
    starts = tuple(entry[:-1] for entry in entries if entry.find("*") == len(entry) - 1)
    patterns = tuple(re.compile(fnmatch.translate(entry)) for entry in entries if "*" in entry[:-1])

    def named(path: str) -> bool:
        spelled = spellings(path)
        if any(spelling.startswith(starts) for spelling in spelled) or inside(path):
            return True
        return any(pattern.match(spelling) for spelling in spelled for pattern in patterns)

    return named


def regular(entries: Sequence[str]) -> Matcher:
    """Names modules wholly, or by a regular expression after ``re:`` (compressed-tensors)."""
    patterns = tuple(re.compile(entry.removeprefix("re:")) for entry in entries if entry.startswith("re:"))
    whole = exact([entry for entry in entries if not entry.startswith("re:")])
    return lambda path: (
        whole(path) or any(pattern.match(spelling) for spelling in spellings(path) for pattern in patterns)
    )
