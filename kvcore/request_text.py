"""Request values written as text: what a form's control, an address or a command-line flag stands for."""

import json

from kvcore.config.nesting import nested_too_deeply
from kvcore.config.parse import parse_config
from kvcore.errors import input_error
from kvcore.request_fields import REQUEST_FIELDS

_TYPES = {field.name: field.type for field in REQUEST_FIELDS}
_JSON_TYPES = frozenset({"object", "speculative"})


def value_of_text(name: str, text: str) -> object:
    """Returns the value a text stands for; numbers, switches and lists stay text for the request's own parser.

    Args:
        name: Request field.
        text: As typed. The text of ``config`` is a whole config.json and may hold ``Infinity`` and ``NaN``.

    Raises:
        ConfigError: The text of ``config`` is not a JSON object.
        InputError: The text of another object, or of a list of budgets, is not JSON.
    """
    if name == "config":
        return parse_config(text)
    kind = _TYPES.get(name)
    if kind in _JSON_TYPES or (kind == "budget" and text.lstrip().startswith("[")):
        if nested_too_deeply(text):
            raise input_error(name, text[:40], "the JSON is nested too deeply", "Write a flat JSON value.")
        try:
            return json.loads(text)
        except ValueError as error:
            rule = f"the text is not JSON ({error})"
            raise input_error(name, text, rule, 'Write a JSON value, for example {"key": 1}.') from None
    return text
