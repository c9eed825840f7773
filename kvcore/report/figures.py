"""Numbers for reading: thousands separators, binary units, and the figure that ties a number to its report value.

GiB is 1024³ bytes, GB is 10⁹; the engines log GiB, vendors sell GB. The two are never mixed in one figure.
"""

from fractions import Fraction
from math import floor

from kvcore.arithmetic import GIB, KIB, MIB
from kvcore.report.document import Figure

UNKNOWN = "–"

_BINARY_UNITS = ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"))


def grouped(number: float | Fraction, digits: int = 0) -> str:
    """Returns a number with thousands separators; ``digits`` decimals for a ratio.

    Args:
        number: Any exact or floating number.
        digits: Decimals shown, rounded half to even from the exact value.
    """
    if digits == 0:
        return f"{round(number):,}"
    # An exact ratio must not be rounded twice by passing through a float.
    return _decimal(round(Fraction(number) * 10**digits), digits)


def _decimal(shifted: int, digits: int) -> str:
    """A number that was multiplied by so many tens, with its point put back."""
    whole, rest = divmod(abs(shifted), 10**digits)
    return f"{'-' if shifted < 0 else ''}{whole:,}.{rest:0{digits}d}"


def scaled(number: int, unit: int, digits: int = 2) -> str:
    """Returns a byte count in ``unit`` bytes, rounded from the exact ratio."""
    quotient, rest = divmod(number * 10**digits, unit)
    is_up = 2 * rest > unit or (2 * rest == unit and quotient % 2 == 1)
    return _decimal(quotient + is_up, digits)


def byte_unit(number: int) -> tuple[int, str]:
    """Returns the largest binary unit that a byte count reaches, as (bytes per unit, name); plain bytes below 1 KiB."""
    for size, name in _BINARY_UNITS:
        if abs(number) >= size:
            return size, name
    return 1, "B"


def readable_bytes(number: int) -> str:
    """Returns a byte count in the binary unit that suits it, with its unit: ``38.20 GiB``."""
    size, name = byte_unit(number)
    return f"{grouped(number) if size == 1 else scaled(number, size)} {name}"


def count(path: str, value: int | None, unit: str = "") -> Figure:
    """A whole number of things, exact: tokens, blocks, layers."""
    return Figure(path, value, UNKNOWN if value is None else grouped(value), unit if value is not None else "")


def byte_count(path: str, value: int | None) -> Figure:
    """Bytes, exact; for table columns headed "bytes"."""
    return count(path, value)


def sized(path: str, value: int | None) -> Figure:
    """Bytes in the binary unit that suits them; the exact count stays in the figure's value."""
    if value is None:
        return Figure(path, None, UNKNOWN)
    size, name = byte_unit(value)
    return Figure(path, value, grouped(value) if size == 1 else scaled(value, size), name)


def gibibytes(path: str, value: int | None) -> Figure:
    """Bytes in GiB with two decimals, as the engines print memory."""
    if value is None:
        return Figure(path, None, UNKNOWN)
    return Figure(path, value, scaled(value, GIB), "GiB")


def kibibytes(path: str, value: int | None) -> Figure:
    """Bytes in KiB with two decimals; the unit of bytes per token."""
    if value is None:
        return Figure(path, None, UNKNOWN)
    return Figure(path, value, scaled(value, KIB), "KiB")


def times(path: str, value: float | None) -> Figure:
    """Requests at once, with two decimals as vLLM prints its concurrency (``%.2fx``)."""
    return Figure(path, value, UNKNOWN if value is None else f"{value:,.2f}")


def times_at_most(path: str, value: float | None) -> Figure:
    """Requests at once that are promised, cut to two decimals: 79.998 must not read as 80."""
    if value is None:
        return Figure(path, None, UNKNOWN)
    return Figure(path, value, scaled(floor(Fraction(value) * 100), 100))


def share(part: int, whole: int) -> str:
    """Returns a part of a whole in percent with one decimal."""
    return f"{scaled(part * 100, whole, 1)} %" if whole else UNKNOWN
