"""The request a log implies, and what it leaves open.

Only what belongs to the question is taken over: engine flags kvcore knows, the release, and a model of the catalogue. A
path, a host, a user or a private name never becomes part of a request, so none can reach a link or a command.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kvcore.arithmetic import GIB
from kvcore.catalog import find_model, load_gpus
from kvcore.catalog.models import model_keys
from kvcore.errors import KvcoreError
from kvcore.reconcile.budget_line import logged_budget
from kvcore.reconcile.free_memory import AFTER, BEFORE, least_after, least_before
from kvcore.reconcile.kin import catalogue_kin, folders_above, named_by, stores_weights
from kvcore.reconcile.literals import read_arguments
from kvcore.reconcile.record import LogRecord
from kvcore.request import parse_request
from kvcore.request_fields import REQUEST_FIELDS

_NOT_FROM_FLAGS = frozenset({
    "model", "config", "layout", "engine", "engine_version", "gpu", "speculative_config", "speculative_draft_model_path",
    "speculative_draft_config", "sglang_args", "dist_init_addr", "node_rank", "available_kv_cache_gib", "gpu_memory_gib",
    "attention_backend",
})  # fmt: skip
"""Fields that are not copied from flags: they name files or hosts, or a log states them otherwise."""

_RENAMED = {"max_seq_len": "max_model_len", "kv_cache_memory": "kv_cache_memory_bytes"}
"""Names of the engine's resolved configuration, and the flag each stands for."""

_WORD = re.compile(r"[A-Za-z0-9_.,+ -]{1,60}")
"""What a text may hold: names of formats, kernels, releases and cards, and no path or address."""

VARIANT = "arguments, a variant of it"
"""Source of a model that is the catalogue's plain one of the checkpoint a log names."""

_UNTAGGED = re.compile(r"0\.1\.dev\d")
"""What a build from a checkout without its tags calls itself, whatever its release."""

_MODEL_FLAGS = ("model", "model_tag", "model_path", "served_model_name", "general.name")


@dataclass(frozen=True)
class Question:
    """Something the log does not say: the request field, and why it matters."""

    field: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Implied:
    """The request a log stands for.

    Attributes:
        request: Request fields, without what the log leaves open.
        sources: Where each field was read.
        questions: What is left open.
        variant: Whether the model is the catalogue's plain one of a checkpoint that was quantized or tuned further: the
            same cache, other weights.
    """

    request: Mapping[str, Any]
    sources: Mapping[str, str]
    questions: tuple[Question, ...]
    variant: bool = False


def implied_request(record: LogRecord, given: Mapping[str, Any]) -> Implied:
    """Joins what the log says with what the person says, who has the last word.

    Args:
        record: The log.
        given: Request fields the person states: a config, a GPU, a corrected flag.
    """
    request: dict[str, Any] = {}
    sources: dict[str, str] = {}
    engine = "sglang" if record.engine == "sglang" else "vllm"

    def put(name: str, value: object, source: str) -> None:
        if name not in request and name not in given and _accepted(name, value, engine):
            request[name] = value
            sources[name] = source

    if record.engine == "sglang":
        put("engine", "sglang", "its lines")
        put("attention_backend", record.flags.get("attention_backend"), "arguments")
        _put_free_memory(record, put)
    _put_release(record, put)
    if not {"model", "config", "layout"} & set(given):
        put("model", *_model_of(record))
    for name, value in record.flags.items():
        field = _RENAMED.get(name, name)
        if field in _FIELD_NAMES and value is not None:
            put(field, _plain(value), "arguments")
    put("speculative_config", _speculative(record.flags.get("speculative_config")), "arguments")
    _put_figures(record, put)
    put("gpu", _gpu(record), "total memory")
    everything = {**request, **given}
    variant = sources.get("model") == VARIANT
    questions = tuple(_questions(record, everything, variant=variant))
    return Implied(request=everything, sources=sources, questions=questions, variant=variant)


_FIELD_NAMES = frozenset(field.name for field in REQUEST_FIELDS) - _NOT_FROM_FLAGS

FIRST_KNOWN = "0.9.0"
"""First release of vLLM whose profile is known; a cache that keeps every token was counted the same way before."""

_BEFORE_FIRST_KNOWN = re.compile(r"0\.[2-8]\.\d")


