"""Plan: the pools SGLang 0.5.23 makes of a GPU's free memory, and the requests they admit."""

from dataclasses import dataclass

from kvcore.config import ModelConfig
from kvcore.engines.sglang.cells import STATE, WINDOW, BilledLayer, billed_layers
from kvcore.engines.sglang.compressed import CompressedSizing, compressed_layers, compressed_sizing
from kvcore.engines.sglang.memory import Memory, StatePool, divide_for_states, memory_of, slot_bytes
from kvcore.engines.sglang.model import ServedModel, asked_window
from kvcore.engines.sglang.requests import running_requests
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.engines.sglang.stages import Stage, stages_of
from kvcore.engines.sglang.token_pools import Sizing, TokenPools, choose_sizing
from kvcore.errors import refusal
from kvcore.layout.layout import Layout


@dataclass(frozen=True, kw_only=True)
class Pools:
    """What fits the free memory.

    Attributes:
        memory: The free memory and its reserves.
        state: Slots for states; None: the model keeps none.
        budget_bytes: Bytes left for tokens.
        tokens: Tokens of the pools.
        max_running_requests: Requests that may run at once on one data-parallel attention group.
    """

    memory: Memory
    state: StatePool | None
    budget_bytes: int
    tokens: TokenPools
    max_running_requests: int


@dataclass(frozen=True, kw_only=True)
class SglangPlan:
    """How SGLang bills a layout, and what fits.

    Attributes:
        billed: Every cache of every layer.
        stages: Pipeline stages.
        sizing: The rule that sizes the token pools.
        window: Tokens of the window SGLang's class asks for; None: no window pool.
        slot_bytes: Bytes of one request's states; 0: none.
        pools: What fits; None without free memory given.
    """

    billed: tuple[BilledLayer, ...]
    stages: tuple[Stage, ...]
    sizing: Sizing
    window: int | None
    slot_bytes: int
    pools: Pools | None

    @property
    def binding(self) -> Stage:
        """The stage whose tokens are widest, which decides the pool."""
        return max(self.stages, key=self.sizing.cell_bytes)


def plan(
    layout: Layout,
    config: ModelConfig,
    model: ServedModel,
    settings: SglangSettings,
    free_gib: tuple[float, float] | None,
) -> SglangPlan:
    """Plans the pools.

    Args:
        layout: What persists.
        config: The checkpoint.
        model: The checkpoint as SGLang classifies it.
        settings: SGLang's settings after defaults.
        free_gib: Free memory of one GPU before and after the load, in GiB; None: only the cells are planned.

    Raises:
        EngineRefusal: SGLang refuses to start, or kvcore has not read its rule.
    """
    sizing: Sizing
    window: int | None
    if model.is_deepseek_v4:
        billed = compressed_layers(layout, config, settings)
        stages, compressed = compressed_sizing(layout, config, settings)
        sizing, window = compressed, compressed.window
    else:
        billed = billed_layers(layout, model, settings)
        if all(layer.pool == STATE for layer in billed):
            rule = "kvcore knows SGLang's pools of models that attend to earlier tokens only"
            raise refusal("architectures", model.architecture, rule, "Ask for engine vllm.")
        stages = stages_of(billed, layout.num_hidden_layers, settings)
        stated = next((layer.window for layer in billed if layer.pool == WINDOW), None)
        window = None if stated is None else asked_window(config, stated)
        sizing = choose_sizing(window, stages, settings)
    per_slot = slot_bytes(billed, layout.num_hidden_layers, settings)
    pools = None
    if free_gib is not None:
        memory = memory_of(*free_gib, settings)
        state, budget = divide_for_states(memory, per_slot, settings)
        tokens = _token_pools(sizing, stages, budget, settings)
        pools = Pools(
            memory=memory,
            state=state,
            budget_bytes=budget,
            tokens=tokens,
            max_running_requests=running_requests(tokens.max_total_num_tokens, state, settings),
        )
    return SglangPlan(billed=billed, stages=stages, sizing=sizing, window=window, slot_bytes=per_slot, pools=pools)


def request_state_bytes(plan: SglangPlan) -> int:
    """Bytes that follow the number of requests on the binding stage, beside slots."""
    if isinstance(plan.sizing, CompressedSizing):
        return plan.sizing.request_bytes[plan.binding.number]
    return 0


def _token_pools(sizing: Sizing, stages: tuple[Stage, ...], budget: int, settings: SglangSettings) -> TokenPools:
    """The fewest tokens of any stage, at most the cap (SGLang 0.5.23 `_apply_token_constraints`)."""
    holding = [stage for stage in stages if stage.full_bytes or stage.window_bytes]
    tokens = min(sizing.tokens(budget, stage) for stage in holding)
    if settings.max_total_tokens is not None:
        tokens = min(tokens, settings.max_total_tokens)
    if tokens < settings.page_size:
        rule = "the static share leaves no room for one page of tokens"
        remedy = "Use a higher mem_fraction_static, more GPUs or a smaller checkpoint."
        raise refusal("mem_fraction_static", round(settings.mem_fraction_static, 4), rule, remedy)
    return sizing.split(tokens, stages, lowered=tokens < sizing.tokens(budget, holding[0]))
