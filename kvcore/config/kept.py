"""Kept facts: what follows from a config alone is worked out once and stays with the config."""

import functools
from collections.abc import Callable
from typing import TypeVar

from kvcore.config.model_config import ModelConfig

Fact = TypeVar("Fact")


def kept(function: Callable[[ModelConfig], Fact]) -> Callable[[ModelConfig], Fact]:
    """Keeps what a function of a config returns with that config, whose object nobody changes; errors are not kept."""

    @functools.wraps(function)
    def once(config: ModelConfig) -> Fact:
        if function not in config.facts:
            config.facts[function] = function(config)
        fact: Fact = config.facts[function]
        return fact

    return once
