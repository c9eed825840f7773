"""Inverse answers over the catalogue: the forward question holds at the answer and fails one step beyond.

Every model is asked one of the questions at least; those that ask few forward questions are asked of more models.
"""

import math
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


def _solved(question: Any, *arguments: Any, **more: Any) -> Solution | None:
    """The answer to an inverse question; None where the deployment itself is refused."""
    try:
        return question(*arguments, **more)  # type: ignore[no-any-return]
    except KvcoreError:
        return None


@pytest.mark.parametrize("model", every(2))
def test_the_longest_context_is_enough_and_one_token_more_is_not(model: str) -> None:
    deployment = _deployment(model)
    if not _keeps_a_growing_cache(deployment):
        assert ask_or_refused(deployment) is None or ask_or_refused(deployment).plan.groups == ()  # type: ignore[union-attr]
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
    solution = _solved(most_requests, {**_deployment(model), "max_model_len": 2048})
    if solution is None:
        return
    held = _held_by(solution.request)
    assert (solution.value or 0) == math.floor(held)
    assert [check.enough for check in solution.checks] == ([True, False] if solution.value else [False])


@pytest.mark.parametrize("model", every(4))
def test_the_smallest_utilization_is_enough_and_a_thousandth_less_is_not(model: str) -> None:
    solution = _solved(smallest_utilization, {**_estimated(model), "tensor_parallel_size": NODE}, REQUESTS)
    if solution is None or solution.value is None:
        return
    assert _held_by(solution.request) >= REQUESTS
    if solution.value > THOUSANDTH:
        less = round(float(solution.value) - THOUSANDTH, 3)
        assert _held_by({**solution.request, "gpu_memory_utilization": less}) < REQUESTS


@pytest.mark.parametrize("model", every(12))
def test_the_fewest_gpus_are_enough_and_no_split_of_one_gpu_less_is(model: str) -> None:
    wish = 300
    solution = _solved(fewest_gpus, _estimated(model), wish, most=12)
    if solution is None or solution.value is None:
        return
    replicas = solution.request["data_parallel_size"]
    assert math.floor(_held_by(solution.request)) * replicas >= wish
    assert all(not beyond.enough for beyond in solution.checks[1:])
    fewer = int(solution.value) - 1
    splits = [(tp, fewer // tp) for tp in range(1, fewer + 1) if fewer % tp == 0]
    for tp, dp in splits:
        request = {**_estimated(model), "tensor_parallel_size": tp, "data_parallel_size": dp}
        assert math.floor(_held_by(request)) * dp < wish


@pytest.mark.parametrize("model", every(24))
def test_no_split_of_a_node_holds_more_than_the_best(model: str) -> None:
    solution = _solved(best_split, _estimated(model), NODE)
    if solution is None or solution.value is None:
        return
    replicas = solution.request["data_parallel_size"]
    assert _held_by(solution.request) * replicas == solution.value
    for tp in (1, 2, 4, 8):
        request = {**_estimated(model), "tensor_parallel_size": tp, "data_parallel_size": NODE // tp}
        assert _held_by(request) * (NODE // tp) <= solution.value


def test_the_context_of_the_deployment_is_what_its_requests_are_counted_at() -> None:
    solution = most_requests(_deployment("meta-llama/Llama-3.1-8B-Instruct"))
    report = ask(_deployment("meta-llama/Llama-3.1-8B-Instruct"))
    assert report.request is not None
    assert solution.request["max_model_len"] == report.request.max_model_len
