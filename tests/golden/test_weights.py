"""The engine's own classes, built without weights, hold as many bytes on each GPU as ``kvcore`` computes.

Parameter counts come from Hugging Face transformers 5.24, built on the meta device.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kvcore.budget.weights import network_of
from kvcore.budget.weights.families.drafters import own_drafter
from kvcore.budget.weights.kernels import Platform
from kvcore.budget.weights.methods import read_quantization
from kvcore.budget.weights.ranks import Ranks
from kvcore.budget.weights.sizes import published_params, weights_of_modules
from kvcore.config import read_config
from kvcore.errors import ConfigError
from tests.golden.points import Point, answer_of, config_of, points_by_config

pytestmark = pytest.mark.golden

FILES = ("vllm-0.33.0/hopper.jsonl", "vllm-0.33.0/blackwell.jsonl")
COUNTS = json.loads((Path(__file__).parent / "param-counts.json").read_text("utf-8"))
SIXTEEN_BIT = {"bfloat16", "float16", "float32"}

NOT_COUNTED = {
    "Qwen__Qwen2.5-Omni-7B": "the talker and the vocoder are not loaded by the engine",
    "meta-llama__Llama-3.2-11B-Vision-Instruct": "dropped by vLLM before 0.33",
    "meta-llama__Llama-3.2-90B-Vision-Instruct": "dropped by vLLM before 0.33",
}
"""Models whose published count is not known to kvcore, and why."""


def drafter_bytes(weights: Mapping[str, Any]) -> int | None:
    """Bytes of the drafter, which the engine counts apart from the model's own."""
    found: int | None = weights["drafter_bytes"]
    return found


def errors() -> Iterator[tuple[str, float, bool]]:
    """Relative error of the fullest stage, and whether 16-bit bytes are equal on every stage, of each golden point."""
    for file in FILES:
        for config in points_by_config(file):
            for point, report in zip(points_by_config(file)[config], answer_of(file, config), strict=True):
                engine = point.weights["stage_bytes"]
                found = report["weights"] or {}
                if found.get("bytes_per_gpu") is None:
                    yield f"{config} {point.id}", 1.0, False
                    continue
                stages = found["stage_bytes"]
                error = abs(found["bytes_per_gpu"] / max(engine) - 1)
                is_plain = all(set(dtypes) <= SIXTEEN_BIT for dtypes in point.weights["by_dtype"])
                yield f"{config} {point.id}", error, not is_plain or stages == engine


def test_weights_are_within_one_percent_on_98_percent_of_the_engine_s_points() -> None:
    found = [error for _, error, _ in errors()]

    assert sum(error <= 0.01 for error in found) >= 0.98 * len(found)


def test_sixteen_bit_weights_are_equal_to_the_byte() -> None:
    assert [name for name, _, equal in errors() if not equal] == []


@pytest.mark.parametrize("config", [name for name in COUNTS if name not in NOT_COUNTED])
def test_parameters_are_those_of_transformers(config: str) -> None:
    assert published_params(network_of(read_config(config_of(config)))) == COUNTS[config]


def published(config: str) -> int | None:
    """The published count, None where the architecture is not described."""
    with contextlib.suppress(ConfigError):
        return published_params(network_of(read_config(config_of(config))))
    return None


@pytest.mark.parametrize("config", [name for name in NOT_COUNTED if name in COUNTS])
def test_a_count_that_is_not_known_is_no_number(config: str) -> None:
    assert published(config) is None


CAPABILITY = {"H100": (9, 0), "B200": (10, 0)}
DRAFTED = [
    point
    for file in FILES
    for points in points_by_config(file).values()
    for point in points
    if "draft_last_stage" in point.weights
]


def created_and_kept(point: Point) -> tuple[int, int]:
    """Bytes of the drafter before and after it shares with the model, on one GPU of one stage."""
    config = read_config(config_of(point.config))
    drafter = own_drafter(config)
    assert drafter is not None
    ranks = Ranks(tensor=point.request["tensor_parallel_size"])
    quantization = read_quantization(drafter.config, Platform(capability=CAPABILITY[point.request["gpu"]]))
    created, kept = (
        weights_of_modules(modules, ranks, point.resolved["dtype"], quantization).bytes
        for modules in (drafter.created(), drafter.kept(1))
    )
    return created, kept


@pytest.mark.parametrize(
    "point",
    DRAFTED,
    ids=lambda point: f"{point.config} {point.id}",
)
def test_a_drafter_is_equal_to_the_byte_before_it_shares_anything(point: Point) -> None:
    created, _ = created_and_kept(point)

    assert created == point.weights["draft_last_stage"]["bytes"]


def test_a_report_holds_the_drafter_without_what_it_shares() -> None:
    file, config = FILES[0], "deepseek-ai__DeepSeek-V3"
    drafted = [
        (point, drafter_bytes(report["weights"]))
        for point, report in zip(points_by_config(file)[config], answer_of(file, config), strict=True)
        if "draft_last_stage" in point.weights
    ]
    vocabulary, hidden, half, tables = 129_280, 7_168, 2, 2  # the embedding and the head of the one layer

    assert [kept for _, kept in drafted] == [
        point.weights["draft_last_stage"]["bytes"]
        - tables * vocabulary * hidden * half // point.request["tensor_parallel_size"]
        for point, _ in drafted
    ]
