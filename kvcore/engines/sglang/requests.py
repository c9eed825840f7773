"""Requests: how many may run at once on the pools SGLang made."""

from kvcore.engines.sglang.memory import StatePool
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.errors import refusal

ESTIMATED_PER_CONTEXT = 512
"""Requests assumed per context length of tokens (SGLang 0.5.23 `resolve_max_num_reqs`)."""

FEWEST_ESTIMATED, MOST_ESTIMATED = 2048, 4096
"""Bounds of that estimate (SGLang 0.5.23 `resolve_max_num_reqs`)."""


def estimated_requests(tokens: int, context_len: int) -> int:
    """Requests where none are asked for (SGLang 0.5.23 `resolve_max_num_reqs`)."""
    estimate = int(tokens / context_len * ESTIMATED_PER_CONTEXT)
    return max(min(estimate, MOST_ESTIMATED), FEWEST_ESTIMATED)


def running_requests(tokens: int, state: StatePool | None, settings: SglangSettings) -> int:
    """``max_running_requests`` as logged: as asked for or estimated, two tokens each, and states for all.

    Raises:
        EngineRefusal: The state slots admit no request.
    """
    wanted = settings.requests_per_group
    requests = min(estimated_requests(tokens, settings.context_len) if wanted is None else wanted, tokens // 2)
    if state is None:
        return requests
    requests = min(requests, state.slots // settings.state_reuse.slots_per_request)
    if requests <= 0:
        rule = f"a request takes {settings.state_reuse.slots_per_request} of the {state.slots:,} state slots"
        raise refusal("max_mamba_cache_size", state.slots, rule, "Use more slots or a higher mem_fraction_static.")
    return requests
