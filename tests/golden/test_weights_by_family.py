"""Families of models, each in a few sizes that show its rules: the engine's own classes hold the same bytes on each GPU.

Most configs are small ones made of the classes' defaults, true in structure; the others are published ones, by name. The
engine built its model classes for them without weights (vLLM 0.33.0; ``releases.jsonl``: nine older releases' own classes).
Parameter counts come from Hugging Face transformers 5.20, built on the meta device.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.budget.weights import network_of
from kvcore.budget.weights.families.drafters import own_drafter
from kvcore.budget.weights.kernels import Platform
from kvcore.budget.weights.methods import read_quantization
from kvcore.budget.weights.quantization import Quantization
from kvcore.budget.weights.ranks import Ranks
from kvcore.budget.weights.sizes import published_params, stage_weights, weights_of_modules
from kvcore.catalog.gpus import find_gpu
from kvcore.config import ModelConfig, read_config
from kvcore.engines.vllm.profiles import parse_release
from kvcore.engines.vllm.stages import layers_per_stage
from kvcore.engines.vllm.weighing import TOWERS_ONCE_FROM, WIDENS_FROM
from tests.golden.points import config_of

pytestmark = pytest.mark.golden

FOLDER = Path(__file__).parent / "weights"
FAMILIES, SCHEMES, DRAFTERS, RELEASES = (
    [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]
    for name in ("families.jsonl", "schemes.jsonl", "drafters.jsonl", "releases.jsonl")
)
CAPABILITY = {"H100": (9, 0), "B200": (10, 0)}


def read(family: Mapping[str, Any]) -> tuple[ModelConfig, Quantization]:
    """A family's checkpoint, whose config stands beside it or among the golden configs, and how it stores modules."""
    stated = family["config"]
    config = read_config(config_of(stated) if isinstance(stated, str) else stated)
    return config, read_quantization(config, Platform(capability=CAPABILITY[family["gpu"]]))


def stage_bytes(family: Mapping[str, Any], point: Mapping[str, Any]) -> list[int]:
    """Bytes on one GPU of each pipeline stage, layers divided equally."""
    config, quantization = read(family)
    network = network_of(config)
    stages = point.get("pipeline_parallel_size", 1)
    layers = [len(network.layers) // stages] * stages
    ranks = Ranks(tensor=point.get("tensor_parallel_size", 1))
    return [stage.bytes for stage in stage_weights(network, ranks, layers, "bfloat16", quantization)]


def drafter_bytes(family: Mapping[str, Any], point: Mapping[str, Any]) -> int:
    """Bytes of the drafter inside a checkpoint on one GPU, before it shares anything with the model."""
    config, quantization = read(family)
    drafter = own_drafter(config)
    assert drafter is not None
    ranks = Ranks(tensor=point["tensor_parallel_size"])
    return weights_of_modules(drafter.created(), ranks, "bfloat16", quantization).bytes


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family["name"])
def test_a_family_is_equal_to_the_byte_on_every_stage(family: Mapping[str, Any]) -> None:
    assert [stage_bytes(family, point) for point in family["points"]] == [
        point["stage_bytes"] for point in family["points"]
    ]


@pytest.mark.parametrize(
    "family", [family for family in FAMILIES if "params" in family], ids=lambda family: family["name"]
)
def test_parameters_of_a_family_are_those_of_transformers(family: Mapping[str, Any]) -> None:
    config, _ = read(family)

    assert published_params(network_of(config)) == family["params"]


@pytest.mark.parametrize("family", SCHEMES, ids=lambda family: family["name"])
def test_a_scheme_is_equal_to_the_byte_in_a_dense_model_and_in_a_mixture(family: Mapping[str, Any]) -> None:
    assert [stage_bytes(family, point) for point in family["points"]] == [
        point["stage_bytes"] for point in family["points"]
    ]


@pytest.mark.parametrize("family", DRAFTERS, ids=lambda family: family["name"])
def test_a_drafter_of_a_family_is_equal_to_the_byte(family: Mapping[str, Any]) -> None:
    assert [drafter_bytes(family, point) for point in family["points"]] == [
        point["drafter_bytes"] for point in family["points"]
    ]


def older_bytes(point: Mapping[str, Any]) -> list[int]:
    """Bytes on one GPU of each pipeline stage in the point's release."""
    release = parse_release(point["engine_version"])
    config = read_config(config_of(point["config"]))
    network = network_of(config)
    ranks = Ranks(
        tensor=point["tensor_parallel_size"],
        widens_narrow_experts=release >= WIDENS_FROM,
        towers_everywhere=release < TOWERS_ONCE_FROM,
    )
    platform = Platform(capability=find_gpu(point["gpu"]).capability, release=release[:2])
    layers = layers_per_stage(len(network.layers), point["pipeline_parallel_size"], None)
    stages = stage_weights(network, ranks, layers, "bfloat16", read_quantization(config, platform))
    return [stage.bytes for stage in stages]


@pytest.mark.parametrize("release", sorted({point["engine_version"] for point in RELEASES}))
def test_weights_of_older_releases_are_within_one_percent_on_every_point(release: str) -> None:
    points = [point for point in RELEASES if point["engine_version"] == release]

    assert [point for point in points if abs(max(older_bytes(point)) / max(point["stage_bytes"]) - 1) > 0.01] == []


def test_towers_stood_on_every_pipeline_stage_before_0_33() -> None:
    stages = [
        stages
        for point in RELEASES
        if point["config"] == "google__gemma-3-27b-it"
        and point["engine_version"] == "0.32.0"
        and (stages := point["stage_bytes"])[1:]
    ]
    config = config_of("google__gemma-3-27b-it")
    weights = answer({"config": config, "engine_version": "0.32.0", "gpu": "H100", "pipeline_parallel_size": 2}).weights

    assert weights is not None
    assert [list(weights.stage_bytes)] == stages
