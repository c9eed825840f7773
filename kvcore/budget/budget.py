"""The cache budget of one GPU: given exactly, as logged, or estimated from the GPU's memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kvcore.arithmetic import GIB
from kvcore.budget.estimate import OVERRIDES, Estimate, estimate_stages, interval_of, tightest, utilization_of
from kvcore.budget.weights import ModelWeights
from kvcore.config import ModelConfig
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.errors import input_error
from kvcore.report.report import Input, Reserve
from kvcore.request import Request

ASKS_FOR_ESTIMATE = ("gpu", "gpu_memory_gib", "gpu_memory_utilization", *OVERRIDES)
"""Fields any of which asks for an estimate where no budget is given."""

HALF_A_HUNDREDTH = GIB // 200
"""Bytes by which a logged budget may differ from what is printed: half of the second decimal of a GiB."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Bytes for the cache.

    Attributes:
        stage_bytes: Cache bytes on one GPU of each pipeline stage; one value holds for all; empty: not known.
        kind: ``given``, ``estimated`` or ``unknown``.
        note: How the number came about.
        interval_bytes: Lower and upper bound where estimated, or of a logged figure's last digit.
        reserves: What else takes the memory of the GPU with the least left.
        missing_bytes: What is missing on that GPU before anything is left for the cache; 0 where something is.
        inputs: Settings the estimate used, with their origin.
    """

    stage_bytes: tuple[int, ...]
    kind: str
    note: str
    interval_bytes: tuple[int, int] | None = None
    reserves: tuple[Reserve, ...] = ()
    missing_bytes: int = 0
    inputs: Mapping[str, Input] = field(default_factory=dict)

    @property
    def kv_cache_bytes(self) -> int | None:
        """Bytes on the GPU with the least memory for the cache."""
        return min(self.stage_bytes) if self.stage_bytes else None


def resolve_budget(
    request: Request, config: ModelConfig | None, settings: EngineSettings, weights: ModelWeights | None
) -> Budget:
    """The budget of a request; a given number wins over every estimate.

    Args:
        request: The question.
        config: The checkpoint; None for a layout given by hand, for which nothing is estimated.
        settings: The engine's settings after defaults.
        weights: Weights as computed; None where they are not known.

    Raises:
        InputError: The list of budgets does not match the pipeline stages, the GPU's memory is not known, or an override is
            larger than the card.
    """
    given = _given(request, settings)
    if given is not None:
        return given
    if not any(name in request.given for name in ASKS_FOR_ESTIMATE):
        return Budget(stage_bytes=(), kind="unknown", note="no budget is given")
    if config is None or (weights is None and request.weights_gib is None):
        return Budget(stage_bytes=(), kind="unknown", note="weights are not known, so nothing can be taken off")
    return _estimated(request, settings, estimate_stages(request, config, settings, weights))


def _given(request: Request, settings: EngineSettings) -> Budget | None:
    exact = request.kv_cache_memory_bytes
    if exact is not None:
        stages = (exact,) if isinstance(exact, int) else tuple(exact)
        if len(stages) not in {1, settings.pipeline_parallel_size}:
            rule = f"one value, or one per pipeline stage ({settings.pipeline_parallel_size}), is expected"
            raise input_error("kv_cache_memory_bytes", list(stages), rule, "Give as many values as stages.")
        return Budget(stage_bytes=stages, kind="given", note="kv_cache_memory_bytes, exact")
    if request.available_kv_cache_gib is None:
        return None
    number = int(request.available_kv_cache_gib * GIB)
    return Budget(
        stage_bytes=(number,),
        kind="given",
        note="Available KV cache memory as logged, which prints two decimals",
        interval_bytes=(number - HALF_A_HUNDREDTH, number + HALF_A_HUNDREDTH),
    )


def _estimated(request: Request, settings: EngineSettings, estimates: tuple[Estimate, ...]) -> Budget:
    least = tightest(estimates)
    return Budget(
        stage_bytes=tuple(max(0, estimate.cache_bytes) for estimate in estimates),
        kind="estimated",
        note="the GPU's memory × utilization, less weights and what start-up takes",
        interval_bytes=interval_of(request, least.cache_bytes),
        reserves=least.reserves,
        missing_bytes=max(0, -least.cache_bytes),
        inputs=_inputs(request, settings),
    )


def _inputs(request: Request, settings: EngineSettings) -> dict[str, Input]:
    total = settings.gpu.usable_bytes or 0
    is_typed = request.gpu_memory_gib is not None
    memory_note = "typed by hand" if is_typed else f"as the driver of {settings.gpu.name} reports it"
    utilization = utilization_of(request, settings)
    is_given = request.gpu_memory_utilization is not None
    return {
        "gpu_memory_gib": Input(
            value=round(total / GIB, 2), origin="given" if is_typed else "default", note=memory_note
        ),
        "gpu_memory_utilization": Input(
            value=utilization,
            origin="given" if is_given else "default",
            note="" if is_given else "default of the release",
        ),
        **{
            name: Input(value=getattr(request, name), origin="given")
            for name in OVERRIDES
            if getattr(request, name) is not None
        },
    }
