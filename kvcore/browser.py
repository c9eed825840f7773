"""The browser's door: JSON text in, JSON text out, whatever comes in.

The page sends what its controls hold, as texts; turning a text into a number, an object or an error is done here, so
that no rule about a request lives in a script.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kvcore import __version__
from kvcore.answer import answer
from kvcore.commands import kvcore_command
from kvcore.config.nesting import nested_too_deeply
from kvcore.errors import FieldError, KvcoreError, input_error
from kvcore.report.json import to_json
from kvcore.report.render import render
from kvcore.report.report import Report
from kvcore.report.writers import html, markdown
from kvcore.request_text import value_of_text


def answer_json(request_json: str) -> str:
    """Answers one request of the contract.

    Args:
        request_json: A JSON object of request fields.

    Returns:
        JSON text with ``report`` (the contract's keys), ``html`` and ``markdown`` (the same report for a person) and
        ``command`` (the command line that asks the same question). Bad input gives a report with ``errors``.
    """
    try:
        return _reply(_request(request_json))
    except KvcoreError as error:
        return _render(_refused(error.errors), {})


def answer_form(form_json: str) -> str:
    """Answers what a form holds: every value a text, as typed or as read from an address.

    Args:
        form_json: A JSON object from field name to text. Empty texts count as absent; the text of ``config`` is a
            whole config.json and may hold ``Infinity`` and ``NaN``.

    Returns:
        As :func:`answer_json`.
    """
    try:
        fields = _request(form_json)
    except KvcoreError as error:
        return _render(_refused(error.errors), {})
    request: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, text in fields.items():
        if isinstance(text, str) and not text.strip():
            continue
        try:
            request[name] = value_of_text(name, text) if isinstance(text, str) else text
        except KvcoreError as error:
            errors.extend(error.errors)
    return _render(_refused(errors), request) if errors else _reply(request)


def _request(text: str) -> dict[str, Any]:
    remedy = 'Send an object such as {"model": "meta-llama/Llama-3.1-8B"}.'
    if nested_too_deeply(text):
        raise input_error("request", text[:40], "the JSON is nested too deeply", remedy)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise input_error("request", text[:40], f"the text is not JSON ({error})", remedy) from None
    if not isinstance(value, dict):
        raise input_error("request", text[:40], f"a JSON object is expected, not {type(value).__name__}", remedy)
    return value


def _refused(errors: Iterable[FieldError]) -> Report:
    """A report for a question that could not be read as one."""
    return Report(inputs={}, kvcore_version=__version__, errors=tuple(errors))


def _reply(request: Mapping[str, Any]) -> str:
    return _render(answer(request), request)


def _render(report: Report, request: Mapping[str, Any]) -> str:
    page = render(report)
    reply = {
        "report": to_json(report),
        "html": html.write(page),
        "markdown": markdown.write(page),
        "command": kvcore_command(request),
    }
    return json.dumps(reply, allow_nan=False, separators=(",", ":"))


def reconcile_json(text: str, pull: Callable[[int], Any] | None = None) -> str:
    """Reads a log beside the figures kvcore computes for it.

    Args:
        text: One line of JSON, ``{request?, reported_tokens?, log?}`` with the request's values as typed; a short log may
            follow on the next lines.
        pull: Hands out the next bytes of a log of any length, as an array of Pyodide's; none at its end.

    Returns:
        JSON text with ``reconciliation``, ``html`` and ``markdown``, or ``errors``.
    """
    # Few pages read logs; the calculator starts faster without these modules.
    from kvcore.reconcile.door import reply  # noqa: PLC0415
    from kvcore.reconcile.source import pulled  # noqa: PLC0415

    head, _, log = text.partition("\n")
    try:
        values = _request(head)
        answered = reply({**values, "log": log} if log else values, pulled(pull) if pull else None)
    except KvcoreError as error:
        page = render(_refused(error.errors))
        answered = {"errors": to_json(error.errors), "html": html.write(page), "markdown": markdown.write(page)}
    return json.dumps(answered, allow_nan=False, separators=(",", ":"))
