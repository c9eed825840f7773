"""Hand-made reports for the tests of the document and its writers: the writers are tested apart from the engine."""

from dataclasses import replace

from kvcore.errors import FieldError
from kvcore.report.report import (
    BudgetReport,
    Capacity,
    Concurrency,
    Engine,
    GroupReport,
    Input,
    LayoutReport,
    PartReport,
    PlanReport,
    Report,
    RequestPart,
    RequestReport,
    Source,
    Step,
    Tax,
    TaxCause,
    Tokens,
)

LAYERS = 32
KV_HEADS = 8
HEAD_SIZE = 128
DTYPE_BYTES = 2
ENTRY_BYTES = 2 * KV_HEADS * HEAD_SIZE * DTYPE_BYTES
BYTES_PER_TOKEN = LAYERS * ENTRY_BYTES
BLOCK_SIZE = 16
MAX_MODEL_LEN = 8_192
BLOCKS_PER_REQUEST = MAX_MODEL_LEN // BLOCK_SIZE
PAGE_BYTES = BLOCK_SIZE * BYTES_PER_TOKEN
NUM_BLOCKS = 20_480
BUDGET = NUM_BLOCKS * PAGE_BYTES
REQUEST_BYTES = BLOCKS_PER_REQUEST * PAGE_BYTES

PART = PartReport(
    name="attention",
    growth="per_token",
    layers=LAYERS,
    entry_bytes=ENTRY_BYTES,
    entry_bytes_partition=ENTRY_BYTES,
    tokens_per_entry=1,
    window=None,
    copies=1,
    split="heads",
    dtype="bfloat16",
    formula="2 × num_kv_heads × head_size × dtype_bytes",
    substituted="2 × 8 × 128 × 2",
    source="vLLM 0.33.0 FullAttentionSpec",
    layer_indices=tuple(range(LAYERS)),
)

REPORT = Report(
    inputs={
        "model": Input(value="example/dense-8b", origin="given"),
        "tensor_parallel_size": Input(value=1, origin="default", note="vLLM's default"),
        "max_model_len": Input(value=MAX_MODEL_LEN, origin="given"),
    },
    kvcore_version="0.1.0",
    engine=Engine(name="vllm", version="0.33.0"),
    model="example/dense-8b",
    budget=BudgetReport(kv_cache_bytes=BUDGET, kind="given", interval_bytes=None, reserves=()),
    layout=LayoutReport(
        attention_kind="GQA (32 query heads, 8 key/value heads)",
        parts=(PART,),
        bytes_per_token=BYTES_PER_TOKEN,
        bytes_per_request=0,
        bytes_per_token_partition=BYTES_PER_TOKEN,
        bytes_per_request_partition=0,
        attention_shards=1,
    ),
    plan=PlanReport(
        block_size=BLOCK_SIZE,
        page_size_bytes=PAGE_BYTES,
        groups=(
            GroupReport(
                kind="FullAttentionSpec",
                layers=LAYERS,
                block_size=BLOCK_SIZE,
                page_size_bytes=PAGE_BYTES,
                blocks_per_request=BLOCKS_PER_REQUEST,
            ),
        ),
        padding_percent=None,
        in_flight_tokens=4_096,
        copies=1,
    ),
    request=RequestReport(
        max_model_len=MAX_MODEL_LEN,
        parts=(
            RequestPart(
                name="attention",
                blocks=BLOCKS_PER_REQUEST,
                copies=1,
                bytes_estimate=REQUEST_BYTES,
                bytes_held=REQUEST_BYTES,
                bytes_plain=REQUEST_BYTES,
            ),
        ),
        bytes_estimate=REQUEST_BYTES,
        bytes_held=REQUEST_BYTES,
        bytes_plain=REQUEST_BYTES,
    ),
    capacity=Capacity(
        num_gpu_blocks=NUM_BLOCKS,
        concurrency=Concurrency(engine_log=40.0, held=39.998, plain=40.0),
        tokens=Tokens(engine_log=NUM_BLOCKS * BLOCK_SIZE, per_token_pool=NUM_BLOCKS * BLOCK_SIZE),
        max_model_len_that_fits=MAX_MODEL_LEN,
        binds="keys and values",
        fits=True,
    ),
    tax=Tax(causes=(TaxCause(name="rounding", bytes=0),), bytes=0),
    derivation=(
        Step(
            path="layout.parts.0.entry_bytes",
            label="bytes of one entry",
            formula=PART.formula,
            substituted=PART.substituted,
            result=ENTRY_BYTES,
            unit="bytes",
            source=PART.source,
        ),
    ),
    sources=(Source(id="config.json", kind="cited", ref="example/dense-8b@0123abc", checked="2026-11-29"),),
)

HOSTILE = "<script>alert(1)</script> | `rm` [x](javascript:alert(1)) \x1b[31m"

HOSTILE_REPORT = replace(
    REPORT,
    model=HOSTILE,
    inputs={"model": Input(value=HOSTILE, origin="given", note=HOSTILE)},
    layout=replace(REPORT.layout, attention_kind=HOSTILE, parts=(replace(PART, name=HOSTILE, dtype=HOSTILE),)),
    warnings=(HOSTILE,),
    errors=(FieldError(HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
    sources=(Source(id=HOSTILE, kind=HOSTILE, ref=HOSTILE, checked=HOSTILE),),
)
