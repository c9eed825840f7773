"""``kvcore gpus``: the catalogue's GPUs."""

import argparse
import json
from collections.abc import Sequence

from kvcore.catalog import Gpu, load_gpus
from kvcore.report.document import Column, Document, Row, Table
from kvcore.report.figures import UNKNOWN, byte_count, gibibytes
from kvcore.report.json import to_json
from kvcore.report.writers import text
from kvcore.subcommands.streams import ANSWERED, say

NAME = "gpus"
HELP = "list the GPUs of the catalogue"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the choice of form."""
    parser.add_argument("--json", action="store_true", help="print the entries as a JSON list")


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints the catalogue."""
    gpus = load_gpus()
    if arguments.json:
        say(json.dumps([to_json(gpu) for gpu in gpus], ensure_ascii=False, indent=2))
        return ANSWERED
    columns = (
        Column("GPU"),
        Column("Vendor"),
        Column("Compute capability", "right"),
        Column("Data sheet", "right", "GB"),
        Column("Usable", "right"),
        Column("Usable", "right", "bytes"),
    )
    say(text.write(Document((Table(f"{len(gpus)} GPUs", columns, tuple(_row(gpu) for gpu in gpus)),))))
    return ANSWERED


def _row(gpu: Gpu) -> Row:
    data_sheet = UNKNOWN if gpu.marketing_gb is None else f"{gpu.marketing_gb:g}"
    return Row(
        (
            (gpu.name,),
            (gpu.vendor,),
            (gpu.compute_capability or UNKNOWN,),
            (data_sheet,),
            (gibibytes("usable_bytes", gpu.usable_bytes),),
            (byte_count("usable_bytes", gpu.usable_bytes),),
        )
    )
