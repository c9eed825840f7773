"""``kvcore layout``: what a model keeps between decode steps, per GPU and over the GPUs that share it."""

import argparse
from collections.abc import Sequence

from kvcore.answer import answer
from kvcore.catalog.facts import compact
from kvcore.report.document import Document, Heading
from kvcore.report.json import to_json
from kvcore.report.render import render_section
from kvcore.report.writers import text
from kvcore.subcommands.arguments import add_request_arguments, request_of
from kvcore.subcommands.streams import ANSWERED, BAD_INPUT, complain, say

NAME = "layout"
HELP = "show what a model caches, without any budget"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the request's flags and the choice of form."""
    parser.add_argument(
        "--json", action="store_true", help="print the layout as JSON, to edit and give back as --layout"
    )
    add_request_arguments(parser)


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints the layout, or the errors that stand in its way."""
    report = answer(request_of(arguments, unknown))
    complain(report.errors)
    if report.errors or report.layout is None:
        return BAD_INPUT
    if arguments.json:
        say(compact({"model": report.model, **to_json(report.layout)}))
    else:
        title = Heading(1, f"Layout of {report.model}", "title")
        say(text.write(Document((title, *render_section(report, "layout")))))
    return ANSWERED
