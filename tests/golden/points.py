"""Golden points: what the engines' own planning code answered, and how kvcore answers the same question."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kvcore.subcommands.batch import answer_line

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Point:
    """One question and what the engine answered; the fields of a file's lines."""

    config: str
    request: Mapping[str, Any]
    expected: Mapping[str, Any]
    resolved: Mapping[str, Any]
    weights: Mapping[str, Any]
    reason: str
    cause: str

    @property
    def id(self) -> str:
        """The request's fields on one line."""
        return " ".join(f"{name}={value}" for name, value in self.request.items())


@cache
def points_by_config(file: str) -> Mapping[str, tuple[Point, ...]]:
    """The points of a JSON Lines file by the name of their config."""
    points: dict[str, list[Point]] = defaultdict(list)
    for line in (FOLDER / file).read_text("utf-8").splitlines():
        data = json.loads(line)
        points[data["config"]].append(
            Point(
                config=data["config"],
                request=data["request"],
                expected=data.get("expected", {}),
                resolved=data.get("resolved", {}),
                weights=data.get("weights", {}),
                reason=data.get("reason", ""),
                cause=data.get("cause", ""),
            )
        )
    return {config: tuple(found) for config, found in points.items()}


@cache
def config_of(name: str) -> Any:
    """The facts of a config.json."""
    return json.loads((FOLDER / "configs" / f"{name}.json").read_text("utf-8"))


@cache
def answer_of(file: str, config: str) -> tuple[Mapping[str, Any], ...]:
    """What ``kvcore batch`` answers to every point of one config, in order."""
    points = points_by_config(file)[config]
    return tuple(
        json.loads(answer_line(json.dumps({"config": config_of(config), **point.request}))) for point in points
    )
