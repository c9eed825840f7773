"""The command line: ``kvcore`` and ``python -m kvcore``. One thin door; every command lives in its own module."""

import argparse
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from kvcore import __version__
from kvcore.errors import KvcoreError
from kvcore.subcommands import (
    batch,
    catalog,
    compare,
    gpus,
    layout,
    models,
    reconcile,
    report,
    solve,
    sweep,
    upgrade,
    weights,
)
from kvcore.subcommands.streams import BAD_INPUT, complain, prepare

SUBCOMMANDS: tuple[ModuleType, ...] = (
    report, batch, layout, weights, solve, compare, upgrade, sweep, reconcile, models, gpus, catalog,
)  # fmt: skip
"""Modules with ``NAME``, ``HELP``, ``add_arguments(parser)`` and ``run(arguments, unknown words) -> exit code``."""

EXIT_CODES = "exit codes: 0 answered, 1 does not fit (the report is still printed), 2 bad input"


class Parser(argparse.ArgumentParser):
    """Prints its complaint as every other error of kvcore is printed, with the same exit code."""

    def error(self, message: str) -> NoReturn:
        """Ends the process with exit code 2."""
        sys.stderr.write(f"error: {message}. See `{self.prog} --help`.\n")
        raise SystemExit(BAD_INPUT)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        argv: Words after the program's name; the process's own where None.

    Returns:
        The exit code: 0 answered, 1 does not fit, 2 bad input.
    """
    prepare()
    words = [_dashed(word) for word in (sys.argv[1:] if argv is None else argv)]
    try:
        arguments, unknown = build_parser().parse_known_args(words)
        command: ModuleType = arguments.command
        code: int = command.run(arguments, unknown)
        sys.stdout.flush()
    except KvcoreError as error:
        complain(error.errors)
        return BAD_INPUT
    except BrokenPipeError:
        # The reader (head, say) has closed the pipe; what is still buffered must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def build_parser() -> argparse.ArgumentParser:
    """The parser of every command."""
    parser = Parser(prog="kvcore", description=__doc__, epilog=EXIT_CODES, allow_abbrev=False)
    parser.description = "Key-value cache sizing, equal to what the serving engines compute."
    parser.add_argument("--version", action="version", version=f"kvcore {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in SUBCOMMANDS:
        command = commands.add_parser(
            module.NAME,
            help=module.HELP,
            # The first letter alone: HELP names GPUs and vLLM.
            description=f"{module.HELP[:1].upper()}{module.HELP[1:]}.",
            epilog=EXIT_CODES,
            allow_abbrev=False,
        )
        module.add_arguments(command)
        command.set_defaults(command=module)
    return parser


def _dashed(word: str) -> str:
    """Lets flags be written with underscores, as vLLM does."""
    if not word.startswith("--"):
        return word
    name, separator, value = word.partition("=")
    return name.replace("_", "-") + separator + value
