"""``kvcore weights``: the weights of a model on each GPU, by what they are for."""

import argparse
import json
from collections.abc import Sequence

from kvcore.answer import answer
from kvcore.report.document import Column, Document, Heading, Note, Row, Table
from kvcore.report.figures import UNKNOWN, byte_count, count, gibibytes
from kvcore.report.json import to_json
from kvcore.report.report import Weights
from kvcore.report.writers import text
from kvcore.subcommands.arguments import add_request_arguments, request_of
from kvcore.subcommands.streams import ANSWERED, BAD_INPUT, complain, say

NAME = "weights"
HELP = "show the weights of a model on each GPU, by what they are for"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the request's flags and the choice of form."""
    parser.add_argument("--json", action="store_true", help="print the weights as JSON")
    add_request_arguments(parser)


def run(arguments: argparse.Namespace, unknown: Sequence[str]) -> int:
    """Prints the weights, or what stands in their way."""
    report = answer(request_of(arguments, unknown))
    complain(report.errors)
    weights = report.weights
    if report.errors or weights is None:
        return BAD_INPUT
    if arguments.json:
        say(json.dumps({"model": report.model, **to_json(weights)}, ensure_ascii=False, indent=2))
    elif weights.bytes_per_gpu is None:
        say(
            text.write(
                Document((Heading(1, f"Weights of {report.model}", "title"), Note("warning", (weights.reason,))))
            )
        )
    else:
        say(text.write(_document(report.model or "", weights)))
    return ANSWERED if weights.bytes_per_gpu is not None else BAD_INPUT


def _document(model: str, weights: Weights) -> Document:
    rows = [
        _row(group.name.replace("_", " "), f"weights.groups.{index}.bytes", group.bytes)
        for index, group in enumerate(weights.groups)
    ]
    rows.append(_row("tensors of the fullest GPU", "weights.bytes_per_gpu", weights.bytes_per_gpu or 0, total=True))
    if weights.drafter_bytes is not None:
        rows.append(_row("+ drafter, on the last stage", "weights.drafter_bytes", weights.drafter_bytes))
    rows += [
        _row(f"+ {extra.name}", f"weights.extras.{index}.bytes", extra.bytes)
        for index, extra in enumerate(weights.extras)
    ]
    if weights.loaded_bytes is not None:
        rows.append(
            _row("as the engine logs them once loaded", "weights.loaded_bytes", weights.loaded_bytes, total=True)
        )
    columns = (Column("Weights"), Column("Size", "right"), Column("Bytes", "right"))
    facts = Table(
        "The model",
        (Column("Fact"), Column("Value", "right")),
        (
            Row(
                (("parameters",), (UNKNOWN if weights.params is None else count("weights.params", weights.params, ""),))
            ),
            Row((("stored as",), (weights.quantization or "the model's dtype",))),
            *_published(weights),
        ),
    )
    blocks = (Heading(1, f"Weights of {model}", "title"), Table("Weights of one GPU", columns, tuple(rows)), facts)
    return Document(blocks)


def _published(weights: Weights) -> tuple[Row, ...]:
    if weights.published_bytes is None or weights.difference_bytes is None:
        return ()
    return (
        Row((("published files",), (byte_count("weights.published_bytes", weights.published_bytes),))),
        Row((("tensors minus published files",), (byte_count("weights.difference_bytes", weights.difference_bytes),))),
    )


def _row(label: str, path: str, size: int, *, total: bool = False) -> Row:
    return Row(((label,), (gibibytes(path, size),), (byte_count(path, size),)), total=total)
