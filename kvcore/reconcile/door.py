"""The page's question about a log, answered as plain JSON values."""

import io
from collections.abc import Mapping
from typing import Any

from kvcore.errors import FieldError, InputError, KvcoreError, input_error
from kvcore.reconcile.as_json import as_json
from kvcore.reconcile.document import document
from kvcore.reconcile.reader import Pieces
from kvcore.reconcile.reconcile import reconcile
from kvcore.reconcile.source import read_source
from kvcore.report.writers import html, markdown
from kvcore.request import parse_request
from kvcore.request_text import value_of_text

SITE_ROOT = "../"
"""The site's root as seen from the page that shows the answer."""


def reply(values: Mapping[str, Any], source: Pieces | None = None) -> dict[str, Any]:
    """Answers ``{log, request?, reported_tokens?}``.

    Args:
        values: The question.
        source: Where the log comes from, in the place of the text ``log``.

    Raises:
        InputError: The log is no text, or a value of the request is wrong.
    """
    log = values.get("log", "")
    if not isinstance(log, str):
        raise input_error("log", log, "a text is expected", 'Send {"log": "…"}.')
    record = read_source(source or io.BytesIO(log.encode("utf-8", "replace")))
    found = reconcile(record, _request(values.get("request")), _reported(values.get("reported_tokens")))
    page = document(found, SITE_ROOT)
    return {
        "reconciliation": as_json(found),
        "html": html.write(page),
        "markdown": markdown.write(document(found)),
        "errors": [],
    }


def _request(value: object) -> dict[str, Any]:
    """Request fields from what a form holds; empty texts count as absent."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise input_error("request", value, "an object of request fields is expected", 'Send {"request": {}}.')
    request: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, text in value.items():
        if isinstance(text, str) and not text.strip():
            continue
        try:
            request[name] = value_of_text(name, text) if isinstance(text, str) else text
            # Numbers and switches arrive as texts; the request's parser makes values of them.
            if name not in {"model", "config", "layout"}:
                parsed = parse_request({"model": "any/model", name: request[name]})
                request[name] = getattr(parsed, name) if name != "speculative_config" else request[name]
        except KvcoreError as error:
            errors.extend(error.errors)
    if errors:
        raise InputError(errors)
    return request


def _reported(value: object) -> int | None:
    if value is None or value == "":
        return None
    try:
        number = int(str(value).replace(",", "").replace("_", "").strip())
    except ValueError:
        number = -1
    if not 0 <= number < 1 << 50:
        raise input_error("reported_tokens", value, "a whole number of tokens is expected", "Write it as the log does.")
    return number