def _put_release(record: LogRecord, put: Any) -> None:
    """The release: as printed, or the first one that is known where the log is of an older one.

    vLLM 0.2 to 0.8 `CacheEngine.get_cache_block_size` charges every layer keys and values of each token.
    """
    if record.engine == "vllm" and _is_first_engine(record):
        put("engine_version", FIRST_KNOWN, "the first engine, whose blocks are counted as by this release")
    elif record.engine_version and record.engine in {"vllm", "sglang"} and not _UNTAGGED.match(record.engine_version):
        put("engine_version", record.engine_version, "version line")


def _is_first_engine(record: LogRecord) -> bool:
    """Whether a log is of a release before 0.9, or prints what only the first engine does: blocks on GPU and CPU."""
    if not record.engine_version:
        return record.first("num_cpu_blocks") is not None
    return _BEFORE_FIRST_KNOWN.match(record.engine_version) is not None


def _put_figures(record: LogRecord, put: Any) -> None:
    """What the figures say about the request: length, batch, ranks, budget."""
    for name, field in (
        ("max_concurrency_len", "max_model_len"),
        ("refused_max_model_len", "max_model_len"),
        ("max_num_batched_tokens", "max_num_batched_tokens"),
        ("num_gpu_blocks_override", "num_gpu_blocks_override"),
        ("dcp_world_size", "decode_context_parallel_size"),
        ("context_len", "context_length"),
        ("max_running_requests", "max_running_requests"),
    ):
        figure = record.first(name)
        if figure is not None:
            put(field, float(figure.value) if "." in figure.printed else figure.value, f"line {figure.line}")
    ranks = [word for figure in record.figures for word in figure.rank.split()]
    for prefix, field in (("TP", "tensor_parallel_size"), ("PP", "pipeline_parallel_size")):
        numbers = [int(word[2:]) for word in ranks if word.startswith(prefix) and word[2:].isdigit()]
        if numbers and max(numbers) > 0 and record.engine == "vllm":
            put(field, max(numbers) + 1, "worker names")
    _put_ranks(record, put)
    off = [seen.line for seen in record.seen if seen.kind == "hybrid_off"]
    if off:
        put("disable_hybrid_kv_cache_manager", bool(off), f"line {off[0]}")
    available = logged_budget(record)
    if available is not None and record.engine == "vllm" and available.value > 0:
        put("available_kv_cache_gib", float(available.value), f"line {available.line}")


def _put_ranks(record: LogRecord, put: Any) -> None:
    """How layers and heads are split, where every rank of the world says where it stands."""
    world = record.first("world_size")
    tensor, pipeline = (
        max((int(item.value) for item in record.all(name)), default=0) + 1 for name in ("tp_rank", "pp_rank")
    )
    if world is not None and tensor * pipeline == world.value:
        put("tensor_parallel_size", tensor, f"line {world.line}")
        put("pipeline_parallel_size", pipeline, f"line {world.line}")


def _put_free_memory(record: LogRecord, put: Any) -> None:
    for name, figure in ((BEFORE, least_before(record)), (AFTER, least_after(record))):
        if figure is not None:
            rank = f", {figure.rank}, the least of all ranks" if figure.rank else ""
            put(name, float(figure.value), f"line {figure.line}{rank}")


def _accepted(name: str, value: object, engine: str) -> bool:
    """Whether a value may stand in a request to an engine under this name."""
    if value is None or (isinstance(value, str) and name != "model" and not _WORD.fullmatch(value)):
        return False
    try:
        parse_request({"model": "any/model", "engine": engine, name: value})
    except KvcoreError:
        return False
    return True


_RESPELT = {"fp4_e2m1": "fp4_mx_block16"}
"""Values under the names of earlier releases: SGLang renamed its four-bit cache before 0.5.23."""


def _plain(value: Any) -> Any:
    """An engine's spelling of a value as a request's: ``torch.bfloat16`` is bfloat16."""
    if not isinstance(value, str):
        return value
    plain = value.removeprefix("torch.")
    return _RESPELT.get(plain, plain)


def _model_of(record: LogRecord) -> tuple[str | None, str]:
    """The first catalogue model found for a name or path the log gives, and its source; nothing of the name is taken."""
    for flag in _MODEL_FLAGS:
        value = record.flags.get(flag)
        for name in value if isinstance(value, list) else [value]:
            if not isinstance(name, str):
                continue
            if found := _first(catalogue_name, named_by(name)):
                return found, "arguments"
            if found := _first(catalogue_kin, named_by(name)) or _first(catalogue_kin, folders_above(name)):
                return found, VARIANT
    return None, ""


