"""The inputs of a sweep as a person writes them: ``max_model_len=8192,32768`` or ``max_model_len=1024..16384:1024``."""

import math
from typing import Any

from kvcore.errors import input_error
from kvcore.questions.sweep import MOST_POINTS
from kvcore.request_text import value_of_text


def axis(text: str) -> tuple[str, list[Any]]:
    """Reads ``field=a,b,c`` or ``field=first..last:step``.

    Raises:
        InputError: The text is of neither form, or the range holds more values than are swept.
    """
    name, separator, values = text.partition("=")
    if not separator or not values:
        raise input_error("over", text, "FIELD=VALUES is expected", "Write max_model_len=8192,32768.")
    name = name.strip().replace("-", "_")
    if ".." not in values:
        return name, [_number(value_of_text(name, value.strip())) for value in values.split(",")]
    first, _, rest = values.partition("..")
    last, _, step = rest.partition(":")
    try:
        numbers = range(int(first), int(last) + 1, int(step or 1))
    except ValueError:
        remedy = "Write max_model_len=1024..16384:1024."
        raise input_error("over", text, "a range first..last:step of whole numbers is expected", remedy) from None
    # Slicing instead of len(): the length of a huge range does not fit the index type of a 32-bit Python.
    if len(numbers[: MOST_POINTS + 1]) > MOST_POINTS:
        raise input_error("over", text, f"at most {MOST_POINTS:,} values are swept", "Choose a larger step.")
    return name, list(numbers)


def _number(value: object) -> object:
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            continue
        # What no JSON can carry stays as it was written, for the question to refuse.
        return number if kind is int or math.isfinite(number) else value
    return {"true": True, "false": False}.get(value.lower(), value)
