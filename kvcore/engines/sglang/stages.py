"""Pipeline stages: which layers each GPU holds, and what a token costs there."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kvcore.engines.sglang.cells import FULL, WINDOW, BilledLayer
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.errors import refusal

INDEXER_NAMES = frozenset({"indexer"})


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One pipeline stage.

    Attributes:
        number: Its place.
        layer_range: Layers it holds.
        full_bytes: Bytes of one token over the layers of the full pool, drafter and indexers included.
        full_layers: Attention layers of the full pool.
        window_bytes: Bytes of one token over the window layers, window drafters included.
        window_layers: Window layers.
    """

    number: int
    layer_range: range
    full_bytes: int | Fraction
    full_layers: int
    window_bytes: int | Fraction
    window_layers: int


def layer_ranges(num_hidden_layers: int, pp_size: int) -> tuple[range, ...]:
    """Layers of each stage; the last stages take one more each (SGLang 0.5.23 `get_pp_indices`)."""
    if pp_size > num_hidden_layers:
        rule = f"the model has only {num_hidden_layers} layers to divide over the stages"
        raise refusal("pp_size", pp_size, rule, f"Use at most {num_hidden_layers} stages.")
    base, left_over = divmod(num_hidden_layers, pp_size)
    ranges, start = [], 0
    for stage in range(pp_size):
        end = start + base + (1 if stage >= pp_size - left_over else 0)
        ranges.append(range(start, end))
        start = end
    return tuple(ranges)


def stages_of(billed: Sequence[BilledLayer], num_hidden_layers: int, settings: SglangSettings) -> tuple[Stage, ...]:
    """The stages with their bytes per token."""
    every_window = sum(1 for layer in billed if layer.pool == WINDOW)
    return tuple(
        _stage(number, layers, billed, settings, every_window)
        for number, layers in enumerate(layer_ranges(num_hidden_layers, settings.pp_size))
    )


def _stage(
    number: int, layers: range, billed: Sequence[BilledLayer], settings: SglangSettings, every_window: int
) -> Stage:
    here = [layer for layer in billed if layer.index in layers]
    indexers = [layer.cell.bytes for layer in here if layer.pool == FULL and layer.name in INDEXER_NAMES]
    entries = [layer.cell.bytes for layer in here if layer.pool == FULL and layer.name not in INDEXER_NAMES]
    windows = [layer.cell.bytes for layer in here if layer.pool == WINDOW]
    drafts = 0 if settings.drafts is None else settings.drafts.num_layers
    window_drafts = min(every_window, drafts) if settings.drafts is not None and settings.drafts.inside else 0
    if every_window == 0:
        window_drafts = 0
    index_bytes = max((layer.cell.bytes for layer in billed if layer.name in INDEXER_NAMES), default=0)
    full = sum(entries)
    draft_bytes = int(full * (drafts - window_drafts) / len(entries)) if entries else 0
    return Stage(
        number=number,
        layer_range=layers,
        full_bytes=full + sum(indexers) + draft_bytes + index_bytes * drafts,
        full_layers=len(entries),
        window_bytes=sum(windows) + (windows[0] * window_drafts if windows else 0),
        window_layers=len(windows),
    )
