"""DeepSeek-V4's pools: windows of latents, compressed latents with indexer keys, and compressor states.

Rows are 584 bytes and every page is padded to a multiple of 576 bytes, so that the bytes of a row depend on the rows of
a page. States of ratio 4 follow the window pool, those of ratio 128 are kept per request.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kvcore.arithmetic import cdiv, round_up
from kvcore.config import ModelConfig
from kvcore.engines.sglang.cells import FULL, INDEX_BLOCK, SCALE_BYTES, WINDOW, BilledLayer, Cell, indexer_cell
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.engines.sglang.stages import Stage, layer_ranges
from kvcore.engines.sglang.token_pools import RatioWindows, TokenPools, whole_pages
from kvcore.layout.compressed import CompressedLatentCache, WindowLatentCache
from kvcore.layout.indexer import IndexerCache
from kvcore.layout.layout import Layout

PAGE_PADDING = 576
SCALES_BYTES = 8
ROPE_BYTES = 2
STATE_BYTES = 4
SPARSE, HEAVY = 4, 128
RINGS = {SPARSE: (8, 16), HEAVY: (128, 256)}
"""Tokens a compressor state keeps per request, without and with drafts (SGLang 0.5.23 `get_compress_state_ring_size`)."""

REQUEST = "request"
"""Pool of bytes that follow the number of requests."""


@dataclass(frozen=True, kw_only=True)
class CompressedSizing:
    """Sizes the pools of DeepSeek-V4 by ratio (SGLang 0.5.23 `DSV4PoolConfigurator`)."""

    page_size: int
    ratio: float
    window: int
    coefficients: tuple[float, ...]
    request_bytes: tuple[int, ...]
    mode: str = "ratio"

    def cell_bytes(self, stage: Stage) -> float:
        """Bytes of one full token with its share of the window pool, drafts included."""
        return self.coefficients[stage.number]

    def tokens(self, budget_bytes: int, stage: Stage) -> int:
        """Tokens beside the states that follow the requests."""
        left = max(budget_bytes - self.request_bytes[stage.number], 0)
        return whole_pages(int(left / self.coefficients[stage.number]), self.page_size)

    def split(self, tokens: int, stages: Sequence[Stage], *, lowered: bool = False) -> TokenPools:
        """Full tokens and their share of window tokens."""
        return RatioWindows(self.page_size, self.ratio, self.window).split(tokens, stages, lowered=lowered)


def row_bytes(config: ModelConfig) -> int:
    """One latent: 8-bit elements, a 16-bit rotary part and scales (SGLang 0.5.23 `DSV4PoolConfigurator.kv_bytes`)."""
    rope = config.integer("qk_rope_head_dim")
    return config.integer("head_dim") - rope + rope * ROPE_BYTES + SCALES_BYTES


def padded_row(row: int, rows_per_page: int) -> Fraction:
    """Bytes of a row with its share of the page's padding (SGLang 0.5.23 `KVLayout.page_bytes`)."""
    return Fraction(round_up(row * rows_per_page, PAGE_PADDING), rows_per_page)


def compressed_layers(layout: Layout, config: ModelConfig, settings: SglangSettings) -> tuple[BilledLayer, ...]:
    """Every cache of every layer as SGLang bills it."""
    return tuple(_billed(layout, config, settings))


