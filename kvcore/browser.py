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
from kvcore.report.document import Document
from kvcore.report.json import to_json
from kvcore.report.render import render
from kvcore.report.report import Report
from kvcore.report.writers import html, markdown
from kvcore.request_text import value_of_text

FORM_READS = ("inputs", "layout", "weights", "errors")
"""What a page's form reads of a report; the other figures stand in the HTML."""


def answer_json(request_json: str) -> str:
    """Answers one request of the contract.

    Args:
        request_json: A JSON object of request fields.

    Returns:
        JSON text with ``report`` (the contract's keys), ``html`` and ``markdown`` (the same report for a person) and
        ``command`` (the command line that asks the same question). Bad input gives a report with ``errors``.
    """
    report, request = _asked(request_json, from_form=False)
    return _dumps(_whole(report, request))


def answer_form(form_json: str) -> str:
    """Answers what a form holds: every value a text, as typed or as read from an address.

    Args:
        form_json: A JSON object from field name to text. Empty texts count as absent; the text of ``config`` is a
            whole config.json and may hold ``Infinity`` and ``NaN``.

    Returns:
        JSON text with ``blocks`` (the report for a person, each top-level element by itself), ``command`` and as much
        of ``report`` as the form reads. What is taken away is written when it is taken, by :func:`whole_form`.
    """
    report, request = _asked(form_json, from_form=True)
    return _for_form(report, request, FORM_READS, html.top_blocks(render(report)))


def unfolded_form(form_json: str) -> str:
    """As :func:`answer_form`, without what is folded and, of ``report``, only ``errors``: what is seen at once, sooner."""
    report, request = _asked(form_json, from_form=True)
    return _for_form(report, request, ("errors",), html.unfolded_blocks(render(report)))


def whole_form(form_json: str) -> str:
    """Answers what a form holds as :func:`answer_json` answers a request: with everything that can be taken away."""
    return _dumps(_whole(*_asked(form_json, from_form=True)))


def _asked(text: str, *, from_form: bool) -> tuple[Report, Mapping[str, Any]]:
    """The report on a question and its fields; what could not be read as a question is a report of its errors."""
    try:
        request = _request(text)
    except KvcoreError as error:
        return _refused(error.errors), {}
    if not from_form:
        return answer(request), request
    values, errors = _values(request)
    return (_refused(errors) if errors else answer(values)), values


def _values(texts: Mapping[str, Any]) -> tuple[dict[str, Any], list[FieldError]]:
    """The values of a form's texts, and what is wrong with those that have none."""
    values: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, text in texts.items():
        if isinstance(text, str) and not text.strip():
            continue
        try:
            values[name] = value_of_text(name, text) if isinstance(text, str) else text
        except KvcoreError as error:
            errors.extend(error.errors)
    return values, errors


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


def _whole(report: Report, request: Mapping[str, Any]) -> dict[str, Any]:
    page = render(report)
    return {"report": to_json(report), **_shown(page, request), "markdown": markdown.write(page)}


def _shown(page: Document, request: Mapping[str, Any]) -> dict[str, str]:
    return {"html": html.write(page), "command": kvcore_command(request)}


def _for_form(report: Report, request: Mapping[str, Any], read: Iterable[str], blocks: list[str]) -> str:
    told = {name: to_json(getattr(report, name)) for name in read}
    return _dumps({"report": told, "blocks": blocks, "command": kvcore_command(request)})


def _dumps(reply: Mapping[str, Any]) -> str:
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
