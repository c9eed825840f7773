"""Errors a person can act on: each names the field, its value, the rule and the remedy."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class FieldError:
    """One thing wrong with a request, a config or a deployment.

    Attributes:
        field: Request field or config key, dotted for nested keys (``text_config.num_hidden_layers``).
        value: The offending value in a short printable form.
        rule: What was expected, or which rule of the engine refuses the value.
        remedy: What to change.
    """

    field: str
    value: str
    rule: str
    remedy: str

    @property
    def message(self) -> str:
        """The error as one sentence."""
        return f"{self.field} = {self.value}: {self.rule}. {self.remedy}"


class KvcoreError(Exception):
    """Raised inside kvcore when a question cannot be answered; carries one or more ``FieldError``."""

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(error.message for error in self.errors))


class InputError(KvcoreError):
    """The request itself is not well formed."""


class ConfigError(KvcoreError):
    """The model configuration lacks a fact, contradicts itself, or uses a mechanism kvcore does not know."""


class EngineRefusal(KvcoreError):
    """The engine refuses to start with this combination of settings."""


_SHOWN_CHARACTERS = 80


def shown(value: object) -> str:
    """Returns a short printable form of any value for an error message."""
    text = "(absent)" if value is None else repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def input_error(field: str, value: object, rule: str, remedy: str) -> InputError:
    """Builds an ``InputError`` for one field."""
    return InputError([FieldError(field, shown(value), rule, remedy)])


def config_error(field: str, value: object, rule: str, remedy: str) -> ConfigError:
    """Builds a ``ConfigError`` for one config key."""
    return ConfigError([FieldError(field, shown(value), rule, remedy)])


def refusal(field: str, value: object, rule: str, remedy: str) -> EngineRefusal:
    """Builds an ``EngineRefusal`` for one setting."""
    return EngineRefusal([FieldError(field, shown(value), rule, remedy)])
