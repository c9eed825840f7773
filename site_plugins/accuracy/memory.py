"""Public startup logs against kvcore: weights ("Model loading took") and budgets ("Available KV cache memory").

Plain functions for the tests and for the page that prints their tables.
"""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kvcore.arithmetic import GIB
from kvcore.budget.estimate import estimate_stages, tightest
from kvcore.budget.fitted import FIT, Fit
from kvcore.budget.weights import ModelWeights
from kvcore.catalog.models import find_model
from kvcore.config import ModelConfig
from kvcore.engines.vllm.profiles import find_profile
from kvcore.engines.vllm.settings import EngineSettings, resolve_settings
from kvcore.engines.vllm.weighing import weigh_deployment
from kvcore.request import Request, parse_request
from kvcore.subject import subject_of

LOGS = Path(__file__).resolve().parents[2] / "tests" / "golden" / "logs" / "memory.jsonl"


@dataclass(frozen=True, kw_only=True)
class LogCase:
    """One startup log.

    Attributes:
        id: Name of the log.
        url: Where it was published, or how it is referred to.
        model: Catalogue id of the model, or of one with the same tensors.
        request: The logged flags as request fields.
        loading_gib: "Model loading took"; None where not logged.
        available_gib: "Available KV cache memory"; None where not logged.
        reason: Why the figures may differ; empty where nothing is known.
    """

    id: str
    url: str
    model: str
    request: Mapping[str, Any]
    loading_gib: float | None
    available_gib: float | None
    reason: str

    @property
    def names_gpu(self) -> bool:
        """Whether the log says how much memory the GPU has."""
        return "gpu" in self.request or "gpu_memory_gib" in self.request


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A logged figure beside the computed one, in GiB."""

    case: LogCase
    logged: float
    computed: float
    interval: tuple[float, float] | None = None

    @property
    def error(self) -> float:
        """Computed minus logged, as a share of the logged figure."""
        return (self.computed - self.logged) / abs(self.logged)

    @property
    def contained(self) -> bool:
        """Whether the logged figure lies in the interval."""
        return self.interval is not None and self.interval[0] <= self.logged <= self.interval[1]


@dataclass(frozen=True)
class _Resolved:
    request: Request
    config: ModelConfig
    settings: EngineSettings
    weights: ModelWeights


@cache
def load_cases() -> tuple[LogCase, ...]:
    """Every log of the file."""
    lines = LOGS.read_text("utf-8").splitlines()
    return tuple(_case(json.loads(line)) for line in lines)


def _case(data: Mapping[str, Any]) -> LogCase:
    config = dict(find_model(data["model"]).config)
    if "quantization_config" in data:
        config["quantization_config"] = data["quantization_config"]
    return LogCase(
        id=data["id"],
        url=data["url"] or data["ref"],
        model=data["model"],
        request={"config": config, **data["request"]},
        loading_gib=data.get("model_loading_gib"),
        available_gib=data.get("available_kv_gib"),
        reason=data["reason"],
    )


def _resolve(case: LogCase) -> _Resolved:
    # The rules for weights are read from the newest release; older logs are compared with them all the same.
    request = parse_request(case.request)
    subject = subject_of(request)
    if subject.config is None:
        raise ValueError(f"{case.id} has no config")
    settings = resolve_settings(request, subject.config, subject.traits, find_profile(request.engine_version))
    return _Resolved(request, subject.config, settings, weigh_deployment(request, subject.config, settings))


@cache
def _resolved(identifier: str) -> _Resolved:
    return _resolve(next(case for case in load_cases() if case.id == identifier))


def weights_table() -> tuple[Comparison, ...]:
    """Weights computed from the config beside "Model loading took", worst last."""
    rows = []
    for case in load_cases():
        if case.loading_gib is None:
            continue
        weights = _resolved(case.id).weights
        computed = weights.loaded_bytes(weights.fullest) / GIB
        rows.append(Comparison(case=case, logged=case.loading_gib, computed=computed))
    return tuple(sorted(rows, key=lambda row: abs(row.error)))


def budget_cases() -> tuple[LogCase, ...]:
    """Logs that state a budget, the GPU, and a utilization or the release whose default it was."""
    return tuple(
        case
        for case in load_cases()
        if case.available_gib is not None
        and case.names_gpu
        and ("gpu_memory_utilization" in case.request or "engine_version" in case.request)
        and (case.loading_gib is not None or "config.json" not in case.reason)
    )


def estimated_gib(case: LogCase, fit: Fit) -> float:
    """The estimated budget, with the logged weights where there are any: only the other terms are tested."""
    found = _resolved(case.id)
    request = found.request
    if case.loading_gib is not None:
        request = dataclasses.replace(request, weights_gib=case.loading_gib)
    return tightest(estimate_stages(request, found.config, found.settings, found.weights, fit)).cache_bytes / GIB


def residuals(cases: Sequence[LogCase], fit: Fit) -> list[float]:
    """Logged minus estimated, in GiB."""
    return [(case.available_gib or 0.0) - estimated_gib(case, fit) for case in cases]


def quantiles(values: Sequence[float]) -> tuple[float, float]:
    """Lower and upper end of an 80 % prediction interval: order statistics of n + 1, rounded outwards."""
    ordered = sorted(values)
    count = len(ordered)
    low = max(0, math.floor(0.1 * (count + 1)) - 1)
    high = min(count - 1, math.ceil(0.9 * (count + 1)) - 1)
    return ordered[low], ordered[high]


def budget_table(fit: Fit = FIT) -> tuple[Comparison, ...]:
    """Estimates beside "Available KV cache memory", each with the interval of all other logs."""
    cases = budget_cases()
    errors = residuals(cases, fit)
    rows = []
    for index, case in enumerate(cases):
        low, high = quantiles(errors[:index] + errors[index + 1 :])
        computed = (case.available_gib or 0.0) - errors[index]
        logged = case.available_gib or 0.0
        rows.append(Comparison(case=case, logged=logged, computed=computed, interval=(computed + low, computed + high)))
    return tuple(sorted(rows, key=lambda row: abs(row.computed - row.logged)))
