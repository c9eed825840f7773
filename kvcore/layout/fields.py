"""Fields: checked reading of a JSON object, field by field, with errors that name the path."""

from collections.abc import Mapping, Sequence
from typing import Any

from kvcore.errors import FieldError, InputError, input_error, shown

MAX_WHOLE = 1 << 50
MAX_ITEMS = 10_000
_REMEDY = "Give it as `kvcore layout --json` prints it."


class Fields:
    """Reads the fields of one object and remembers which were read, so that unknown ones are refused."""

    def __init__(self, source: Mapping[str, Any], path: str) -> None:
        """Wraps an object.

        Args:
            source: The JSON object.
            path: Where it stands, for error messages.
        """
        self._source = source
        self._path = path
        self._read: set[str] = set()

    def whole(self, name: str, default: int | None, *, minimum: int = 1, maximum: int = MAX_WHOLE) -> int | None:
        """A whole number, or the default where the field is absent.

        Raises:
            InputError: It is not a whole number in range.
        """
        value = self._take(name)
        return default if value is None else self._whole(name, value, minimum, maximum)

    def required_whole(self, name: str) -> int:
        """A whole number that must be stated."""
        value = self.whole(name, None)
        if value is None:
            raise self._wrong(name, None, "a whole number is expected")
        return value

    def wholes(self, name: str) -> tuple[int, ...]:
        """One whole number or a list of them; empty where the field is absent."""
        value = self._take(name)
        if value is None:
            return ()
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(self._whole(name, item, 1) for item in items)

    def indices(self, name: str, *, maximum: int = MAX_WHOLE) -> tuple[int, ...] | None:
        """A list of layer indices, or None where the field is absent or empty."""
        value = self._take(name)
        if value is None or value in ([], ()):
            return None
        if not isinstance(value, list | tuple) or len(value) > MAX_ITEMS:
            raise self._wrong(name, value, "a list of layer indices is expected")
        return tuple(self._whole(name, item, 0, maximum) for item in value)

    def text(self, name: str, default: str | None = None) -> str:
        """A text; must be stated where there is no default."""
        value = self._take(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(name, value, "a non-empty text is expected")
        return value[:200]

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty where the field is absent."""
        value = self._take(name)
        if value is None:
            return ()
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise self._wrong(name, value, "a list of names is expected")
        return tuple(value)

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        """One of several texts."""
        value = self.text(name, default)
        if value not in choices:
            raise self._wrong(name, value, f"must be one of {', '.join(choices)}")
        return value

    def flag(self, name: str) -> bool:
        """True or false; false where the field is absent."""
        value = self._take(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        raise self._wrong(name, value, "true or false is expected")

    def mapping(self, name: str) -> Mapping[str, Any]:
        """A nested object; empty where the field is absent."""
        value = self._take(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self._wrong(name, value, "an object is expected")
        return value

    def items(self, name: str, *, required: bool = False) -> Sequence[Mapping[str, Any]]:
        """A list of objects; empty where the field is absent and not required."""
        value = self._take(name)
        if value is None and not required:
            return ()
        is_list = isinstance(value, list | tuple) and len(value) <= MAX_ITEMS
        if not is_list or not all(isinstance(item, Mapping) for item in value) or (required and not value):
            raise self._wrong(name, value, "a list of objects is expected")
        return list(value)

    def skip(self, name: str) -> None:
        """Accepts a field without reading it."""
        self._read.add(name)

    def finish(self) -> None:
        """Refuses fields that were not read.

        Raises:
            InputError: One error per unknown field.
        """
        unknown = [name for name in self._source if name not in self._read]
        if unknown:
            known = ", ".join(sorted(self._read))
            errors = [
                FieldError(
                    f"{self._path}.{str(name)[:80]}", shown(self._source[name]), f"the fields are {known}", _REMEDY
                )
                for name in unknown
            ]
            raise InputError(errors)

    def _take(self, name: str) -> Any:
        self._read.add(name)
        return self._source.get(name)

    def _whole(self, name: str, value: Any, minimum: int, maximum: int = MAX_WHOLE) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise self._wrong(name, value, f"a whole number from {minimum:,} to {maximum:,} is expected")
        return value

    def _wrong(self, name: str, value: Any, rule: str) -> InputError:
        return input_error(f"{self._path}.{name}", value, rule, _REMEDY)
