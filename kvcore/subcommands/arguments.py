"""Request fields as command-line flags: one flag per row of the request table, named as the engine names it."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kvcore.errors import FieldError, InputError, KvcoreError
from kvcore.request_fields import REQUEST_FIELDS, RequestField
from kvcore.request_text import value_of_text
from kvcore.subcommands.streams import STANDARD_INPUT, read_text

GROUP_TITLES = {
    "model": "model and engine",
    "hardware": "hardware",
    "parallelism": "parallelism",
    "lengths": "lengths and batches",
    "cache": "cache",
    "budget": "memory budget, per GPU",
    "advanced": "advanced",
}
FILE_FIELDS = frozenset({"config", "layout"})
"""Fields whose flag takes a file."""


def add_request_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the subject and one flag per request field; flags left out are left out of the request."""
    parser.add_argument(
        "subject",
        nargs="?",
        metavar="MODEL_OR_CONFIG",
        help="catalogue id (organisation/name), path of a config.json or of an exported layout, or - for standard input",
    )
    groups = {name: parser.add_argument_group(title) for name, title in GROUP_TITLES.items()}
    for field in REQUEST_FIELDS:
        _add_flag(groups[field.group], field)


def flag(name: str) -> str:
    """The flag of a request field."""
    return f"--{name.replace('_', '-')}"


def request_of(arguments: argparse.Namespace, unknown: Sequence[str]) -> dict[str, Any]:
    """Returns the request the flags ask for.

    Args:
        arguments: What the parser understood.
        unknown: Words the parser did not know. A flag among them becomes a field of its own, so that the request's
            parser names it together with the nearest known one.

    Raises:
        KvcoreError: A file cannot be read or a value is not the JSON it should be; one error per field.
    """
    request: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, text in _texts(arguments):
        try:
            value = _value(name, text)
            request["layout" if name == "config" and _is_layout(value) else name] = value
        except KvcoreError as error:
            errors.extend(error.errors)
    if errors:
        raise InputError(errors)
    return request | _unknown_fields(unknown)


def _add_flag(group: argparse._ArgumentGroup, field: RequestField) -> None:
    text = field.help.replace("%", "%%")
    if field.type == "boolean":
        group.add_argument(
            flag(field.name), action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text
        )
        return
    metavar = "FILE" if field.name in FILE_FIELDS else "JSON" if field.type in {"object", "speculative"} else "VALUE"
    if field.type == "choice":
        text = f"{text} One of: {', '.join(field.choices)}."
    group.add_argument(flag(field.name), metavar=metavar, default=argparse.SUPPRESS, help=text)


def _texts(arguments: argparse.Namespace) -> list[tuple[str, object]]:
    texts = [(field.name, getattr(arguments, field.name)) for field in REQUEST_FIELDS if hasattr(arguments, field.name)]
    if arguments.subject is not None:
        name = "config" if _is_file(arguments.subject) else "model"
        if any(given == name for given, _ in texts):
            rule = f"{name} is given twice, as the first argument and as {flag(name)}"
            raise InputError([FieldError(name, arguments.subject, rule, "Give it once.")])
        texts.append((name, arguments.subject))
    return texts


def _is_file(subject: str) -> bool:
    """Whether the subject is a path: catalogue ids have one slash and no suffix, and a file of that name wins."""
    if subject == STANDARD_INPUT or subject.endswith(".json"):
        return True
    return subject.startswith((".", "/", "~")) or Path(subject).is_file()


def _value(name: str, text: object) -> object:
    if not isinstance(text, str):
        return text
    if name in FILE_FIELDS and not text.lstrip().startswith("{"):
        text = read_text(name, text)
    return value_of_text(name, text)


def _is_layout(value: object) -> bool:
    """Whether a file holds what `kvcore layout --json` prints rather than a config.json."""
    return isinstance(value, Mapping) and isinstance(value.get("parts"), list)


def _unknown_fields(words: Sequence[str]) -> dict[str, Any]:
    """Unknown words as fields: ``--name value`` and ``--name=value`` under their name, other words as themselves."""
    fields: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, separator, value = word.partition("=")
        if not separator and word.startswith("-") and rest and not rest[0].startswith("-"):
            value = rest.pop(0)
        fields[name.lstrip("-").replace("-", "_") or word] = value or True
    return fields
