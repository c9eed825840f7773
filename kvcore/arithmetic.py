"""Whole-number arithmetic the engines share, and the two families of byte units."""

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
GB = 10**9


def cdiv(dividend: int, divisor: int) -> int:
    """Returns the quotient rounded up."""
    return -(-dividend // divisor)


def round_up(value: int, multiple: int) -> int:
    """Returns the smallest multiple of ``multiple`` that is at least ``value``."""
    return cdiv(value, multiple) * multiple
