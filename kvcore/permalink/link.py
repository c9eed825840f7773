"""Links: the address carries the question, what the page said, and the versions that said it.

The question stands in ordinary query parameters named as the request fields, defaults left out; a pasted config or a layout
by hand stands compressed in the fragment, which browsers do not send to a server. The page's own script writes and reads
the same form.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from kvcore.errors import KvcoreError, input_error
from kvcore.report.report import Report
from kvcore.request_fields import REQUEST_FIELDS
from kvcore.request_text import value_of_text

VERSION_PARAMETER = "kvcore"
SAID_PARAMETER = "said"
FRAGMENTS: Mapping[str, str] = {"config": "config=", "layout": "layout="}
"""Objects that stand in the fragment instead of the query, one of them at a time."""
MOST_FRAGMENT_CHARACTERS = 32_000
"""Longest compressed config an address carries; longer ones are handed over as a file."""
MOST_CONFIG_CHARACTERS = 8_000_000
"""Longest config taken out of an address: a small fragment can unfold into a huge text."""

SAID_FIGURES: Mapping[str, str] = {
    "requests": "capacity.concurrency.engine_log",
    "tokens": "capacity.tokens.engine_log",
    "blocks": "capacity.num_gpu_blocks",
}
"""Headline figures that travel, by their short name in the address and their path in the report."""

_NAMES = frozenset(field.name for field in REQUEST_FIELDS)
_FOREIGN_PREFIXES = ("utm_",)
_FOREIGN = frozenset({"q", "h", "embed"})
"""Parameters that are no part of the question: words searched for, words marked on the page, and the compact view."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """What an address carries.

    Attributes:
        request: Request fields; values are texts as the address holds them, the config an object.
        kvcore_version: Version that wrote the link; empty where it carries none.
        said: Figures the page showed when the link was made, by report path.
    """

    request: Mapping[str, Any]
    kvcore_version: str
    said: Mapping[str, float | int]


def write_link(request: Mapping[str, Any], report: Report) -> str:
    """Writes the query and fragment of a question and its answer.

    Args:
        request: The fields that were given; ``config`` and ``layout`` may be objects or their texts.
        report: The answer, whose headline figures and versions travel.

    Returns:
        ``?query`` and, for a pasted config, ``#fragment``.

    Raises:
        InputError: The config is too long for an address, or a field is unknown.
    """
    carried = next((name for name in FRAGMENTS if request.get(name) is not None), "")
    fields = {name: value for name, value in request.items() if value is not None and name != carried}
    if report.engine is not None:
        fields["engine_version"] = report.engine.version
    for name, value in fields.items():
        if name not in _NAMES:
            raise input_error(str(name), value, "there is no request field of this name", "Leave it out.")
    ordered = [(field.name, _text(fields[field.name])) for field in REQUEST_FIELDS if field.name in fields]
    ordered.append((VERSION_PARAMETER, report.kvcore_version))
    said = _said(report)
    if said:
        ordered.append((SAID_PARAMETER, said))
    query = "&".join(f"{name}={quote(text, safe='/,:')}" for name, text in ordered)
    return f"?{query}" + (f"#{FRAGMENTS[carried]}{_fold(carried, request[carried])}" if carried else "")


def read_link(address: str) -> Link:
    """Reads an address or its query and fragment.

    Raises:
        InputError: The fragment is damaged or unfolds to too long a text.
    """
    parts = urlsplit(address)
    request: dict[str, Any] = {}
    version, said = "", ""
    for name, value in parse_qsl(parts.query, keep_blank_values=True, max_num_fields=200):
        if name == VERSION_PARAMETER:
            version = value
        elif name == SAID_PARAMETER:
            said = value
        elif name not in _FOREIGN and not name.startswith(_FOREIGN_PREFIXES):
            request[name] = value_of_text(name, value)
    for name, mark in FRAGMENTS.items():
        if parts.fragment.startswith(mark) and len(parts.fragment) > len(mark):
            request[name] = value_of_text(name, _unfold(name, parts.fragment.removeprefix(mark)))
    return Link(request=request, kvcore_version=version[:40], said=_read_said(said))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple) and all(isinstance(item, str | int) for item in value):
        return ",".join(map(str, value)) if all(isinstance(item, str) for item in value) else json.dumps(value)
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _said(report: Report) -> str:
    figures = {name: figure_at(report, path) for name, path in SAID_FIGURES.items()}
    return ",".join(f"{name}:{value!r}" for name, value in figures.items() if value is not None)


def figure_at(report: Report, path: str) -> Any:
    """The figure at a dotted path of a report; None where it has none."""
    value: Any = report
    for name in path.split("."):
        value = getattr(value, name, None)
    return value


def _read_said(text: str) -> dict[str, float | int]:
    figures: dict[str, float | int] = {}
    for item in text[:200].split(","):
        name, _, number = item.partition(":")
        path = SAID_FIGURES.get(name)
        if path is None:
            continue
        try:
            figures[path] = float(number) if name == "requests" else int(number)
        except ValueError:
            continue
    return figures


def _fold(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    packer = zlib.compressobj(level=9, wbits=-15)
    packed = packer.compress(text.encode()) + packer.flush()
    folded = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if len(folded) > MOST_FRAGMENT_CHARACTERS:
        rule = f"compressed it has {len(folded):,} characters; an address carries {MOST_FRAGMENT_CHARACTERS:,}"
        raise input_error(name, f"{len(text):,} characters", rule, f"Hand the {name} over as a file.")
    return folded


def _unfold(name: str, folded: str) -> str:
    remedy = "Copy the whole address again."
    try:
        packed = base64.urlsafe_b64decode(folded + "=" * (-len(folded) % 4))
        unpacker = zlib.decompressobj(wbits=-15)
        data = unpacker.decompress(packed, MOST_CONFIG_CHARACTERS)
        if unpacker.unconsumed_tail:
            rule = f"it unfolds to more than {MOST_CONFIG_CHARACTERS:,} characters"
            raise input_error(name, folded[:40], rule, remedy)
        if not unpacker.eof:
            raise input_error(name, folded[:40], "the address is damaged: its end is missing", remedy)
        return data.decode()
    except (ValueError, zlib.error) as error:
        if isinstance(error, KvcoreError):
            raise
        raise input_error(name, folded[:40], f"the address is damaged ({error})", remedy) from None
