"""What is wrong with an entry is said with file and field."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kvcore.catalog.schema import check_file

NAME = "example/Small"
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "hidden_size": 512,
    "max_position_embeddings": 4096,
}
SOURCE = {"what": "config.json", "kind": "cited", "reference": "https://example.org", "checked": "2026-01-31"}
ENTRY: dict[str, Any] = {
    "id": NAME,
    "revision": "",
    "title": "Small",
    "organisation": "example",
    "family": "Example",
    "released": "2026-01",
    "config": CONFIG,
    "weights": {},
    "status": "derived",
    "evidence": [],
    "sources": [SOURCE],
    "notes": [],
}


@pytest.fixture(name="check")
def check_changed(tmp_path: Path) -> Callable[..., list[str]]:
    """Checks the example entry with some keys changed."""

    def check(**changes: object) -> list[str]:
        path = tmp_path / f"{NAME}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(ENTRY | changes), "utf-8")
        return check_file(path, tmp_path)

    return check


def test_a_complete_entry_has_no_fault(check: Callable[..., list[str]]) -> None:
    assert check() == []


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"family": ""}, "family"),
        ({"revision": "main"}, "revision"),
        ({"released": "spring"}, "released"),
        ({"status": "engine"}, "status = engine"),
        ({"organisation": "other"}, "organisation = other"),
        ({"sources": []}, "sources"),
        ({"sources": [SOURCE | {"checked": "2999-01-01"}]}, "sources.0"),
        ({"sources": [SOURCE | {"kind": "hearsay"}]}, "sources.0.kind"),
        ({"weights": {"params": 10}}, "weights"),
        ({"weights": {"params": -1, "source": "x"}}, "weights.params"),
        ({"surprise": 1}, "surprise"),
        ({"config": CONFIG | {"rms_norm_eps": 1e-5}}, "no engine reads"),
        ({"config": CONFIG | {"architectures": ["NobodyForCausalLM"]}}, "config.architectures"),
        ({"config": CONFIG | {"num_hidden_layers": 0}}, "config.num_hidden_layers"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fault_is_named_with_file_and_field(
    check: Callable[..., list[str]], changes: dict[str, object], named: str
) -> None:
    faults = check(**changes)

    assert len(faults) == 1
    assert faults[0].startswith(f"{NAME}.json: ")
    assert named in faults[0]


def test_an_entry_stands_in_the_file_of_its_id(tmp_path: Path) -> None:
    path = tmp_path / "example" / "Other.json"
    path.parent.mkdir()
    path.write_text(json.dumps(ENTRY), "utf-8")

    assert check_file(path, tmp_path) == [
        f"example/Other.json: id = {NAME}: the file's place is expected to be {NAME}.json"
    ]
