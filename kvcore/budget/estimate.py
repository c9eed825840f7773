"""Estimate: from a GPU's memory to the bytes left for the cache, term by term as vLLM takes them off.

Source: vLLM 0.33.0 `Worker.determine_available_memory`: requested memory minus weights, peak of activations, memory
outside PyTorch and, since 0.20, the estimate of CUDA graphs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kvcore.arithmetic import GIB
from kvcore.budget.fitted import FIT, Fit
from kvcore.budget.shape import is_multimodal, shape_of
from kvcore.budget.terms import activation_bytes, cuda_graph_bytes, non_torch_bytes
from kvcore.budget.weights import ModelWeights
from kvcore.budget.weights.ranks import Ranks
from kvcore.config import ModelConfig
from kvcore.engines.vllm.profiles import parse_release
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.errors import input_error
from kvcore.report.report import Reserve
from kvcore.request import Request

OVERRIDES = ("weights_gib", "activation_gib", "cuda_graph_gib", "non_torch_gib")
WORKER = "vLLM 0.33.0 `Worker.determine_available_memory`"
LOGS = "fitted on public startup logs"


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The estimate of one GPU of one pipeline stage.

    Attributes:
        cache_bytes: What is left for the cache; negative where the rest does not fit.
        reserves: Everything else, adding up to the GPU's memory with the cache.
    """

    cache_bytes: int
    reserves: tuple[Reserve, ...]


def requested_bytes(total: int, utilization: float) -> int:
    """Memory the engine may use (vLLM 0.33.0 `request_memory`), in its own double precision."""
    return math.ceil(total * utilization)


def estimate_stages(
    request: Request,
    config: ModelConfig,
    settings: EngineSettings,
    weights: ModelWeights | None,
    fit: Fit = FIT,
) -> tuple[Estimate, ...]:
    """The estimate of every pipeline stage.

    Args:
        request: The question, for overrides.
        config: The checkpoint.
        settings: The engine's settings after defaults.
        weights: Weights as computed; None where ``weights_gib`` replaces them.
        fit: Constants of the terms.

    Raises:
        InputError: The GPU's memory is not known, or an override is larger than the card.
    """
    total = settings.gpu.usable_bytes
    if total is None:
        rule = "no log states the memory this GPU reports, so no budget can be estimated"
        raise input_error(
            "gpu", settings.gpu.name, rule, "Give gpu_memory_gib, or available_kv_cache_gib from the log."
        )
    _check_overrides(request, total)
    utilization = utilization_of(request, settings)
    stages = settings.pipeline_parallel_size
    return tuple(
        _estimate(request, config, settings, weights, total, utilization, stage, stages, fit) for stage in range(stages)
    )


def utilization_of(request: Request, settings: EngineSettings) -> float:
    """The share of memory in force."""
    given = request.gpu_memory_utilization
    return float(settings.profile.gpu_memory_utilization) if given is None else given


def _check_overrides(request: Request, total: int) -> None:
    for name in OVERRIDES:
        value = getattr(request, name)
        if value is not None and value * GIB > total:
            rule = f"must be at most the GPU's memory, {total / GIB:.2f} GiB"
            raise input_error(name, value, rule, "Give GiB per GPU, as the log prints them.")


def _estimate(
    request: Request, config: ModelConfig, settings: EngineSettings, weights: ModelWeights | None, total: int,
    utilization: float, stage: int, stages: int, fit: Fit,
) -> Estimate:  # fmt: skip
    ranks = Ranks(
        tensor=settings.tensor_parallel_size,
        data=settings.data_parallel_size,
        expert_parallel=request.enable_expert_parallel,
    )
    release = release_of(settings)
    shape = shape_of(config, settings, ranks, samples=stage == stages - 1)
    eager = bool(request.enforce_eager)
    with_encoder = is_multimodal(config)
    loaded = weights.loaded_bytes(stage) if weights is not None else 0
    activations = activation_bytes(shape, release, fit)
    outside = non_torch_bytes(ranks.tensor * ranks.data * stages, release, settings.gpu.capability, fit)
    graphs = cuda_graph_bytes(
        eager=eager, deducted=settings.profile.deducts_cuda_graphs, is_multimodal=with_encoder, fit=fit
    )
    requested = requested_bytes(total, utilization)
    reserves = (
        _reserve("weights", loaded, request.weights_gib, "derived", "the model's tensors as the engine creates and loads them",
                 "sum over tensors + RoPE tables + absorbed projections"),
        _reserve("activation peak", activations, request.activation_gib, "assumed", f"{WORKER}; {LOGS}",
                 "max(forward, sampling) + encoder"),
        _reserve("outside PyTorch", outside, request.non_torch_gib, "assumed", f"{WORKER}; {LOGS}", "a constant by number of ranks"),
        _reserve("CUDA graphs", graphs, request.cuda_graph_gib, "assumed", f"{WORKER}; {LOGS}",
                 "a constant; 0 in eager mode and before 0.20"),
        Reserve(name="left to the system", bytes=total - requested, kind="derived", source="vLLM 0.33.0 `request_memory`",
                formula="total − ⌈total × gpu_memory_utilization⌉"),
    )  # fmt: skip
    used = sum(reserve.bytes for reserve in reserves)
    return Estimate(cache_bytes=total - used, reserves=reserves)


def _reserve(name: str, computed: int, override: float | None, kind: str, source: str, formula: str) -> Reserve:
    if override is None:
        return Reserve(name=name, bytes=computed, kind=kind, source=source, formula=formula)
    return Reserve(name=name, bytes=int(override * GIB), kind="given", source="the request", formula="")


def release_of(settings: EngineSettings) -> tuple[int, int]:
    """The release in force as two numbers."""
    release = parse_release(settings.engine_version or settings.profile.version)
    return release[0], release[1]


def interval_of(request: Request, cache_bytes: int, fit: Fit = FIT) -> tuple[int, int] | None:
    """The 80 % interval around an estimate; None where every uncertain term was given."""
    uncertain = [name for name in OVERRIDES if name != "weights_gib" and getattr(request, name) is None]
    if not uncertain:
        return None
    low, high = fit.interval
    return max(0, cache_bytes + low), max(0, cache_bytes + high)


def tightest(estimates: Sequence[Estimate]) -> Estimate:
    """The stage with the least memory for the cache."""
    return min(estimates, key=lambda estimate: estimate.cache_bytes)
