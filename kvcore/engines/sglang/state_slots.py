"""State slots of one request: how many copies of its states SGLang holds for reuse and for scheduling ahead."""

from dataclasses import dataclass

from kvcore.engines.sglang import architectures as known
from kvcore.engines.sglang.model import ServedModel
from kvcore.errors import refusal
from kvcore.request import Request

BASE_SLOTS = 3
TRACK_INTERVAL = 256
"""Tokens between snapshots (SGLang 0.5.23 `ServerArgs.mamba_track_interval`)."""


@dataclass(frozen=True, kw_only=True)
class StateReuse:
    """How states are kept.

    Attributes:
        strategy: ``no_buffer``, ``extra_buffer``, ``extra_buffer_lazy``, ``auto`` where SGLang leaves it open, or ``off``
            without reuse or states.
        slots_per_request: State slots one running request may take.
        overlap: The next batch is scheduled while one runs.
    """

    strategy: str
    slots_per_request: int
    overlap: bool


def resolve_state_reuse(
    request: Request, model: ServedModel, *, disable_radix_cache: bool, pp_size: int, page_size: int | None
) -> StateReuse:
    """The strategy after defaults (SGLang 0.5.23 `_mamba_radix_cache_resolution`, `_calculate_mamba_ratio`).

    Args:
        request: The flags.
        model: The checkpoint.
        disable_radix_cache: Nothing is kept for reuse.
        pp_size: Pipeline stages.
        page_size: Pages as asked for, or as the model's family has them whatever was asked for; None: neither.

    Raises:
        EngineRefusal: The model or the scheduler does not allow the strategy.
    """
    overlap = not request.disable_overlap_schedule
    if not model.keeps_state or disable_radix_cache:
        return StateReuse(strategy="off", slots_per_request=1, overlap=overlap and pp_size == 1)
    strategy = request.mamba_radix_cache_strategy or "auto"
    if strategy == "auto" and model.architecture in known.STRATEGY_LEFT_OPEN:
        return StateReuse(strategy=strategy, slots_per_request=BASE_SLOTS, overlap=overlap and pp_size == 1)
    supported = model.architecture in known.EXTRA_BUFFER
    if strategy == "auto":
        wanted = overlap or (page_size or 1) > 1
        strategy = "extra_buffer" if wanted and supported else "no_buffer"
        overlap = overlap and strategy != "no_buffer"
    _check(strategy, page_size, model, supported=supported, overlap=overlap)
    overlap = overlap and pp_size == 1
    more = 0 if strategy == "no_buffer" else 2 if overlap and strategy == "extra_buffer" else 1
    return StateReuse(strategy=strategy, slots_per_request=BASE_SLOTS + more, overlap=overlap)


def _check(strategy: str, page_size: int | None, model: ServedModel, *, supported: bool, overlap: bool) -> None:
    """SGLang 0.5.23 `validate_mamba_extra_buffer` and `validate_mamba_no_buffer`."""
    field = "mamba_radix_cache_strategy"
    if strategy == "no_buffer":
        if overlap:
            rule = "no_buffer cannot schedule a batch while one runs"
            raise refusal(field, strategy, rule, "Set disable_overlap_schedule to true, or leave the strategy out.")
        if page_size not in {None, 1}:
            rule = "states kept without buffer need pages of one token"
            raise refusal("page_size", page_size, rule, "Leave page_size out.")
        return
    if not supported:
        rule = f"SGLang does not keep snapshots of the states of {model.architecture}"
        raise refusal(field, strategy, rule, "Use no_buffer, or leave it out.")
    if strategy == "extra_buffer_lazy" and not overlap:
        rule = "lazy snapshots need the overlap scheduler"
        raise refusal(field, strategy, rule, "Leave disable_overlap_schedule out, or use extra_buffer.")
    if page_size and TRACK_INTERVAL % page_size:
        rule = f"pages must divide the {TRACK_INTERVAL} tokens between snapshots"
        raise refusal("page_size", page_size, rule, f"Use a divisor of {TRACK_INTERVAL}.")
