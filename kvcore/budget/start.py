"""Start: the changes that would make an estimated deployment start, the smallest first."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence

from kvcore.arithmetic import GIB
from kvcore.budget.budget import Budget
from kvcore.budget.estimate import estimate_stages
from kvcore.config import ModelConfig
from kvcore.engines.vllm.plan import Plan
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.engines.vllm.weighing import weigh_deployment
from kvcore.errors import KvcoreError
from kvcore.request import Request

MOST_UTILIZATION = 0.97
"""Share beyond which start-up itself runs out of memory: communicators and contexts live in the rest."""

FACTORS = (2, 4, 8, 16)
SYSTEM = "left to the system"


Replan = Callable[[EngineSettings, Sequence[int]], Plan]
"""Plans the same model under other settings and budgets."""


def remedies(
    request: Request, config: ModelConfig, settings: EngineSettings, budget: Budget, plan: Plan, replan: Replan
) -> tuple[str, ...]:
    """Changes of one field that make the deployment start; empty where it starts or nothing was estimated."""
    if budget.kind != "estimated" or (budget.missing_bytes == 0 and (plan.fit is None or plan.fit.fits)):
        return ()
    needed = plan.fit.needed_bytes if plan.fit is not None else 0
    return tuple(_found(request, config, settings, budget, plan, needed, replan))


def _found(
    request: Request,
    config: ModelConfig,
    settings: EngineSettings,
    budget: Budget,
    plan: Plan,
    needed: int,
    replan: Replan,
) -> Iterator[str]:
    if budget.missing_bytes == 0 and plan.fit is not None and plan.fit.longest > 0:
        yield f"max_model_len {plan.fit.longest:,}: the longest request the memory left holds"
    share = _utilization(settings, budget, needed)
    if share is not None:
        yield f"gpu_memory_utilization {share:.2f}: leaves {needed / GIB:.2f} GiB for one request"
    ranks = _ranks(request, config, settings, replan)
    if ranks is not None:
        yield f"tensor_parallel_size {ranks}: divides the weights over more GPUs"


def _utilization(settings: EngineSettings, budget: Budget, needed: int) -> float | None:
    total = settings.gpu.usable_bytes or 0
    taken = sum(reserve.bytes for reserve in budget.reserves if reserve.name != SYSTEM)
    share = math.ceil(100 * (taken + needed) / total) / 100 if total else 1.0
    return share if share <= MOST_UTILIZATION else None


def _ranks(request: Request, config: ModelConfig, settings: EngineSettings, replan: Replan) -> int | None:
    """The smallest larger tensor-parallel size under which one request fits."""
    for factor in FACTORS:
        wider = dataclasses.replace(settings, tensor_parallel_size=settings.tensor_parallel_size * factor)
        try:
            weights = weigh_deployment(request, config, wider)
            left = [estimate.cache_bytes for estimate in estimate_stages(request, config, wider, weights)]
            fit = replan(wider, left).fit if min(left) > 0 else None
        except KvcoreError:
            continue
        if fit is not None and fit.fits:
            return wider.tensor_parallel_size
    return None
