"""``kvcore catalog add``: an entry from a config.json, and what a person has to add."""

import json
from pathlib import Path

import pytest

from kvcore.cli import main
from tests.test_cli import CONFIG

REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(name="add")
def adding_to_an_empty_catalogue(tmp_path: Path) -> list[str]:
    """The words of the command, for a config whose training settings no engine reads."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG | {"attention_dropout": 0.0, "rms_norm_eps": 1e-5}), "utf-8")
    return ["catalog", "add", str(config), "--repo", "example/Small", "--folder", str(tmp_path)]


def test_an_entry_holds_only_the_facts_that_size_a_model(add: list[str], tmp_path: Path) -> None:
    assert main([*add, "--revision", REVISION]) == 0

    entry = json.loads((tmp_path / "example" / "Small.json").read_text("utf-8"))
    assert entry["config"] == CONFIG
    assert (entry["id"], entry["organisation"], entry["revision"]) == ("example/Small", "example", REVISION)
    assert entry["status"] == "derived"


def test_what_is_missing_is_listed(add: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(add)

    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("missing")] == [
        "missing revision",
        "missing family",
        "missing released",
        "missing weights",
        "missing evidence",
        "missing sources.0.reference",
        "missing sources.0.checked",
        "missing sources.1.checked",
    ]


def test_an_entry_is_not_overwritten_unless_asked_for(add: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(add) == 0
    assert main(add) == 2
    assert "--replace" in capsys.readouterr().err
    assert main([*add, "--replace"]) == 0


@pytest.mark.parametrize("repo", ["Small", "../Small", "example/Small/more", "example/.."])
def test_a_repository_is_organisation_and_name(
    add: list[str], repo: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add[add.index("example/Small")] = repo

    assert main(add) == 2
    assert "organisation/name" in capsys.readouterr().err
    assert list(tmp_path.rglob("Small*.json")) == []


def test_a_mechanism_that_is_not_known_makes_no_entry(
    add: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG | {"architectures": ["NobodyForCausalLM"]}), "utf-8")

    assert main(add) == 2
    assert "architectures" in capsys.readouterr().err
    assert not (tmp_path / "example").exists()
