"""Families of models, each in a few sizes that show its rules: the engine's own classes hold the same bytes on each GPU.

The configs are small ones made of the classes' defaults, true in structure; the engine built its model classes for them
without weights (vLLM 0.33.0).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kvcore.budget.weights import network_of
from kvcore.budget.weights.kernels import Platform
from kvcore.budget.weights.methods import read_quantization
from kvcore.budget.weights.ranks import Ranks
from kvcore.budget.weights.sizes import stage_weights
from kvcore.config import read_config

pytestmark = pytest.mark.golden

FILE = Path(__file__).parent / "vllm-0.33.0" / "weights.jsonl"
FAMILIES = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
CAPABILITY = {"H100": (9, 0), "B200": (10, 0)}


def stage_bytes(family: Mapping[str, Any], point: Mapping[str, Any]) -> list[int]:
    """Bytes on one GPU of each pipeline stage, layers divided equally."""
    config = read_config(family["config"])
    network = network_of(config)
    stages = point.get("pipeline_parallel_size", 1)
    layers = [len(network.layers) // stages] * stages
    ranks = Ranks(
        tensor=point.get("tensor_parallel_size", 1), expert_parallel=point.get("enable_expert_parallel", False)
    )
    quantization = read_quantization(config, Platform(capability=CAPABILITY[family["gpu"]]))
    return [stage.bytes for stage in stage_weights(network, ranks, layers, "bfloat16", quantization)]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family["name"])
def test_a_family_is_equal_to_the_byte_on_every_stage(family: Mapping[str, Any]) -> None:
    assert [stage_bytes(family, point) for point in family["points"]] == [
        point["stage_bytes"] for point in family["points"]
    ]
