"""Candidate causes of a gap, as data: what each would change in the request, in the order of how often it is the one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from kvcore.arithmetic import GIB
from kvcore.engines.sglang.room_for_drafts import tokens_with_room_for_drafts
from kvcore.engines.vllm.profile_table import PROFILES
from kvcore.reconcile.budget_line import NAME, TOKENS, logged_budget, logged_pool
from kvcore.reconcile.computed import quickly
from kvcore.reconcile.free_memory import AFTER, BEFORE, least_after, least_before
from kvcore.reconcile.predict import BUDGET_FIELDS
from kvcore.reconcile.record import LogRecord

Changes = Mapping[str, Any]


class Variant(NamedTuple):
    """What would have to be true: in words, as fields that would differ, or as tokens by a rule no field states."""

    words: str
    changes: Changes
    tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a candidate may look at: the log, the request, and the settings kvcore resolved for it."""

    record: LogRecord
    request: Mapping[str, Any]
    inputs: Mapping[str, Any]

    def resolved(self, name: str) -> Any:
        """The request's value of a field, or the engine's default."""
        return self.request.get(name, self.inputs.get(name))


@dataclass(frozen=True, kw_only=True)
class Cause:
    """One kind of cause: its key, what it is called, its variants, and the engine it is of."""

    key: str
    label: str
    variants: Callable[[Question], Iterator[Variant]]
    engine: str = "vllm"


_CACHE_DTYPES = ("fp8", "bfloat16", "float16", "float32", "nvfp4", "fp8_ds_mla", "int8_per_token_head", "turboquant_k8v4",
                 "turboquant_4bit_nc")  # fmt: skip
_BLOCK_SIZES = (16, 32, 64, 128, 256)
_BATCHES = (2048, 4096, 8192, 16384, 32768, 65536)
_RANKS = (1, 2, 4, 8, 16)
_DRAFTS = (1, 2, 3, 4, 5, 7)


def _cache_dtype(question: Question) -> Iterator[Variant]:
    if _checkpoint_may_hide_it(question):
        return
    for dtype in _CACHE_DTYPES:
        if dtype != question.resolved("kv_cache_dtype"):
            yield Variant(f"the cache is stored as {dtype}", {"kv_cache_dtype": dtype})


def _hidden_quantization(question: Question) -> Iterator[Variant]:
    """The flags are all there and name no cache dtype: then the checkpoint itself declares it."""
    if not _checkpoint_may_hide_it(question):
        return
    for dtype in ("fp8", "nvfp4", "fp8_ds_mla"):
        words = f"the checkpoint declares {dtype} for its cache (quantization_config or hf_quant_config.json), and no flag says so"
        yield Variant(words, {"kv_cache_dtype": dtype})


def _checkpoint_may_hide_it(question: Question) -> bool:
    record = question.record
    stated = record.flags.get("kv_cache_dtype", "auto")
    return record.flags_complete and stated == "auto" and "kv_cache_dtype" not in question.request


def _version(question: Question) -> Iterator[Variant]:
    for profile in reversed(PROFILES):
        yield Variant(f"the figures are those of vLLM {profile.version}", {"engine_version": profile.version})


def _block_size(question: Question) -> Iterator[Variant]:
    for size in _BLOCK_SIZES:
        if size != question.resolved("block_size"):
            yield Variant(f"blocks hold {size} tokens", {"block_size": size})


def _in_flight(question: Question) -> Iterator[Variant]:
    scheduling = question.resolved("async_scheduling")
    if isinstance(scheduling, bool):
        words = "scheduling ahead is off" if scheduling else "the engine schedules ahead"
        yield Variant(f"{words}, so other tokens are in flight", {"async_scheduling": not scheduling})
    for batch in _BATCHES:
        if batch != question.resolved("max_num_batched_tokens"):
            yield Variant(f"a step takes {batch:,} tokens", {"max_num_batched_tokens": batch})


def _prefix_caching(question: Question) -> Iterator[Variant]:
    caching = question.resolved("enable_prefix_caching")
    for mode in ("align", "all", "none"):
        if mode != question.resolved("mamba_cache_mode"):
            on = mode != "none"
            words = f"prefix caching is {'on' if on else 'off'} and states are kept in mode {mode}"
            yield Variant(words, {"enable_prefix_caching": on, "mamba_cache_mode": mode})
    if isinstance(caching, bool):
        yield Variant(f"prefix caching is {'off' if caching else 'on'}", {"enable_prefix_caching": not caching})


def _hybrid_manager(question: Question) -> Iterator[Variant]:
    off = bool(question.resolved("disable_hybrid_kv_cache_manager"))
    words = f"the hybrid manager is {'on' if off else 'off: windows and chunks are charged like full attention'}"
    yield Variant(words, {"disable_hybrid_kv_cache_manager": not off})


