"""Tolerant reading of config.json text: what Python's and PyTorch's writers emit, not only strict JSON."""

import json
from typing import Any

from kvcore.config.nesting import nested_too_deeply
from kvcore.errors import config_error

MAX_CONFIG_CHARACTERS = 50_000_000
"""Longer texts are refused before parsing, so that a wrong file cannot exhaust memory."""


def parse_config(text: str) -> dict[str, Any]:
    """Reads the text of a config.json.

    ``Infinity``, ``-Infinity`` and ``NaN``, which Python writes for time limits and scaling factors, are accepted.

    Args:
        text: The file's text, with or without a byte order mark.

    Returns:
        The top-level object.

    Raises:
        ConfigError: The text is too long, is not JSON, is nested too deeply, or is not an object.
    """
    if len(text) > MAX_CONFIG_CHARACTERS:
        rule = f"a config.json of at most {MAX_CONFIG_CHARACTERS:,} characters is read"
        raise config_error(
            "config", f"{len(text):,} characters", rule, "Give the model's config.json, not its weights."
        )
    if nested_too_deeply(text):
        rule = "the JSON is nested too deeply"
        raise config_error("config", text[:40], rule, "Give the model's config.json unchanged.")
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        rule = f"the text is not JSON ({error})"
        raise config_error("config", text[:40], rule, "Paste the whole file, from { to }.") from None
    if not isinstance(value, dict):
        rule = f"a JSON object is expected, not {type(value).__name__}"
        raise config_error("config", text[:40], rule, "Paste the whole config.json, from { to }.")
    return value
