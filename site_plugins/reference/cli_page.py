"""The reference of the command line: every command and flag with the parser's own words, taken from it at build."""

import argparse
import re
from collections.abc import Iterable, Iterator
from html import escape

from kvcore.cli import EXIT_CODES, build_parser
from kvcore.report.sections.wording import capitalised
from site_plugins.pages.generated import GeneratedFile, front_matter

PLACE = "cli-reference.md"
_SHARED = "request-flags"
_LEAD = "Written by the program itself when this site was built; [the command line](cli.md) tells how to begin."
_COMMAND = re.compile(r"`([^`]+)`")
_Group = tuple[str, tuple[argparse.Action, ...]]


def cli_files() -> tuple[GeneratedFile, ...]:
    """Returns the page."""
    return (GeneratedFile(PLACE, cli_page()),)


def cli_page() -> str:
    """Returns the page's Markdown: one section per command, and one for the flags that most of them share."""
    parser = build_parser()
    named = tuple(commands(parser))
    shared = next(groups for _, command in named if (groups := _topics(command)))
    meta = {"title": "Command reference", "description": "Every command of kvcore with every flag."}
    parts = [
        front_matter(meta),
        "# Command reference\n",
        f"{_LEAD} {capitalised(EXIT_CODES)}.\n",
        _defined((f"kvcore {name}", capitalised(text)) for name, text in _summaries(parser)),
        _flags(action for _, actions in _groups(parser)[1:2] for action in actions),
        *(part for name, command in named for part in _command(f"kvcore {name}", name, command, shared)),
        f"## Request flags {{#{_SHARED}}}\n",
        "What the engine is asked, for every command above that says so. The flags are the engines' own.\n",
    ]
    for title, actions in shared:
        parts += [f"### {capitalised(title)} {{#{_SHARED}-{title.split()[0].strip(',')}}}\n", _flags(actions)]
    return "\n".join(parts)


def commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yields a parser's commands with theirs, in the order of its help."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list subcommands
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            yield from action.choices.items()


def _summaries(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Yields a parser's commands with the line its help has for each."""
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            yield from ((item.dest, item.help or "") for item in action._choices_actions)  # noqa: SLF001


def _command(
    title: str, anchor: str, command: argparse.ArgumentParser, shared: tuple[_Group, ...], level: int = 2
) -> list[str]:
    """A command's section: what it does, how it is written, its own arguments and its commands."""
    inner = tuple(commands(command))
    topics = _topics(command)
    asks = bool(topics) and _names(topics) == _names(shared)
    own = tuple(action for _, actions in _groups(command)[:2] for action in actions)
    parts = [f"{'#' * level} {title} {{#{anchor}}}\n"]
    parts += [f"<p>{_words(command.description)}</p>\n"] if command.description else []
    parts += [] if inner else [f"<p>{_code(_synopsis(title, own, asks=asks))}</p>\n"]
    parts += [] if inner else [_flags(own)]
    parts += [f"Takes the [request flags](#{_SHARED}) too.\n"] if asks else []
    if not asks:
        parts += [_flags(actions) for _, actions in topics]
    for name, child in inner:
        parts += _command(f"{title} {name}", f"{anchor}-{name}", child, shared, level + 1)
    return parts


def _groups(parser: argparse.ArgumentParser) -> tuple[_Group, ...]:
    """A parser's groups with what they hold; argparse's own two, positionals and options, stand first."""
    return tuple(
        (group.title or "", tuple(action for action in group._group_actions if action.help != argparse.SUPPRESS))  # noqa: SLF001
        for group in parser._action_groups  # noqa: SLF001
    )


def _topics(parser: argparse.ArgumentParser) -> tuple[_Group, ...]:
    return _groups(parser)[2:]


def _names(groups: Iterable[_Group]) -> list[str]:
    return [name for _, actions in groups for action in actions for name in action.option_strings]


def _synopsis(title: str, own: Iterable[argparse.Action], *, asks: bool) -> str:
    """How a command is written: its own flags in brackets, the shared ones in a word, what has a place last."""
    flags, places = [], []
    for action in own:
        invocation = _invocations(action)[0]
        if not action.option_strings:
            places.append(invocation if action.nargs is None else f"[{invocation}]")
        elif action.dest != "help":
            flags.append(invocation if action.required else f"[{invocation}]")
    return " ".join([title, *flags, *(["[request flags]"] if asks else []), *places])


def _invocations(action: argparse.Action) -> list[str]:
    """A flag with its value in each spelling, as the parser prints them; a positional's name."""
    formatter = argparse.HelpFormatter("kvcore")
    # Python 3.14 prints colours to terminals.
    if hasattr(formatter, "_set_color"):
        formatter._set_color(color=False)  # noqa: SLF001
    return formatter._format_action_invocation(action).split(", ")  # noqa: SLF001


def _flags(actions: Iterable[argparse.Action]) -> str:
    expanded = argparse.HelpFormatter("kvcore")._expand_help  # noqa: SLF001
    return _defined((", ".join(_invocations(action)), expanded(action)) for action in actions if action.dest != "help")


def _defined(items: Iterable[tuple[str, str]]) -> str:
    """A list of names and what each means."""
    lines = [
        f"<dt>{', '.join(_code(spelling) for spelling in name.split(', '))}</dt><dd>{_words(meaning)}</dd>"
        for name, meaning in items
    ]
    return f'<dl class="kv-flags">\n{chr(10).join(lines)}\n</dl>\n' if lines else ""


def _words(text: str) -> str:
    """Help as HTML; what stands in backticks is code."""
    return _COMMAND.sub(r"<code>\1</code>", escape(text, quote=False))


def _code(text: str) -> str:
    return f"<code>{escape(text, quote=False)}</code>"