def _tensor_parallel(question: Question) -> Iterator[Variant]:
    """Fewer or more ranks; past the number of KV heads more ranks hold copies and the cache no longer shrinks."""
    for ranks in _RANKS:
        if ranks != question.resolved("tensor_parallel_size"):
            yield Variant(f"{ranks} tensor-parallel ranks share the heads", {"tensor_parallel_size": ranks})
    for ranks in _RANKS[1:]:
        if ranks != question.resolved("decode_context_parallel_size"):
            yield Variant(f"{ranks} ranks share the tokens of a request", {"decode_context_parallel_size": ranks})
    for stages in _RANKS[1:4]:
        if stages != question.resolved("pipeline_parallel_size"):
            yield Variant(f"{stages} pipeline stages share the layers", {"pipeline_parallel_size": stages})


def _speculative(question: Question) -> Iterator[Variant]:
    if question.request.get("speculative_config"):
        yield Variant("no drafter runs", {"speculative_config": None})
        return
    for drafts in _DRAFTS:
        settings = {"method": "mtp", "num_speculative_tokens": drafts}
        yield Variant(f"the checkpoint's own drafter runs, {drafts} tokens ahead", {"speculative_config": settings})


def _rounding(question: Question) -> Iterator[Variant]:
    """The budget was copied with fewer digits, or in GB of 10⁹ bytes."""
    gib = question.request.get("available_kv_cache_gib")
    if isinstance(gib, int | float):
        yield Variant(
            "the budget is in GB (10⁹ bytes), not GiB",
            {"kv_cache_memory_bytes": int(gib * 10**9), "available_kv_cache_gib": None},
        )


def _another_rank(question: Question) -> Iterator[Variant]:
    budgets = {figure.printed: figure for figure in question.record.all("available_kv_gib") if figure.value > 0}
    for figure in list(budgets.values())[:8]:
        if float(figure.value) != question.request.get("available_kv_cache_gib"):
            change: dict[str, Any] = dict.fromkeys(BUDGET_FIELDS)
            change["kv_cache_memory_bytes"] = int(figure.value * GIB)
            yield Variant(f"the figures are those of the worker with {figure.printed} GiB (line {figure.line})", change)
    yield from _silent_rank(question)


def _silent_rank(question: Question) -> Iterator[Variant]:
    """A worker that prints nothing had a little less; from 0.11 on only the first of them prints its budget."""
    ranks = (question.resolved("tensor_parallel_size") or 1) * (question.resolved("pipeline_parallel_size") or 1)
    tokens, budget = logged_pool(question.record, TOKENS), logged_budget(question.record)
    if tokens is None or budget is None or ranks <= len(question.record.all(NAME)):
        return
    computed = quickly(question.request)
    if computed is None or not computed.tokens or not computed.num_gpu_blocks:
        return
    share = Fraction(int(tokens.value), computed.tokens)
    if not 1 - _RANKS_DIFFER <= share < 1:
        return
    near = round(computed.num_gpu_blocks * share)
    for blocks in range(near - 1, min(near + 2, computed.num_gpu_blocks)):
        words = (
            f"a worker whose budget is not printed had room for {blocks:,} blocks only, not {computed.num_gpu_blocks:,}"
        )
        yield Variant(words, {"num_gpu_blocks_override": blocks})


def _sglang_cache_dtype(question: Question) -> Iterator[Variant]:
    for dtype in ("fp8_e4m3", "bfloat16", "fp4_mx_block16"):
        if dtype != question.resolved("kv_cache_dtype"):
            yield Variant(f"the cache is stored as {dtype}", {"kv_cache_dtype": dtype})


def _kernels(question: Question) -> Iterator[Variant]:
    """A build of its own may start with kernels this release refuses."""
    if question.resolved("attention_backend") not in {"triton", None}:
        yield Variant("the pool is sized as for triton's kernels", {"attention_backend": "triton"})


def _free_memory(question: Question) -> Iterator[Variant]:
    """Free memory is read once more when the pools are sized; where other programs share it, it has changed by then."""
    record, request = question.record, question.request
    tokens = record.first("max_total_num_tokens") or (
        None if record.first("swa_tokens") else record.first("pool_tokens")
    )
    share = record.flags.get("mem_fraction_static")
    if tokens is None or not isinstance(share, float) or not {BEFORE, AFTER} <= set(request):
        return
    computed = quickly(request)
    before, after = request[BEFORE], request[AFTER]
    reserved = before * (1 - share)
    if computed is None or not computed.tokens or after <= reserved:
        return
    free = reserved + (after - reserved) * int(tokens.value) / computed.tokens
    if abs(free - after) <= _FREE_DRIFTS * before:
        words = f"{free:.2f} GiB were free when the pools were sized, not the {after:.2f} GiB printed before"
        yield Variant(words, {AFTER: round(free, 4)})


