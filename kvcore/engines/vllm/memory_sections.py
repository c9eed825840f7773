"""Sections of the report about memory: weights, and capacity over the interval of an estimated budget."""

from collections.abc import Mapping
from typing import Any

from kvcore.arithmetic import GIB
from kvcore.budget import Budget
from kvcore.budget.weights import ModelWeights
from kvcore.budget.weights.drafter import GROUP as DRAFTER
from kvcore.engines.vllm.plan import Plan
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.engines.vllm.weighing import whole_bytes
from kvcore.layout.drafters import NOTHING_CACHED
from kvcore.report.report import CapacityInterval, WeightGroup, Weights
from kvcore.request import Request
from kvcore.subject import Subject

PUBLISHED_KEYS = ("safetensors_bytes", "total_size_bytes")

LOGGED_BUDGET = (
    "A logged budget holds for the context length, batch sizes, parallel sizes and release it was logged under: activations "
    "move with max_num_batched_tokens, max_num_seqs and, for latent attention, max_model_len; CUDA graphs with "
    "max_num_seqs; and what is taken off at all with the release."
)

ESTIMATED = (
    "The budget is estimated: weights are computed, activations, CUDA graphs and memory outside PyTorch are fitted on "
    "public logs. The interval held 80 % of logs that were left out."
)

SYSTEM_MINIMUM = 3 * GIB // 2
"""What contexts, communicators and allocations after start-up take outside the share in use."""


def weights_section(
    weights: ModelWeights | None, published: Mapping[str, Any], whole_bytes: int | None, reason: str
) -> Weights:
    """The weights as reported.

    Args:
        weights: Weights as computed; None where they are not known.
        published: Published sizes of the catalogue entry.
        whole_bytes: The model's tensors, each once.
        reason: Why weights are not known.
    """
    if weights is None:
        return Weights(bytes_per_gpu=None, params=None, kind="unknown", reason=reason)
    own = [stage.bytes - stage.by_group.get(DRAFTER, 0) for stage in weights.stages]
    fullest = max(range(len(own)), key=lambda stage: own[stage])
    groups = weights.stages[fullest].by_group.items()
    published_bytes = next((published[key] for key in PUBLISHED_KEYS if isinstance(published.get(key), int)), None)
    return Weights(
        bytes_per_gpu=own[fullest],
        params=weights.params,
        kind="derived",
        quantization=weights.quantization,
        loaded_bytes=max(weights.loaded_bytes(stage) for stage in range(len(weights.stages))),
        stage_bytes=tuple(own),
        groups=tuple(WeightGroup(name=name, bytes=size) for name, size in groups if name != DRAFTER),
        extras=tuple(WeightGroup(name=extra.name, bytes=extra.bytes) for extra in weights.extras[fullest]),
        published_bytes=published_bytes,
        difference_bytes=None if published_bytes is None or whole_bytes is None else whole_bytes - published_bytes,
        drafter_bytes=weights.drafter_bytes,
    )


def capacity_interval(low: Plan, high: Plan) -> CapacityInterval:
    """The logged figures of the plans at both ends of a budget's interval."""
    return CapacityInterval(tokens=(low.tokens, high.tokens), concurrency=(low.concurrency, high.concurrency))


def reported_weights(weights: ModelWeights | None, reason: str, subject: Subject, dtype: str) -> Weights:
    """The weights of an answer, beside the published size where the subject has one."""
    published = subject.published_weights
    whole = None
    if weights is not None and subject.config is not None and any(key in published for key in PUBLISHED_KEYS):
        whole = whole_bytes(subject.config, dtype)
    return weights_section(weights, published, whole, reason)


def memory_warnings(
    request: Request, settings: EngineSettings, budget: Budget, weights: ModelWeights | None, weights_reason: str
) -> tuple[str, ...]:
    """What the reader must know about weights and budget."""
    warnings = []
    if budget.kv_cache_bytes is None:
        warnings.append(
            "No budget is known, so no capacity: give kv_cache_memory_bytes or available_kv_cache_gib (the engine logs "
            "it as Available KV cache memory)."
        )
    if weights_reason and request.layout is None:
        warnings.append(f"Weights are not known: {weights_reason}")
    if request.available_kv_cache_gib is not None:
        warnings.append(LOGGED_BUDGET)
    if budget.kind == "estimated":
        warnings.extend(_estimate_warnings(request, settings, budget))
        if _misses_drafter(request, weights):
            warnings.append("The drafter's weights are not taken off: add them to weights_gib.")
    if settings.data_parallel_size > 1:
        warnings.append(
            f"Bytes, tokens and concurrency are those of one of {settings.data_parallel_size} data-parallel ranks; each has "
            "a cache of its own."
        )
    if settings.gpu.vendor != "nvidia" and budget.kind == "estimated":
        warnings.append("The terms of the estimate were fitted on NVIDIA GPUs.")
    return tuple(warnings)


def _misses_drafter(request: Request, weights: ModelWeights | None) -> bool:
    """Whether a drafter with tensors of its own is not among the weights taken off."""
    if request.speculative_config is None or request.speculative_config.method in NOTHING_CACHED:
        return False
    return request.weights_gib is not None or weights is None or weights.drafter_bytes is None


def _estimate_warnings(request: Request, settings: EngineSettings, budget: Budget) -> list[str]:
    warnings = [ESTIMATED]
    if budget.missing_bytes:
        warnings.append(
            f"The engine does not start: {budget.missing_bytes / GIB:.2f} GiB are missing before any cache."
        )
    slack = next((reserve.bytes for reserve in budget.reserves if reserve.name == "left to the system"), None)
    if slack is not None and slack < SYSTEM_MINIMUM:
        warnings.append(
            f"Only {slack / GIB:.2f} GiB are left outside gpu_memory_utilization: below about {SYSTEM_MINIMUM / GIB:g} GiB "
            "start-up may run out of memory."
        )
    if settings.gpu.name == "GB10":
        warnings.append("The GPU shares its memory with the host: what the host uses is not free for the cache.")
    return warnings
