"""The next sensible flags, each with what it would do to this deployment, computed under the log's own budget."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kvcore.answer import answer
from kvcore.arithmetic import GIB
from kvcore.commands import quoted
from kvcore.reconcile.record import LogRecord
from kvcore.report.report import Report

MOST_STEPS = 6
_LARGEST_FRACTION, _STEP = 0.93, 0.03
"""Shares of memory above the first are not raised any more; those below are, by the second."""

_HALF_PRECISION = frozenset({"auto", "bfloat16", "float16", "half", None})


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """A change of flags and its effect.

    Attributes:
        flag: The flag as it would be written.
        why: What it does, and what it costs.
        changes: Fields of the request that differ.
        tokens: "GPU KV cache size" after it; None where the engine would not start.
        concurrency: "Maximum concurrency" after it.
        max_model_len: The length the figures are for.
    """

    flag: str
    why: str
    changes: Mapping[str, Any]
    tokens: int | None
    concurrency: float | None
    max_model_len: int | None


@dataclass(frozen=True)
class _Candidate:
    flag: str
    why: str
    changes: Mapping[str, Any]


def next_steps(record: LogRecord, request: Mapping[str, Any]) -> tuple[NextStep, ...]:
    """Flags that would let more requests in, the most effective first; nothing where the budget is not known."""
    before = answer(request)
    if before.errors or before.capacity is None or before.budget is None or before.budget.kv_cache_bytes is None:
        return ()
    steps = []
    candidates = _sglang_candidates if request.get("engine") == "sglang" else _candidates
    for candidate in candidates(record, request, before):
        altered = {name: value for name, value in {**request, **candidate.changes}.items() if value is not None}
        after = answer(altered)
        if after.errors or after.capacity is None or _admits(after) <= _admits(before):
            continue
        steps.append(
            NextStep(
                flag=candidate.flag,
                why=candidate.why,
                changes=candidate.changes,
                tokens=after.capacity.tokens.engine_log,
                concurrency=after.capacity.concurrency.engine_log,
                max_model_len=None if after.request is None else after.request.max_model_len,
            )
        )
    return tuple(sorted(steps, key=lambda step: -(step.concurrency or step.tokens or 0))[:MOST_STEPS])


def _admits(report: Report) -> float:
    """What grows when a flag helps: requests at once, or tokens where the engine prints no such figure."""
    if report.capacity is None:
        return 0
    return report.capacity.concurrency.engine_log or report.capacity.tokens.engine_log or 0


def _candidates(record: LogRecord, request: Mapping[str, Any], before: Report) -> Iterator[_Candidate]:
    inputs = {name: item.value for name, item in before.inputs.items()}
    budget = 0 if before.budget is None else before.budget.kv_cache_bytes or 0
    if request.get("kv_cache_dtype") in _HALF_PRECISION:
        yield _Candidate(
            "--kv-cache-dtype fp8",
            "stores keys and values in one byte each; check the answers, which may change a little",
            {"kv_cache_dtype": "fp8"},
        )
    length = None if before.request is None else before.request.max_model_len
    fits = None if before.capacity is None else before.capacity.max_model_len_that_fits
    if length and fits and fits < length:
        yield _Candidate(f"--max-model-len {fits}", "the longest request that fits", {"max_model_len": fits})
    if length and length > 2048:
        half = length // 2
        yield _Candidate(
            f"--max-model-len {half}",
            "admits more, shorter requests; frees no memory by itself",
            {"max_model_len": half},
        )
    batch = inputs.get("max_num_batched_tokens")
    if isinstance(batch, int) and batch > 2048:
        yield _Candidate(
            "--max-num-batched-tokens 2048",
            "windows keep fewer tokens in flight, and activations need less; prefill takes more steps",
            {"max_num_batched_tokens": 2048},
        )
    if inputs.get("enable_prefix_caching") is True:
        yield _Candidate(
            "--no-enable-prefix-caching",
            "keeps fewer states per request; nothing is reused between requests",
            {"enable_prefix_caching": False},
        )
    if inputs.get("disable_hybrid_kv_cache_manager") is True:
        yield _Candidate(
            "--no-disable-hybrid-kv-cache-manager",
            "windows and chunks are charged by themselves",
            {"disable_hybrid_kv_cache_manager": False},
        )
    yield from _more_memory(record, request, budget)


def _sglang_candidates(_record: LogRecord, request: Mapping[str, Any], before: Report) -> Iterator[_Candidate]:
    inputs = {name: item.value for name, item in before.inputs.items()}
    if inputs.get("kv_cache_dtype") in _HALF_PRECISION:
        yield _Candidate(
            "--kv-cache-dtype fp8_e4m3",
            "stores keys and values in one byte each; check the answers, which may change a little",
            {"kv_cache_dtype": "fp8_e4m3"},
        )
    fraction = inputs.get("mem_fraction_static")
    if isinstance(fraction, int | float) and fraction <= _LARGEST_FRACTION:
        wanted = round(float(fraction) + _STEP, 2)
        yield _Candidate(
            f"--mem-fraction-static {quoted(str(wanted))}",
            "gives the pools memory that activations and graphs may need; watch for out-of-memory errors",
            {"mem_fraction_static": wanted},
        )
    if request.get("max_total_tokens"):
        yield _Candidate("without --max-total-tokens", "lets the pool take what is free", {"max_total_tokens": None})


def _more_memory(record: LogRecord, request: Mapping[str, Any], budget: int) -> Iterator[_Candidate]:
    """A larger share of the card: its total is printed, so the gain is exact as long as the rest stays the same."""
    total, share = record.first("gpu_memory_gib"), record.first("gpu_memory_utilization")
    asked = float(share.value) if share is not None else request.get("gpu_memory_utilization")
    if total is None or not isinstance(asked, int | float) or asked > _LARGEST_FRACTION:
        return
    wanted = round(float(asked) + _STEP, 2)
    gain = int((wanted - float(asked)) * float(total.value) * GIB)
    changes = {"available_kv_cache_gib": None, "kv_cache_memory_bytes": budget + gain, "gpu_memory_utilization": wanted}
    flag = f"--gpu-memory-utilization {quoted(str(wanted))}"
    yield _Candidate(
        flag, "leaves less for everything that is not counted in advance; watch for out-of-memory errors", changes
    )
