"""Inverse answers over the catalogue: the forward question holds at the answer and fails one step beyond."""

from typing import Any

import pytest

from kvcore.catalog import load_models
from kvcore.questions import longest_context, smallest_budget
from kvcore.questions.forward import ask_or_refused

GIB = 1 << 30
EVERY = 12
BUDGET = 24 * GIB
REQUESTS = 3
MODELS = [entry.id for entry in load_models()][::EVERY]


def _deployment(model: str) -> dict[str, Any]:
    return {"model": model, "tensor_parallel_size": 1, "kv_cache_memory_bytes": BUDGET, "gpu": "B200"}


def _keeps_a_growing_cache(deployment: dict[str, Any]) -> bool:
    report = ask_or_refused(deployment)
    return report is not None and report.plan is not None and bool(report.plan.groups)


@pytest.mark.parametrize("model", MODELS)
def test_the_longest_context_is_enough_and_one_token_more_is_not(model: str) -> None:
    deployment = _deployment(model)
    if not _keeps_a_growing_cache(deployment):
        assert ask_or_refused(deployment) is None or ask_or_refused(deployment).plan.groups == ()  # type: ignore[union-attr]
        return
    solution = longest_context(deployment, REQUESTS)
    if solution.value is None:
        assert not solution.checks[0].enough
        return
    assert solution.checks[0].enough
    assert all(not beyond.enough for beyond in solution.checks[1:])


@pytest.mark.parametrize("model", MODELS)
def test_the_smallest_budget_is_enough_and_one_byte_less_is_not(model: str) -> None:
    deployment = {**_deployment(model), "max_model_len": 2048}
    if not _keeps_a_growing_cache({**deployment, "kv_cache_memory_bytes": 10**13}):
        assert smallest_budget_is_refused(deployment)
        return
    at, below = smallest_budget(deployment, REQUESTS).checks
    assert at.enough
    assert not below.enough


def smallest_budget_is_refused(deployment: dict[str, Any]) -> bool:
    """Whether the forward question is refused or needs no cache at any budget."""
    report = ask_or_refused({**deployment, "kv_cache_memory_bytes": 10**13})
    return report is None or report.plan is None or not report.plan.groups
