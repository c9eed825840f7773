"""The reference of the command line: what ``kvcore COMMAND --help`` prints, taken from the parser at build."""

import argparse
from collections.abc import Iterator
from functools import partial
from html import escape

from kvcore.cli import build_parser
from site_plugins.pages.generated import GeneratedFile, front_matter

PLACE = "cli-reference.md"
_WIDTH = 100


def cli_files() -> tuple[GeneratedFile, ...]:
    """Returns the page."""
    return (GeneratedFile(PLACE, cli_page()),)


def cli_page() -> str:
    """Returns the page's Markdown: one section per command."""
    parser = build_parser()
    meta = {"title": "Command reference", "description": "Every command of kvcore with every flag."}
    parts = [
        front_matter(meta),
        "# Command reference\n",
        "Written by the program itself when this site was built; [the command line](cli.md) tells how to begin.\n",
        _help(parser),
    ]
    for name, command in commands(parser):
        parts += [f"## kvcore {name} {{#{name}}}\n", _help(command)]
    return "\n".join(parts)


def commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yields a parser's commands with theirs, in the order of its help."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list subcommands
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            yield from action.choices.items()


def _help(parser: argparse.ArgumentParser) -> str:
    # The width of this terminal, and colours where Python 3.14 prints them, are no part of the page.
    parser.formatter_class = partial(argparse.HelpFormatter, width=_WIDTH)
    if hasattr(parser, "color"):
        parser.color = False
    # Not a fenced block: thirty buttons to copy what nobody copies would only crowd the page's landmarks.
    return f'<pre class="kv-help" tabindex="0">{escape(parser.format_help().rstrip())}</pre>\n'
