"""Token pools: how many tokens fit one budget on one stage, and how they divide into full and window pools."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kvcore.arithmetic import round_up
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.engines.sglang.stages import Stage
from kvcore.errors import refusal

EVICTION_INTERVAL = 128
"""Steps after which tokens behind the window are freed (SGLang 0.5.23 `SGLANG_SWA_EVICTION_INTERVAL`)."""


@dataclass(frozen=True, kw_only=True)
class TokenPools:
    """Tokens of the pools.

    Attributes:
        max_total_num_tokens: As SGLang logs it.
        full_tokens: Tokens of the full pool.
        window_tokens: Tokens of the window pool; None: there is none.
        mode: ``all``, ``ratio``, ``requests`` (window pool by request cap) or ``window`` (windows only).
    """

    max_total_num_tokens: int
    full_tokens: int
    window_tokens: int | None
    mode: str


class Sizing(Protocol):
    """A rule that sizes the token pools of one stage."""

    @property
    def mode(self) -> str:
        """Name of the rule."""

    def cell_bytes(self, stage: Stage) -> float:
        """Bytes of one token of ``max_total_num_tokens``."""

    def tokens(self, budget_bytes: int, stage: Stage) -> int:
        """Tokens that fit a budget, whole pages only."""

    def split(self, tokens: int, stages: Sequence[Stage], *, lowered: bool = False) -> TokenPools:
        """The pools of a number of tokens.

        Args:
            tokens: Tokens to divide.
            stages: The pipeline stages.
            lowered: A cap or another stage lowered the tokens below what fits the first stage.
        """


def whole_pages(tokens: int, page_size: int) -> int:
    """Tokens rounded down to pages."""
    return tokens // page_size * page_size


@dataclass(frozen=True)
class AllTokens:
    """One pool for every token (SGLang 0.5.23 `DefaultPoolConfigurator`)."""

    page_size: int
    mode: str = "all"

    def cell_bytes(self, stage: Stage) -> float:
        """Bytes of one token over the stage's layers."""
        return float(stage.full_bytes)

    def tokens(self, budget_bytes: int, stage: Stage) -> int:
        """Budget by cell, whole pages only."""
        return whole_pages(max(budget_bytes, 0) // stage.full_bytes, self.page_size)

    def split(self, tokens: int, stages: Sequence[Stage], *, lowered: bool = False) -> TokenPools:
        """Everything is one pool."""
        tokens = whole_pages(tokens, self.page_size)
        return TokenPools(max_total_num_tokens=tokens, full_tokens=tokens, window_tokens=None, mode=self.mode)


@dataclass(frozen=True)
class RatioWindows:
    """A window pool of a fixed share of the full pool's tokens (SGLang 0.5.23 `HybridSWAPoolConfigurator`)."""

    page_size: int
    ratio: float
    window: int
    mode: str = "ratio"

    def cell_bytes(self, stage: Stage) -> float:
        """A full token with its share of window tokens; a stage of windows only counts those."""
        if stage.full_layers == 0:
            return float(stage.window_bytes)
        return float(stage.full_bytes) + self.ratio * float(stage.window_bytes)

    def tokens(self, budget_bytes: int, stage: Stage) -> int:
        """Budget by cell, whole pages only."""
        return whole_pages(int(budget_bytes // self.cell_bytes(stage)), self.page_size)

    def split(self, tokens: int, stages: Sequence[Stage], *, lowered: bool = False) -> TokenPools:
        """Full tokens, and their share in window tokens, each in whole pages.

        Raises:
            EngineRefusal: The window pool cannot hold one request (`validate_swa_pool_size`).
        """
        full = whole_pages(tokens, self.page_size)
        if all(stage.full_layers == 0 for stage in stages):
            return TokenPools(max_total_num_tokens=full, full_tokens=0, window_tokens=full, mode="window")
        windows = whole_pages(int(full * self.ratio), self.page_size)
        if self.window + self.page_size >= windows:
            rule = (
                f"a window pool of {windows:,} tokens cannot hold one request, which needs more than its window "
                f"({self.window:,}) and a page ({self.page_size:,})"
            )
            raise refusal(
                "swa_full_tokens_ratio", self.ratio, rule, "Use a higher ratio or a higher mem_fraction_static."
            )
        return TokenPools(max_total_num_tokens=full, full_tokens=full, window_tokens=windows, mode=self.mode)


@dataclass(frozen=True)
class RequestWindows:
    """A window pool for the requests asked for; the full pool takes the rest (SGLang 0.5.23 `SWARequestCapPoolConfigurator`)."""

    page_size: int
    window_tokens: int
    mode: str = "requests"

    def cell_bytes(self, stage: Stage) -> float:
        """Bytes of one token of the full pool."""
        return float(stage.full_bytes)

    def tokens(self, budget_bytes: int, stage: Stage) -> int:
        """What the window pool leaves, by cell.

        Raises:
            EngineRefusal: The window pool leaves no room.
        """
        fixed = int(self.window_tokens * stage.window_bytes)
        tokens = whole_pages((budget_bytes - fixed) // stage.full_bytes, self.page_size)
        if tokens <= 0:
            rule = f"windows of all requests take {fixed:,} bytes, which leaves no room for the full pool"
            remedy = "Use fewer max_running_requests or a higher mem_fraction_static."
            raise refusal("max_running_requests", self.window_tokens, rule, remedy)
        return tokens

    def split(self, tokens: int, stages: Sequence[Stage], *, lowered: bool = False) -> TokenPools:
        """Full tokens beside the fixed window pool, which only a cap on the tokens makes smaller."""
        full = whole_pages(tokens, self.page_size)
        windows = min(self.window_tokens, tokens) if lowered else self.window_tokens
        return TokenPools(max_total_num_tokens=full, full_tokens=full, window_tokens=windows, mode=self.mode)


def window_tokens_per_request(window: int, settings: SglangSettings) -> int:
    """Window tokens one running request may hold (SGLang 0.5.23 `compute_swa_request_cap`)."""
    page, drafts = settings.page_size, settings.drafts
    trailing = window + EVICTION_INTERVAL * (settings.num_draft_tokens or 1) + page
    if drafts is None:
        return trailing + page
    if drafts.topk > 1 and page > 1:
        rule = "kvcore has not read how SGLang pages windows under draft trees"
        raise refusal("speculative_eagle_topk", drafts.topk, rule, "Use one branch, or pages of one token.")
    per_step = max(drafts.num_steps * drafts.topk, drafts.num_draft_tokens)
    if settings.state_reuse.overlap:
        return trailing + 2 * per_step
    return trailing + (round_up(per_step, page) if page > 1 else per_step)


def request_windows(window: int, settings: SglangSettings, requests: int) -> RequestWindows:
    """The window pool of so many requests, and of prefill chunks in flight or requests arriving (`compute_swa_request_cap`)."""
    tokens = window_tokens_per_request(window, settings) * requests
    if settings.role == "decode":
        tokens += (window + settings.page_size) * settings.arriving_requests
    else:
        chunks = 2 if settings.state_reuse.overlap else 1
        tokens += chunks * settings.chunked_prefill_size + settings.page_size
    return RequestWindows(page_size=settings.page_size, window_tokens=round_up(tokens, settings.page_size))


def choose_sizing(window: int | None, stages: Sequence[Stage], settings: SglangSettings) -> Sizing:
    """The rule in force: by window pool, request cap, and reuse (SGLang 0.5.23 `create_memory_pool_configurator`).

    Args:
        window: Tokens of the window SGLang's class asks for; None: no window pool.
        stages: The pipeline stages.
        settings: SGLang's settings after defaults.
    """
    if window is None:
        return AllTokens(settings.page_size)
    requests = settings.requests_per_group
    has_full = all(stage.full_layers for stage in stages)
    is_bounded = settings.chunked_prefill_size > 0 or settings.role == "decode"
    if settings.disable_radix_cache and requests is not None and is_bounded and has_full:
        return request_windows(window, settings, requests)
    return RatioWindows(settings.page_size, settings.swa_full_tokens_ratio, window)
