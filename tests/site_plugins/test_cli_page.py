import pytest

from kvcore.cli import SUBCOMMANDS
from site_plugins.reference.cli_page import cli_page


def test_every_command_has_a_section_with_its_own_help() -> None:
    page = cli_page()
    for module in SUBCOMMANDS:
        assert f"## kvcore {module.NAME} {{#{module.NAME}}}" in page
        assert f"usage: kvcore {module.NAME}" in page


def test_the_page_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    first = cli_page()
    monkeypatch.setenv("COLUMNS", "40")
    assert cli_page() == first