def _first(find: Callable[[str], str | None], names: Sequence[str]) -> str | None:
    return next((found for name in names if (found := find(name))), None)


def catalogue_name(name: str) -> str | None:
    """The id of the catalogue's model a name or path stands for, where exactly one does."""
    wanted = name.strip().rstrip("/").lower()
    files = model_keys()
    if wanted not in files:
        maker, _, last = wanted.rpartition("/")
        near = [key for key in files if key.rpartition("/")[2] == last]
        if maker and "/" not in maker and stores_weights(last):
            # Another maker's checkpoint of that name may declare how its cache is stored otherwise.
            return None
        if len(near) != 1:
            return None
        wanted = near[0]
    return find_model(wanted).id


_RESOLVED_DRAFTS = "SpeculativeConfig("


def _speculative(value: Any) -> dict[str, Any] | None:
    """The speculative settings that decide sizes; the drafter only where it is a model of the catalogue."""
    if isinstance(value, str) and value.startswith(_RESOLVED_DRAFTS):
        # The resolved configuration prints the object, with a shorter name for the tokens.
        printed, _ = read_arguments(value.removeprefix(_RESOLVED_DRAFTS), "=")
        value = {"num_speculative_tokens": printed.pop("num_spec_tokens", None), **printed}
    if not isinstance(value, Mapping):
        return None
    kept = {key: value[key] for key in ("method", "num_speculative_tokens") if value.get(key) is not None}
    model = value.get("model")
    drafter = catalogue_name(model) if isinstance(model, str) else None
    return {**kept, "model": drafter} if drafter else kept


def _gpu(record: LogRecord) -> str | None:
    """The only GPU of the catalogue that reports this much memory."""
    total = record.first("gpu_memory_gib")
    if total is None:
        return None
    low, high = total.interval
    fitting = [
        gpu.name
        for gpu in load_gpus()
        if any(low <= seen <= high for seen in gpu.seen_gib)
        or (gpu.usable_bytes is not None and low <= gpu.usable_bytes / GIB <= high)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _questions(record: LogRecord, request: Mapping[str, Any], *, variant: bool) -> list[Question]:
    questions: list[Question] = []
    if variant:
        text = (
            "The log names a quantized or tuned checkpoint that is not in the catalogue. Its cache is that of the plain model, "
            "unless its config.json says otherwise: paste it to be sure. Weights are not compared."
        )
        questions.append(Question("config", text))
    if not {"model", "config", "layout"} & set(request):
        text = "The log names no model of the catalogue. Choose one, or paste its config.json."
        questions.append(Question("model", text))
    if request.get("engine_version") == FIRST_KNOWN and record.engine == "vllm" and _is_first_engine(record):
        text = (
            f"The log is of an older release than kvcore knows. Keys and values of every token were counted then as by "
            f"{FIRST_KNOWN}, whose rules are taken; other caches are refused."
        )
        questions.append(Question("engine_version", text))
    elif "engine_version" not in request and record.engine in {"vllm", "sglang"}:
        prints = "the version of a build without tags" if record.engine_version else "no release"
        text = f"The log prints {prints}; releases count tokens differently. The newest one is assumed."
        questions.append(Question("engine_version", text))
    if "gpu" not in request:
        text = "The log names no GPU. It sets attention kernels and batch sizes; an H100 is assumed."
        questions.append(Question("gpu", text))
    if record.engine == "vllm" and "max_model_len" not in request:
        questions.append(Question("max_model_len", "The log prints no length. The model's own limit is assumed."))
    if record.engine == "vllm" and not {"available_kv_cache_gib", "kv_cache_memory_bytes"} & set(request):
        negative = logged_budget(record) is not None
        state = "says that nothing is left for the cache" if negative else "is missing"
        text = f'The line "Available KV cache memory" {state}; without a budget, blocks and tokens cannot be predicted.'
        questions.append(Question("available_kv_cache_gib", text))
    if record.engine == "sglang" and "mem_fraction_static" not in request:
        text = "The log does not print the static fraction; its default depends on the GPU and other flags."
        questions.append(Question("mem_fraction_static", text))
    if record.flags_line and not record.flags_complete:
        text = "The list of arguments is cut off; flags behind the cut are unknown."
        questions.append(Question("kv_cache_dtype", text))
    return questions
