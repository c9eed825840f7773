"""``kvcore catalog add``: makes an entry of the catalogue from a config.json."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from kvcore.catalog.importer import entry_of, missing, write_entry
from kvcore.catalog.models import FOLDER
from kvcore.config import parse_config
from kvcore.errors import input_error
from kvcore.subcommands.streams import ANSWERED, read_text, say

NAME = "catalog"
HELP = "add a model to the catalogue"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the one action and its arguments."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    add = actions.add_parser("add", help="write an entry from a config.json", allow_abbrev=False)
    add.add_argument("config", metavar="CONFIG", help="path of the model's config.json, or - for standard input")
    add.add_argument("--repo", required=True, metavar="ORG/NAME", help="Hugging Face repository of the model")
    add.add_argument("--revision", default="", metavar="SHA", help="commit the config was read at")
    add.add_argument("--folder", type=Path, default=FOLDER, help="folder of the entries (default: kvcore's own)")
    add.add_argument("--replace", action="store_true", help="overwrite an existing entry")


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Writes the entry and says what is missing."""
    if unknown:
        raise input_error(unknown[0], None, "there is no such argument", "See `kvcore catalog add --help`.")
    config = parse_config(read_text("config", arguments.config))
    entry = entry_of(config, arguments.repo, arguments.revision)
    path = write_entry(entry, arguments.folder, replace=arguments.replace)
    say(f"wrote {path}")
    for line in missing(entry):
        say(f"missing {line}")
    return ANSWERED
