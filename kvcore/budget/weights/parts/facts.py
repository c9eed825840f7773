"""Small readers the blocks share: flags that are fixed or stand in the config, and sizes with a default."""

from collections.abc import Callable

from kvcore.budget.weights.modules import Module
from kvcore.config import ModelConfig

LayerBlock = Callable[[ModelConfig, int], tuple[Module, ...]]
"""Modules one block contributes to the layer of an index."""

ModelBlock = Callable[[ModelConfig], tuple[Module, ...]]
"""Modules one block contributes outside the layers."""

Flag = bool | str
"""A fixed truth, or the config key that states it.

``key|other`` names several keys, any of which makes it true; ``key=true`` is the default of configs without the key.
"""

Size = int | str
"""A fixed size, or the config key that states it.

``key|other`` names keys in order of preference; ``key=4096`` gives the class default of configs without the key.
"""


def flag(config: ModelConfig, given: Flag) -> bool:
    """The truth of a flag."""
    if isinstance(given, bool):
        return given
    keys, _, default = given.partition("=")
    stated = [value for key in keys.split("|") if (value := config.get(key)) is not None]
    return any(bool(value) for value in stated) if stated else default == "true"


def size(config: ModelConfig, given: Size) -> int:
    """The value of a size.

    Raises:
        ConfigError: No key of the size is in the config.
    """
    if isinstance(given, int):
        return given
    names, _, default = given.partition("=")
    keys = names.split("|")
    for key in keys:
        value = config.optional_integer(key)
        if value is not None:
            return value
    if default:
        return int(default)
    raise config.missing(keys[0])
