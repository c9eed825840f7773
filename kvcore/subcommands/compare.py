"""``kvcore compare``: up to four deployments side by side."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kvcore.engines.vllm.profile_table import PROFILES
from kvcore.engines.vllm.upgrade import upgrade
from kvcore.errors import KvcoreError, input_error
from kvcore.questions import Comparison, compare
from kvcore.questions.compare import comparison_csv, comparison_json
from kvcore.request import parse_request
from kvcore.subcommands.arguments import add_request_arguments, request_of
from kvcore.subcommands.streams import ANSWERED, BAD_INPUT, complain, say
from kvcore.subcommands.upgrade import upgrade_lines

NAME = "compare"
HELP = "put up to four deployments side by side and mark what differs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the first deployment's flags and the changes that make the others."""
    parser.add_argument(
        "--with", dest="changes", action="append", default=[], metavar="JSON",
        help='fields in which another deployment differs, for example \'{"kv_cache_dtype": "fp8"}\'; up to three times',
    )  # fmt: skip
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the comparison as one line of JSON")
    form.add_argument("--csv", action="store_true", help="print the comparison as comma-separated values")
    add_request_arguments(parser)


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints the comparison; a deployment that cannot be answered keeps its column."""
    first = request_of(arguments, unknown)
    requests = [first, *({**first, **_change(text)} for text in arguments.changes)]
    comparison = compare(requests)
    for report in comparison.reports:
        complain(report.errors)
    say(_written(comparison, arguments))
    if not (arguments.json or arguments.csv):
        for line in _between_releases(requests):
            say(line)
    return BAD_INPUT if all(report.errors for report in comparison.reports) else ANSWERED


def _between_releases(requests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Switch by switch, where two deployments differ in vLLM's release alone."""
    if len(requests) != 2:
        return
    before, after = requests
    releases = [str(request.get("engine_version") or PROFILES[-1].version) for request in requests]
    if before.get("engine", "vllm") != "vllm" or {**before, "engine_version": ""} != {**after, "engine_version": ""}:
        return
    try:
        found = upgrade(parse_request(before), *releases)
    except KvcoreError:
        return
    yield ""
    yield from upgrade_lines(found)


def _written(comparison: Comparison, arguments: argparse.Namespace) -> str:
    if arguments.json:
        return json.dumps(comparison_json(comparison), allow_nan=False)
    return comparison_csv(comparison).rstrip("\n") if arguments.csv else _text(comparison)


def _change(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise input_error("with", text, f"the text is not JSON ({error})", 'Write {"field": value}.') from None
    if not isinstance(value, dict):
        raise input_error("with", text, "a JSON object is expected", 'Write {"field": value}.')
    return value


def _text(comparison: Comparison) -> str:
    rows = [("", *(f"({number})" for number in range(1, len(comparison.reports) + 1)))]
    rows += [(f"* {row.label}", *(_cell(value) for value in row.values)) for row in comparison.inputs]
    rows += [
        (f"{'*' if row.differs else ' '} {row.label} [{row.unit}]", *(_cell(value) for value in row.values))
        for row in comparison.figures
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(_line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    label, *cells = row
    first, *others = widths
    aligned = (cell.rjust(width) for cell, width in zip(cells, others, strict=True))
    return "  ".join((label.ljust(first), *aligned)).rstrip()


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