def _static_fraction(question: Question) -> Iterator[Variant]:
    """The share that gives the printed pools, where the log does not print it: pools = after − before × (1 − share)."""
    record = question.record
    if "mem_fraction_static" in record.flags:
        return
    before, after = least_before(record), least_after(record)
    end = next((seen.line for seen in record.seen if seen.kind == "sglang_pool_end"), 0)
    pools = sum(float(figure.value) for name in _POOLS for figure in record.all(name) if not end or figure.line < end)
    if before is None or after is None or not before.value or not pools:
        return
    share = 1 - (float(after.value) - pools) / float(before.value)
    asked = question.resolved("mem_fraction_static")
    for fraction in dict.fromkeys((round(share, 2), round(share, 3))):
        # As near as free memory drifts, the fraction asked for is the one that ran.
        if 0 < fraction < 1 and (asked is None or abs(fraction - asked) >= _DRIFT):
            yield Variant(f"the static fraction is {fraction}", {"mem_fraction_static": fraction})
            # Bytes and tokens of the pools are printed apart, so both can be read off them.
            words = f"the static fraction is {fraction} and the cache is stored in fp8"
            yield Variant(words, {"mem_fraction_static": fraction, "kv_cache_dtype": "fp8_e4m3"})


def _room_for_drafts(question: Question) -> Iterator[Variant]:
    """Releases before 0.5.8 profiled the target alone and put the tokens of drafts on top, whatever was free."""
    request = question.request
    numbers = [question.resolved(name) for name in ("max_running_requests", *_DRAFTING)]
    if not request.get("speculative_algorithm") or AFTER not in request or not all(isinstance(n, int) for n in numbers):
        return
    alone: dict[str, Any] = {name: value for name, value in request.items() if not name.startswith("speculative_")}
    computed = quickly(alone)
    if computed is None or computed.tokens is None:
        return
    requests, steps, topk, verified = numbers
    page = question.resolved("page_size") or 1
    tokens = tokens_with_room_for_drafts(
        computed.tokens,
        page_size=page,
        max_running_requests=requests,
        num_steps=steps,
        topk=topk,
        num_draft_tokens=verified,
    )
    words = (
        f"a release before 0.5.8: {computed.tokens:,} tokens fit without a drafter, and room for what {requests:,} requests draft "
        f"comes on top, in whole pages: {tokens:,}"
    )
    yield Variant(words, {}, tokens)


_DRIFT = 0.004
_FREE_DRIFTS = 0.01
"""Share of the memory by which the free amount changes at most between two readings of posted logs."""

_RANKS_DIFFER = Fraction(2, 100)
"""Share of the budget by which workers of one pool differ at most in posted logs."""

_DRAFTING = ("speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens")
_POOLS = ("pool_k_gib", "pool_v_gib", "pool_kv_gib", "conv_state_gib", "ssm_state_gib")

CAUSES: tuple[Cause, ...] = (
    Cause(key="another_rank", label="Budget of another worker", variants=_another_rank),
    Cause(key="kv_cache_dtype", label="Cache dtype", variants=_cache_dtype),
    Cause(key="hidden_quantization", label="Quantization the checkpoint declares", variants=_hidden_quantization),
    Cause(key="block_size", label="Block size", variants=_block_size),
    Cause(key="in_flight", label="Tokens in flight", variants=_in_flight),
    Cause(key="prefix_caching", label="Prefix caching and states", variants=_prefix_caching),
    Cause(key="hybrid_manager", label="Hybrid manager", variants=_hybrid_manager),
    Cause(key="tensor_parallel", label="Parallel ranks and replicated heads", variants=_tensor_parallel),
    Cause(key="speculative", label="Layers of a drafter", variants=_speculative),
    Cause(key="engine_version", label="Engine version", variants=_version),
    Cause(key="rounding", label="Rounding or unit of the budget", variants=_rounding),
    Cause(key="room_for_drafts", label="Room for drafts", variants=_room_for_drafts, engine="sglang"),
    Cause(key="free_memory", label="Free memory, read again", variants=_free_memory, engine="sglang"),
    Cause(key="static_fraction", label="Static fraction", variants=_static_fraction, engine="sglang"),
    Cause(key="kernels", label="Attention kernels", variants=_kernels, engine="sglang"),
    Cause(key="sglang_cache_dtype", label="Cache dtype", variants=_sglang_cache_dtype, engine="sglang"),
)
"""Every cause, the likeliest first among those that explain a log equally well."""
