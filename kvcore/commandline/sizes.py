"""Numbers with a suffix, as vLLM's flags take them: 32k, 1M, 20GiB."""

import re

from kvcore.errors import input_error

_SUFFIXES = {
    "": 1,
    "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
    "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
"""Small letters are decimal, capital letters binary (vLLM 0.33.0 `human_readable_int`)."""

_NUMBER = re.compile(r"(-?\d{1,20})(?:\.(\d{1,6}))?([A-Za-z]{0,3})")


def bytes_of(field: str, text: str) -> int | str:
    """Reads a whole number with an optional suffix; ``auto`` stays as it is.

    Raises:
        InputError: The text is no number, or the suffix leaves a fraction.
    """
    stripped = text.strip().replace("_", "")
    if stripped == "auto":
        return stripped
    match = _NUMBER.fullmatch(stripped)
    if match is None:
        raise input_error(
            field, text, "a whole number, perhaps with k, M or GiB behind it, is expected", "Write 32768."
        )
    whole, fraction, suffix = match.group(1), match.group(2) or "", match.group(3)
    factor = _SUFFIXES.get(suffix, _SUFFIXES.get(suffix.lower()))
    scaled: int | None = None if factor is None else int(whole + fraction) * factor
    scale: int = 10 ** len(fraction)
    if scaled is None or scaled % scale:
        raise input_error(field, text, "this suffix does not give a whole number", "Write the number out.")
    return scaled // scale
