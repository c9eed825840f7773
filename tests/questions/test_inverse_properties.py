"""Inverse answers over the catalogue: the forward question holds at the answer and fails one step beyond.

Every model is asked one of the questions at least; those that ask few forward questions are asked of more models.
"""

import math
from collections.abc import Callable
from typing import Any

import pytest

from kvcore.catalog import load_models
from kvcore.errors import KvcoreError
from kvcore.questions import Solution, best_split, fewest_gpus, longest_context, smallest_budget, smallest_utilization
from kvcore.questions.concurrency import most_requests
from kvcore.questions.forward import ask, ask_or_refused, concurrency

GIB = 1 << 30
BUDGET = 24 * GIB
REQUESTS = 3
NODE = 8
ALL = [entry.id for entry in load_models()]
THOUSANDTH = 0.001


def every(step: int, first: int = 0) -> list[str]:
    """Each so many-th model of the catalogue."""
    return ALL[first::step]


def _deployment(model: str) -> dict[str, Any]:
    return {"model": model, "tensor_parallel_size": 1, "kv_cache_memory_bytes": BUDGET, "gpu": "B200"}


def _estimated(model: str) -> dict[str, Any]:
    return {"model": model, "gpu": "B200", "max_model_len": 2048}


def _keeps_a_growing_cache(deployment: dict[str, Any]) -> bool:
    report = ask_or_refused(deployment)
    return report is not None and report.plan is not None and bool(report.plan.groups)


def _held_by(request: Any) -> float:
    """Requests at once of a forward question; none where the engine refuses it or nothing fits."""
    report = ask_or_refused(request)
    return (concurrency(report, "engine_log") or 0.0) if report is not None else 0.0


def _solved(deployment: dict[str, Any], question: Callable[[], Solution]) -> Solution | None:
    """The answer to an inverse question; None only where the forward question gives no figure either."""
    try:
        return question()
    except KvcoreError:
        assert _held_by(deployment) == 0
        return None


def _held_by_splits(deployment: dict[str, Any], gpus: int) -> list[int]:
    """Whole requests of every split of some GPUs into tensor-parallel replicas."""
    sizes = [tp for tp in range(1, gpus + 1) if gpus % tp == 0]
    splits = [{**deployment, "tensor_parallel_size": tp, "data_parallel_size": gpus // tp} for tp in sizes]
    return [math.floor(_held_by(split)) * split["data_parallel_size"] for split in splits]


@pytest.mark.parametrize("model", every(2))
def test_the_longest_context_is_enough_and_one_token_more_is_not(model: str) -> None:
    deployment = _deployment(model)
    if not _keeps_a_growing_cache(deployment):
        assert _held_by(deployment) == 0
        return
    solution = longest_context(deployment, REQUESTS)
    if solution.value is None:
        assert not solution.checks[0].enough
        return
    assert _held_by(solution.request) >= REQUESTS
    if solution.note != "the model's own limit":
        assert _held_by({**solution.request, "max_model_len": int(solution.value) + 1}) < REQUESTS


@pytest.mark.parametrize("model", every(2, 1))
def test_the_smallest_budget_is_enough_and_one_byte_less_is_not(model: str) -> None:
    deployment = {**_deployment(model), "max_model_len": 2048}
    if not _keeps_a_growing_cache({**deployment, "kv_cache_memory_bytes": 10**13}):
        report = ask_or_refused({**deployment, "kv_cache_memory_bytes": 10**13})
        assert report is None or report.plan is None or not report.plan.groups
        return
    solution = smallest_budget(deployment, REQUESTS)
    assert solution.value is not None
    assert _held_by(solution.request) >= REQUESTS
    assert _held_by({**solution.request, "kv_cache_memory_bytes": int(solution.value) - 1}) < REQUESTS


@pytest.mark.parametrize("model", every(3))
def test_the_most_requests_are_held_and_one_more_is_not(model: str) -> None:
    deployment = {**_deployment(model), "max_model_len": 2048}
    solution = _solved(deployment, lambda: most_requests(deployment))
    if solution is None:
        return
    held = _held_by(solution.request)
    assert (solution.value or 0) == math.floor(held)
    assert [check.enough for check in solution.checks] == ([True, False] if solution.value else [False])


@pytest.mark.parametrize("model", every(4))
def test_the_smallest_utilization_is_enough_and_a_thousandth_less_is_not(model: str) -> None:
    deployment = {**_estimated(model), "tensor_parallel_size": NODE}
    solution = _solved(deployment, lambda: smallest_utilization(deployment, REQUESTS))
    if solution is None:
        return
    if solution.value is None:
        assert _held_by({**deployment, "gpu_memory_utilization": 1.0}) < REQUESTS
        return
    assert _held_by(solution.request) >= REQUESTS
    if solution.value > THOUSANDTH:
        less = round(float(solution.value) - THOUSANDTH, 3)
        assert _held_by({**solution.request, "gpu_memory_utilization": less}) < REQUESTS


@pytest.mark.parametrize("model", every(12))
def test_the_fewest_gpus_are_enough_and_no_split_of_one_gpu_less_is(model: str) -> None:
    wish = 300
    most = 12
    deployment = _estimated(model)
    solution = _solved(deployment, lambda: fewest_gpus(deployment, wish, most=most))
    if solution is None:
        return
    if solution.value is None:
        assert all(held < wish for gpus in range(1, most + 1) for held in _held_by_splits(deployment, gpus))
        return
    replicas = solution.request["data_parallel_size"]
    assert math.floor(_held_by(solution.request)) * replicas >= wish
    assert all(not beyond.enough for beyond in solution.checks[1:])
    assert all(held < wish for held in _held_by_splits(deployment, int(solution.value) - 1))


@pytest.mark.parametrize("model", every(24))
def test_no_split_of_a_node_holds_more_than_the_best(model: str) -> None:
    deployment = _estimated(model)
    solution = _solved(deployment, lambda: best_split(deployment, NODE))
    if solution is None:
        return
    if solution.value is None:
        assert not any(_held_by_splits(deployment, NODE))
        return
    replicas = solution.request["data_parallel_size"]
    assert _held_by(solution.request) * replicas == solution.value
    for tp in (1, 2, 4, 8):
        request = {**deployment, "tensor_parallel_size": tp, "data_parallel_size": NODE // tp}
        assert _held_by(request) * (NODE // tp) <= solution.value


def test_the_context_of_the_deployment_is_what_its_requests_are_counted_at() -> None:
    solution = most_requests(_deployment("meta-llama/Llama-3.1-8B-Instruct"))
    report = ask(_deployment("meta-llama/Llama-3.1-8B-Instruct"))
    assert report.request is not None
    assert solution.request["max_model_len"] == report.request.max_model_len
