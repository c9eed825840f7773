"""The figures a log prints, computed: from a whole report, or quickly from the plan alone where many are wanted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvcore.answer import answer
from kvcore.budget.budget import resolve_budget
from kvcore.engines.vllm.plan import plan
from kvcore.engines.vllm.profiles import find_profile
from kvcore.engines.vllm.settings import resolve_settings
from kvcore.errors import KvcoreError
from kvcore.report.report import Report
from kvcore.request import Request, parse_request
from kvcore.subject import subject_of


@dataclass(frozen=True, kw_only=True)
class Computed:
    """Figures by the names a log gives them; None where a figure cannot be computed."""

    tokens: int | None
    concurrency: float | None
    num_gpu_blocks: int | None
    block_size: int | None

    def named(self, name: str) -> float | None:
        """The figure a log calls by this name."""
        return {
            "gpu_kv_cache_tokens": self.tokens,
            "max_total_num_tokens": self.tokens,
            "max_concurrency": self.concurrency,
            "num_gpu_blocks": self.num_gpu_blocks,
            "attention_block_size": self.block_size,
        }.get(name)


def of_report(report: Report) -> Computed | None:
    """The figures of a report; None where it has none."""
    if report.errors or report.capacity is None:
        return None
    return Computed(
        tokens=report.capacity.tokens.engine_log,
        concurrency=report.capacity.concurrency.engine_log,
        num_gpu_blocks=report.capacity.num_gpu_blocks,
        block_size=None if report.plan is None else report.plan.block_size,
    )


def quickly(fields: Mapping[str, Any]) -> Computed | None:
    """The figures of a request with a given budget, without weighing the model; None where there is no answer.

    A candidate that turns out right is asked again as a whole, so what only a whole answer checks is not lost.
    """
    try:
        request = parse_request(fields)
        return _of_plan(request) if request.engine == "vllm" else of_report(answer(fields))
    except KvcoreError:
        return None


def _of_plan(request: Request) -> Computed:
    subject = subject_of(request)
    settings = resolve_settings(request, subject.config, subject.traits, find_profile(request.engine_version))
    layout = subject.lay_out(request.speculative_config)
    budget = resolve_budget(request, subject.config, settings, None)
    planned = plan(
        layout,
        settings,
        subject.traits,
        budget.stage_bytes or None,
        num_gpu_blocks_override=request.num_gpu_blocks_override,
        pipeline_layer_partition=request.pipeline_layer_partition,
    )
    fits = planned.fit is not None and planned.fit.fits
    return Computed(
        tokens=planned.tokens,
        concurrency=planned.concurrency,
        num_gpu_blocks=planned.num_gpu_blocks if fits else None,
        block_size=planned.block_size if planned.groups else None,
    )