def _billed(layout: Layout, config: ModelConfig, settings: SglangSettings) -> Iterator[BilledLayer]:
    row, page = row_bytes(config), settings.page_size
    for layer in layout.layers:
        cache, index = layer.cache, layer.layer_index
        if isinstance(cache, WindowLatentCache):
            cell = _row_cell(row, page, 1)
            yield BilledLayer(index=index, pool=WINDOW, name=cache.name, cell=cell, window=cache.sliding_window)
        elif isinstance(cache, CompressedLatentCache):
            cell = _row_cell(row, page // cache.compress_ratio, cache.compress_ratio)
            yield BilledLayer(index=index, pool=FULL, name=cache.name, cell=cell)
            if cache.compress_ratio == SPARSE:
                yield BilledLayer(
                    index=index, pool=WINDOW, name="compressor states 4:1", cell=_state_cell(config, settings)
                )
        elif isinstance(cache, IndexerCache):
            key = indexer_cell(IndexerCache(name=cache.name, index_head_dim=cache.index_head_dim))
            yield BilledLayer(index=index, pool=FULL, name=cache.name, cell=_per_tokens(key, SPARSE))


def _per_tokens(cell: Cell, tokens: int) -> Cell:
    return Cell(**{**vars(cell), "tokens_per_entry": tokens})


def _row_cell(row: int, rows_per_page: int, tokens_per_entry: int) -> Cell:
    padded = padded_row(row, rows_per_page)
    return Cell(
        bytes=cdiv(padded.numerator, padded.denominator),
        dtype="fp8_e4m3 with scales",
        split="whole",
        formula=f"ceil(row bytes × rows of a page / {PAGE_PADDING}) × {PAGE_PADDING} / rows of a page",
        substituted=f"ceil({row} × {rows_per_page} / {PAGE_PADDING}) × {PAGE_PADDING} / {rows_per_page}",
        source="SGLang 0.5.23 `DeepSeekV4SingleKVPool.create_buffer`",
        tokens_per_entry=tokens_per_entry,
    )


def _state_cell(config: ModelConfig, settings: SglangSettings) -> Cell:
    """States of ratio 4 per token of the window pool: a ring on every page of it."""
    ring = RINGS[SPARSE][settings.drafts is not None]
    dims = config.integer("head_dim"), config.integer("index_head_dim")
    size = Fraction(ring * sum(4 * dim for dim in dims) * STATE_BYTES, settings.page_size)
    return Cell(
        bytes=cdiv(size.numerator, size.denominator),
        dtype="float32",
        split="whole",
        formula="ring / page_size × (4 × head_dim + 4 × index_head_dim) × 4",
        substituted=f"{ring} / {settings.page_size} × (4 × {dims[0]} + 4 × {dims[1]}) × 4",
        source="SGLang 0.5.23 `DSV4PoolConfigurator._get_bytes_per_swa_token`",
    )


def compressed_sizing(
    layout: Layout, config: ModelConfig, settings: SglangSettings
) -> tuple[tuple[Stage, ...], CompressedSizing]:
    """Stages of a DeepSeek-V4 model and the rule that sizes their pools."""
    row, page = row_bytes(config), settings.page_size
    window = config.integer("sliding_window")
    stages, coefficients, fixed = [], [], []
    for number, layers in enumerate(layer_ranges(layout.num_hidden_layers, settings.pp_size)):
        ratios = Counter(
            layer.cache.compress_ratio
            for layer in layout.layers
            if isinstance(layer.cache, CompressedLatentCache) and layer.layer_index in layers
        )
        indexer = config.integer("index_head_dim")
        key = indexer + indexer // INDEX_BLOCK * SCALE_BYTES
        ring = RINGS[SPARSE][settings.drafts is not None]
        states = Fraction(ring * 4 * (config.integer("head_dim") + indexer) * STATE_BYTES, page)
        per_window = padded_row(row, page) * len(layers) + states * ratios[SPARSE]
        sparse = (padded_row(row, page // SPARSE) + key) / SPARSE * ratios[SPARSE]
        heavy = padded_row(row, page // HEAVY) / HEAVY * ratios[HEAVY]
        coefficient = settings.swa_full_tokens_ratio * float(per_window) + (float(sparse) + float(heavy))
        if settings.drafts is not None:
            coefficient *= (len(layers) + 1) / len(layers)
        stages.append(
            Stage(
                number=number,
                layer_range=layers,
                full_bytes=sparse + heavy,
                full_layers=ratios[SPARSE] + ratios[HEAVY],
                window_bytes=per_window,
                window_layers=len(layers),
            )
        )
        coefficients.append(coefficient)
        fixed.append(_heavy_state_bytes(config, settings, ratios[HEAVY]))
    return tuple(stages), CompressedSizing(
        page_size=page,
        ratio=settings.swa_full_tokens_ratio,
        window=window,
        coefficients=tuple(coefficients),
        request_bytes=tuple(fixed),
    )


def _heavy_state_bytes(config: ModelConfig, settings: SglangSettings, layers: int) -> int:
    """States of ratio 128 over all requests (SGLang 0.5.23 `_get_c128_state_fixed_bytes`)."""
    ring = RINGS[HEAVY][settings.drafts is not None]
    requests = (settings.requests_per_group or 0) + settings.arriving_requests + 1
    rows = round_up(requests * ring + ring + 1, HEAVY)
    return rows * 2 * config.integer("head_dim") * STATE_BYTES * layers if layers else 0
