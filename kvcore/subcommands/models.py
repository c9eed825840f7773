"""``kvcore models``: the catalogue's models."""

import argparse
import json
from collections.abc import Sequence

from kvcore.catalog import load_models
from kvcore.report.document import Column, Document, Row, Table
from kvcore.report.json import to_json
from kvcore.report.writers import text
from kvcore.subcommands.streams import ANSWERED, say

NAME = "models"
HELP = "list the models of the catalogue"
STATUS_WORDS = {"engine": "equal to engine code", "log": "equal to a log", "derived": "derived"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the choice of form."""
    parser.add_argument("--json", action="store_true", help="print the entries as a JSON list")


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints the catalogue."""
    entries = load_models()
    if arguments.json:
        say(json.dumps([to_json(entry) for entry in entries], ensure_ascii=False, indent=2))
        return ANSWERED
    columns = (Column("Model"), Column("Family"), Column("Released"), Column("Evidence"))
    rows = tuple(
        Row(((entry.id,), (entry.family,), (entry.released,), (STATUS_WORDS.get(entry.status, entry.status),)))
        for entry in entries
    )
    say(text.write(Document((Table(f"{len(entries)} models", columns, rows),))))
    return ANSWERED
