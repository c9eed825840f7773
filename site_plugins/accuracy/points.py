"""The golden points as lines of files: what was asked of an engine's own code, and what it answered."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Line = Mapping[str, Any]

FURTHER = "-further"
"""Ends the name of a second file of the same release."""


@dataclass(frozen=True)
class PointFile:
    """A file of points of one engine release.

    Attributes:
        name: Place below the folder of golden files.
        engine: ``vllm`` or ``sglang``.
        release: The engine's version.
    """

    name: str
    engine: str
    release: str


def point_files(folder: Path) -> tuple[PointFile, ...]:
    """Returns every file of points, the newest vLLM first, then its older releases, then SGLang."""
    newest = [
        PointFile(f"{path.parent.name}/{path.name}", "vllm", path.parent.name.removeprefix("vllm-"))
        for path in folder.glob("vllm-[0-9]*/*.jsonl")
    ]
    older = [
        PointFile(f"vllm-versions/{path.name}", "vllm", path.stem) for path in folder.glob("vllm-versions/*.jsonl")
    ]
    sglang = [
        PointFile(path.name, "sglang", path.stem.removeprefix("sglang-").removesuffix(FURTHER))
        for path in folder.glob("sglang-*.jsonl")
    ]
    return (*sorted(newest, key=_newest), *sorted(older, key=_newest), *sorted(sglang, key=_newest))


def lines(file: Path) -> Iterator[Line]:
    """Yields the objects of a JSON Lines file."""
    for line in file.read_text("utf-8").splitlines():
        yield json.loads(line)


@cache
def config_of(folder: Path, name: str) -> Any:
    """Returns the config.json that a point was asked for."""
    return json.loads((folder / "configs" / f"{name}.json").read_text("utf-8"))


def model_of(config: str) -> str:
    """Returns the Hugging Face repository that a config's file name stands for."""
    return config.replace("__", "/", 1)


def _newest(file: PointFile) -> tuple[list[int], str]:
    return [-int(number) for number in file.release.split(".")], file.name
