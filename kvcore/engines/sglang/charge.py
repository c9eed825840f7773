"""One request in SGLang's pools: what it holds at the longest context, what its tensors alone take, and why they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kvcore.arithmetic import cdiv, round_up
from kvcore.engines.sglang.cells import FULL, STATE, WINDOW, BilledLayer, Cell
from kvcore.engines.sglang.plan import SglangPlan
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.engines.sglang.stages import Stage, layer_ranges
from kvcore.engines.sglang.token_pools import window_tokens_per_request

ROUNDING = "rounding up to whole pages"
WINDOW_LAG = "window tokens not yet freed"
REUSE_COPIES = "state slots for reuse"
DRAFT_COPIES = "state copies for speculation"


@dataclass(frozen=True, kw_only=True)
class BilledPart:
    """Equal caches of several layers in one pool."""

    name: str
    pool: str
    cell: Cell
    window: int | None
    layer_indices: tuple[int, ...]

    @property
    def growth(self) -> str:
        """How the part grows with a request, as SGLang stores it."""
        return {FULL: "per_token", WINDOW: "sliding_window", STATE: "per_request"}[self.pool]


@dataclass(frozen=True, kw_only=True)
class HeldPart:
    """What one request takes of one part on one GPU of the stage that binds.

    Attributes:
        name: The part.
        blocks: Pages, or slots for states.
        copies: Copies of a state; 1 for parts that grow.
        bytes_held: Bytes a running request holds.
        bytes_plain: Bytes of its tensors alone.
        taxes: The difference by cause.
    """

    name: str
    blocks: int
    copies: int
    bytes_held: int
    bytes_plain: int
    taxes: Mapping[str, int]


def parts_of(billed: Sequence[BilledLayer]) -> tuple[BilledPart, ...]:
    """The billed layers gathered by what they store, in model order."""
    gathered: dict[tuple[str, str, Cell, int | None], list[int]] = {}
    for layer in billed:
        gathered.setdefault((layer.name, layer.pool, layer.cell, layer.window), []).append(layer.index)
    return tuple(
        BilledPart(name=name, pool=pool, cell=cell, window=window, layer_indices=tuple(indices))
        for (name, pool, cell, window), indices in gathered.items()
    )


def held_parts(plan: SglangPlan, settings: SglangSettings, num_hidden_layers: int) -> tuple[HeldPart, ...]:
    """One request of the longest context on the binding stage."""
    layers = layer_ranges(num_hidden_layers, settings.pp_size)[plan.binding.number]
    held = []
    for part in parts_of(plan.billed):
        here = sum(1 for index in part.layer_indices if index in layers)
        if here:
            held.append(_held(part, here, plan, settings))
    draft = draft_cell(plan, plan.binding)
    if draft:
        context, page = settings.context_len, settings.page_size
        pages = cdiv(context, page)
        total, plain = int(pages * page * draft), int(context * draft)
        held.append(_part("drafter", pages, 1, total, plain, ROUNDING))
    return tuple(held)


def draft_cell(plan: SglangPlan, stage: Stage) -> float:
    """Bytes of one token a drafter takes beside the model's own layers of a stage."""
    own = sum(
        layer.cell.bytes / layer.cell.tokens_per_entry
        for layer in plan.billed
        if layer.pool == FULL and layer.index in stage.layer_range
    )
    return max(0.0, float(stage.full_bytes) - own)


def tokens_held(settings: SglangSettings) -> int:
    """Tokens of the full pool one request of the longest context holds."""
    return round_up(settings.context_len, settings.page_size)


def window_tokens_held(window: int, settings: SglangSettings) -> int:
    """Tokens of the window pool one request holds: its window and what is not freed yet, never more than it has."""
    kept = round_up(window_tokens_per_request(window, settings), settings.page_size)
    return min(tokens_held(settings), kept)


def _held(part: BilledPart, layers: int, plan: SglangPlan, settings: SglangSettings) -> HeldPart:
    page, context, size = settings.page_size, settings.context_len, part.cell.bytes * layers
    if part.pool == STATE:
        reuse, drafts = settings.state_reuse.slots_per_request, settings.num_state_drafts
        taxes = {REUSE_COPIES: (reuse - 1) * size, DRAFT_COPIES: drafts * size}
        return HeldPart(
            name=part.name,
            blocks=reuse,
            copies=reuse + drafts,
            bytes_held=(reuse + drafts) * size,
            bytes_plain=size,
            taxes=taxes,
        )
    if part.pool == WINDOW and plan.window is not None:
        tokens = window_tokens_held(plan.window, settings)
        plain = min(context, part.window or plan.window, tokens) * size
        return _part(part.name, cdiv(tokens, page), 1, tokens * size, plain, WINDOW_LAG)
    entries = tokens_held(settings) // part.cell.tokens_per_entry
    plain = cdiv(context, part.cell.tokens_per_entry) * size
    return _part(part.name, cdiv(context, page), 1, max(entries * size, plain), plain, ROUNDING)


def _part(name: str, blocks: int, copies: int, held: int, plain: int, cause: str) -> HeldPart:
    return HeldPart(
        name=name, blocks=blocks, copies=copies, bytes_held=held, bytes_plain=plain, taxes={cause: held - plain}
    )


def taxes_of(held: Sequence[HeldPart]) -> dict[str, int]:
    """Bytes by cause over all parts."""
    total: dict[str, int] = {}
    for part in held:
        for cause, amount in part.taxes.items():
            total[cause] = total.get(cause, 0) + amount
    return total
