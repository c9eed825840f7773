"""Derivatives of published models weigh what the engine's own classes hold, to the byte on each GPU of each stage.

Each is a published config with a few changes people make: heads tied or not, layers or experts pruned, biases, and
quantized variants with lists of modules left as they were. The engine (vLLM 0.33.0) built its classes without weights.
"""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kvcore.answer import answer
from tests.golden.points import config_of

pytestmark = pytest.mark.golden

DERIVATIVES = tuple(
    json.loads(line)
    for line in (Path(__file__).parent / "weights" / "derivatives.jsonl").read_text("utf-8").splitlines()
)
SETTINGS = {"gpu": "H100", "kv_cache_memory_bytes": 20_000_000_000, "max_model_len": 512}


def changed(derivative: Mapping[str, Any]) -> dict[str, Any]:
    """The published config with the changes, each named by its dotted key."""
    config: dict[str, Any] = copy.deepcopy(config_of(derivative["config"]))
    for key, value in derivative["changes"].items():
        *parents, last = key.split(".")
        section = config
        for parent in parents:
            section = section.setdefault(parent, {})
        section[last] = value
    for key in derivative.get("without", ()):
        config.pop(key, None)
    return config


@pytest.mark.parametrize("derivative", DERIVATIVES, ids=lambda derivative: derivative["name"])
def test_a_derivative_weighs_what_the_engine_holds(derivative: Mapping[str, Any]) -> None:
    config = changed(derivative)
    wanted = [point["stage_bytes"] for point in derivative["points"]]

    found = []
    for point in derivative["points"]:
        parallel = {name: value for name, value in point.items() if name != "stage_bytes"}
        weights = answer({"config": config, **SETTINGS, **parallel}).weights
        found.append(None if weights is None else list(weights.stage_bytes))

    assert found == wanted
