"""What the pages for people promise: files, targets and commands that exist, and no capacity figure typed by hand."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kvcore.cli import SUBCOMMANDS

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
FOR_CONTRIBUTORS = [
    "README.md",
    "CONTRIBUTING.md",
    *(name for name in WRITTEN if name.startswith("docs/contributing/")),
]
EVERY_PAGE = ["README.md", "CONTRIBUTING.md", *WRITTEN]

FOLDERS_OF_THE_PROJECT = ("kvcore/", "site_plugins/", "tests/", "tools/", "docs/", "overrides/")
FIGURE = re.compile(r"\d[\d.,]*\s*(?:[KMGT]i?B|bytes?|tokens?|blocks?|requests?)\b|\b\d{1,3}(?:,\d{3})+\b")
QUOTED_FROM_A_LOG = re.compile(r"\[\^[\w-]+\]")
"""A footnote at the end of a line names the public log that a figure is quoted from."""
DEFINITION_OF_A_UNIT = "powers of "


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def prose(text: str) -> Iterator[str]:
    """The lines of a page that hold neither code, nor questions of its front matter, nor placeholders of figures."""
    text = re.sub(r"^kv:\n(?: .*\n)+", "", text, count=1, flags=re.MULTILINE)
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\{\{.*?\}\}", "(figure)", text, flags=re.DOTALL)
    for paragraph in re.sub(r"`[^`\n]*`", "", text).split("\n\n"):
        if not paragraph.startswith(" " * 4):
            yield from paragraph.splitlines()


def commands_of(text: str) -> set[str]:
    """Subcommands of kvcore in a page's code."""
    blocks = "".join(re.findall(r"^```.*?^```", text, flags=re.DOTALL | re.MULTILINE))
    return {*re.findall(r"^kvcore ([a-z]+)", blocks, re.MULTILINE), *re.findall(r"(?:\$ |`)kvcore ([a-z]+)", text)}


@pytest.mark.parametrize("name", FOR_CONTRIBUTORS)
def test_every_file_named_for_contributors_exists(name: str) -> None:
    named = [word for word in re.findall(r"`([\w./-]+)`", text_of(name)) if word.startswith(FOLDERS_OF_THE_PROJECT)]

    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", EVERY_PAGE)
def test_every_make_target_named_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))

    assert set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", text_of(name), re.MULTILINE)) - targets == set()


@pytest.mark.parametrize("name", EVERY_PAGE)
def test_every_kvcore_command_named_exists(name: str) -> None:
    commands = {command.NAME for command in SUBCOMMANDS}

    assert commands_of(text_of(name)) - commands == set()


def test_the_page_of_the_command_line_names_every_command() -> None:
    assert {command.NAME for command in SUBCOMMANDS} - commands_of(text_of("docs/cli.md")) == set()


@pytest.mark.parametrize("name", WRITTEN)
def test_no_figure_of_capacity_is_typed_into_a_page(name: str) -> None:
    typed = [
        line
        for line in prose(text_of(name))
        if FIGURE.search(line) and not QUOTED_FROM_A_LOG.search(line) and DEFINITION_OF_A_UNIT not in line
    ]

    assert typed == []


def test_a_typed_figure_would_be_found() -> None:
    page = "---\ntitle: Pools\nkv:\n  dense: {max_model_len: 8192}\n---\n\nThe pool has 1,024 blocks.\n\nIt is {{ kv dense x }}.\n"

    assert [line for line in prose(page) if FIGURE.search(line)] == ["The pool has 1,024 blocks."]
