"""The report: every answer of kvcore in one frozen tree, the contract shared by CLI, browser, pages and tests.

Byte values are integers per GPU unless a name ends in ``_partition``. ``None`` means "not known or not applicable";
a warning then says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kvcore.errors import FieldError


@dataclass(frozen=True, kw_only=True)
class Input:
    """A request field after defaults: its value, where it came from (given, default, derived) and why."""

    value: object
    origin: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """The engine whose rules produced the report."""

    name: str
    version: str


@dataclass(frozen=True, kw_only=True)
class Reserve:
    """A share of GPU memory that is not cache: weights, activations, graphs, other. ``kind``: given, derived, assumed."""

    name: str
    bytes: int
    kind: str
    source: str
    formula: str = ""


@dataclass(frozen=True, kw_only=True)
class BudgetReport:
    """Bytes for the cache on one GPU (the smallest stage when pipeline stages differ).

    ``missing_bytes`` is what is short before anything is left for the cache; ``remedies`` are changes that would make an
    estimated deployment start, the smallest first.
    """

    kv_cache_bytes: int | None
    kind: str
    interval_bytes: tuple[int, int] | None
    reserves: tuple[Reserve, ...]
    stage_bytes: tuple[int, ...] = ()
    missing_bytes: int = 0
    remedies: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PartReport:
    """One kind of cached tensor as the engine stores it on one GPU.

    Attributes:
        name: Name of the part, unique in the layout.
        growth: ``per_token``, ``sliding_window``, ``chunked`` , ``per_request`` or ``per_encoder_token``.
        layers: Number of layers that own this part (all pipeline stages).
        entry_bytes: Bytes of one entry in one layer on one GPU; for per-request parts the whole state of one layer.
        entry_bytes_partition: The same over all tensor-parallel ranks that share the request.
        tokens_per_entry: Tokens one entry stands for (1 except for compressed caches).
        window: Window or chunk in tokens, if any.
        copies: Copies of a per-request state the engine's estimate charges.
        split: ``heads`` (divided over tensor-parallel ranks), ``replicated_heads`` or ``whole``.
        dtype: Stored element type or packed format name.
        formula: The entry size as a formula, ``substituted`` with this model's values.
        source: Engine symbol or config key the rule comes from.
        draft: True for layers of a speculative drafter.
        layer_indices: The layers, counted from 0; drafter layers follow the model's own.
        engine: How the engine stores the part, in the names a layout given by hand takes.
    """

    name: str
    growth: str
    layers: int
    entry_bytes: int
    entry_bytes_partition: int
    tokens_per_entry: int
    window: int | None
    copies: int
    split: str
    dtype: str
    formula: str
    substituted: str
    source: str
    draft: bool = False
    layer_indices: tuple[int, ...] = ()
    engine: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LayoutReport:
    """Which tensors persist between decode steps, in the sizes the engine stores on one GPU.

    ``num_hidden_layers`` is what pipeline stages divide; ``engine`` holds what a layout given by hand may state about
    paging, so that an exported layout can be read back.
    """

    attention_kind: str
    parts: tuple[PartReport, ...]
    bytes_per_token: int
    bytes_per_request: int
    bytes_per_token_partition: int
    bytes_per_request_partition: int
    attention_shards: int
    num_hidden_layers: int | None = None
    engine: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GroupReport:
    """One cache group of the engine's plan: layers that share a block table.

    ``page_size_bytes`` is the bytes of one block over the group's layers; ``blocks_per_request`` what one request of
    ``max_model_len`` tokens is charged.
    """

    kind: str
    layers: int
    block_size: int
    page_size_bytes: int
    blocks_per_request: int
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PlanReport:
    """How the engine pages the layout. ``block_size`` is None where nothing is cached."""

    block_size: int | None
    page_size_bytes: int
    groups: tuple[GroupReport, ...]
    padding_percent: float | None
    in_flight_tokens: int
    copies: int
    stage_page_size_bytes: tuple[int, ...] = ()
    kv_cache_layout: str | None = None
    attention_backends: tuple[str, ...] = ()
    stage_layers: tuple[int, ...] = ()
    context_shards: int = 1


@dataclass(frozen=True, kw_only=True)
class RequestPart:
    """What one request of ``max_model_len`` tokens costs in one part."""

    name: str
    blocks: int
    copies: int
    bytes_estimate: int
    bytes_held: int
    bytes_plain: int


@dataclass(frozen=True, kw_only=True)
class RequestReport:
    """One request at ``max_model_len``: what the engine's estimate charges, what a running request holds, and plain."""

    max_model_len: int
    parts: tuple[RequestPart, ...]
    bytes_estimate: int
    bytes_held: int
    bytes_plain: int


