import re

import pytest

from kvcore.cli import SUBCOMMANDS, build_parser
from site_plugins.reference.cli_page import cli_page, commands


def section(page: str, anchor: str) -> str:
    """The text from a heading of the second level to the next."""
    _, after = page.split(f"{{#{anchor}}}\n", 1)
    return re.split(r"^## ", after, maxsplit=1, flags=re.MULTILINE)[0]


def test_every_command_has_a_section_that_says_what_it_does_and_how_it_is_written() -> None:
    page = cli_page()
    described = {name: command.description for name, command in commands(build_parser())}
    assert list(described) == [module.NAME for module in SUBCOMMANDS]
    for name, description in described.items():
        own = section(page, name)
        assert f"<p>{description}</p>" in own
        assert f"<code>kvcore {name}" in own


def test_a_description_keeps_the_capitals_of_names() -> None:
    assert "<p>Show what another vLLM release does to a deployment, switch by switch.</p>" in cli_page()


def test_every_flag_of_a_command_stands_in_its_section_or_among_the_flags_it_leads_to() -> None:
    page = cli_page()
    shared = section(page, "request-flags")
    found = 0
    for name, command in commands(build_parser()):
        own = section(page, name)
        reachable = own + (shared if "[request flags](#request-flags)" in own else "")
        for inner in (command, *(child for _, child in commands(command))):
            for flag in {flag for action in inner._actions for flag in action.option_strings} - {"-h", "--help"}:
                assert re.search(rf"<code>{flag}[ <]", reachable), f"{name}: {flag}"
                found += 1
    assert found > len(SUBCOMMANDS)


def test_what_a_command_must_be_given_stands_without_brackets() -> None:
    own = section(cli_page(), "upgrade")
    assert "<code>kvcore upgrade --from RELEASE [--to RELEASE]" in own
    assert "[MODEL_OR_CONFIG]" in own


def test_the_page_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    first = cli_page()
    monkeypatch.setenv("COLUMNS", "40")
    assert cli_page() == first