@dataclass(frozen=True, kw_only=True)
class Concurrency:
    """Requests of ``max_model_len`` tokens at once: as the engine logs it, as can be held, and without any overhead."""

    engine_log: float | None
    held: float | None
    plain: float | None


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The engine's logged token figure, and the true token pool where one exists (null when a part does not grow)."""

    engine_log: int | None
    per_token_pool: int | None


@dataclass(frozen=True, kw_only=True)
class PoolReport:
    """One of several pools an engine divides its memory into: entries (tokens, slots or requests) and their bytes."""

    name: str
    entries: int
    unit: str
    bytes: int
    bytes_per_entry: int


@dataclass(frozen=True, kw_only=True)
class CapacityInterval:
    """The logged figures at both ends of an estimated budget's interval; null where the engine does not start there."""

    tokens: tuple[int | None, int | None]
    concurrency: tuple[float | None, float | None]


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """How much fits on one GPU's budget.

    ``fits`` is null where no budget is known; ``pools`` is filled by engines that divide the memory into several.
    ``objection`` is why the engine does not come up, although its cache was planned or because its pools could not be;
    null where nothing is known against it.
    """

    num_gpu_blocks: int | None
    concurrency: Concurrency
    tokens: Tokens
    max_model_len_that_fits: int | None
    binds: str | None
    fits: bool | None
    max_running_requests: int | None = None
    needed_bytes: int | None = None
    short_bytes: int | None = None
    set_aside_blocks: int = 0
    pools: tuple[PoolReport, ...] = ()
    interval: CapacityInterval | None = None
    data_parallel_size: int = 1
    tokens_all_ranks: int | None = None
    objection: str | None = None


@dataclass(frozen=True, kw_only=True)
class TaxCause:
    """Bytes of one request's estimate that the engine's paging adds over ``plain``, by cause."""

    name: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Tax:
    """The engine's overhead, split by cause: ``bytes_estimate - bytes_plain`` of one request, and vLLM's null block."""

    causes: tuple[TaxCause, ...]
    bytes: int


@dataclass(frozen=True, kw_only=True)
class WeightGroup:
    """Weight bytes by what they are for: attention, experts, embedding, towers, tables."""

    name: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Weight bytes on the fullest GPU and the model's parameter count.

    Attributes:
        bytes_per_gpu: Bytes of the model's own tensors as the engine creates them, on the fullest pipeline stage.
        params: Published parameters, without a drafter.
        kind: ``derived``, or ``unknown`` where the architecture or the quantization scheme is not known.
        quantization: How the checkpoint stores its tensors; empty for no scheme.
        loaded_bytes: What the engine logs as "Model loading took": allocated bytes, tables and copies included.
        stage_bytes: Bytes of the model's own tensors on one GPU of each stage.
        groups: Bytes of the fullest stage by what they are for.
        extras: What loading adds on that GPU.
        published_bytes: Size of the published files; None where the catalogue has none.
        difference_bytes: The model's tensors over all GPUs, each once, minus the published size.
        reason: Why the weights are not known.
        drafter_bytes: Bytes a drafter adds on the last stage; None where none is weighed.
    """

    bytes_per_gpu: int | None
    params: int | None
    kind: str
    quantization: str = ""
    loaded_bytes: int | None = None
    stage_bytes: tuple[int, ...] = ()
    groups: tuple[WeightGroup, ...] = ()
    extras: tuple[WeightGroup, ...] = ()
    published_bytes: int | None = None
    difference_bytes: int | None = None
    reason: str = ""
    drafter_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Source:
    """Evidence for a fact. ``kind``: logged, pinned, derived, assumed, cited."""

    id: str
    kind: str
    ref: str
    checked: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of the derivation: formula, substituted values, result; ``path`` is the report key it explains."""

    path: str
    label: str
    formula: str
    substituted: str
    result: int | float | str
    unit: str
    source: str
    kind: str = "derived"


@dataclass(frozen=True, kw_only=True)
class Report:
    """The complete answer to one request. On bad input only ``errors`` and ``inputs`` are filled."""

    inputs: dict[str, Input]
    kvcore_version: str
    engine: Engine | None = None
    model: str | None = None
    budget: BudgetReport | None = None
    layout: LayoutReport | None = None
    plan: PlanReport | None = None
    request: RequestReport | None = None
    capacity: Capacity | None = None
    tax: Tax | None = None
    weights: Weights | None = None
    derivation: tuple[Step, ...] = ()
    warnings: tuple[str, ...] = ()
    errors: tuple[FieldError, ...] = ()
    sources: tuple[Source, ...] = ()
