"""The request: one question in the engine's own flag names, checked field by field."""

import dataclasses
import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kvcore.errors import FieldError, InputError, shown
from kvcore.request_fields import REQUEST_FIELDS, SGLANG_KV_CACHE_DTYPES, RequestField

_FIELDS = {field.name: field for field in REQUEST_FIELDS}

MOST_ITEMS = 10_000
"""Longest list of a field: one value per layer or stage of the deepest model that is read."""

MOST_NAMED = 20
"""Unknown fields that are named one by one; an address may hold thousands."""


@dataclass(frozen=True, kw_only=True)
class SpeculativeConfig:
    """vLLM's ``--speculative-config``: the drafter and how many tokens it proposes per step."""

    method: str
    num_speculative_tokens: int
    model: str | None = None
    config: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question. ``None`` means "not given": the engine's default at that version applies and the report says which.

    Field meanings, units and limits stand in ``kvcore.request_fields.REQUEST_FIELDS``.
    """

    model: str | None = None
    config: Mapping[str, Any] | None = None
    layout: Mapping[str, Any] | None = None
    engine: str = "vllm"
    engine_version: str | None = None
    gpu: str | None = None

    tensor_parallel_size: int = 1
    pipeline_parallel_size: int = 1
    data_parallel_size: int = 1
    decode_context_parallel_size: int = 1
    enable_expert_parallel: bool = False
    pipeline_layer_partition: tuple[int, ...] | None = None

    max_model_len: int | None = None
    max_num_batched_tokens: int | None = None
    max_num_seqs: int | None = None
    async_scheduling: bool | None = None
    usage_context: str = "server"

    dtype: str | None = None
    kv_cache_dtype: str | None = None
    kv_cache_dtype_skip_layers: tuple[str, ...] | None = None
    block_size: int | None = None
    enable_prefix_caching: bool | None = None
    mamba_cache_mode: str | None = None
    mamba_cache_dtype: str | None = None
    mamba_ssm_cache_dtype: str | None = None
    disable_hybrid_kv_cache_manager: bool | None = None
    attention_backend: str | None = None
    num_gpu_blocks_override: int | None = None
    max_in_flight_tokens: int | None = None
    decode_set_aside_percent: float | None = None
    speculative_config: SpeculativeConfig | None = None

    kv_cache_memory_bytes: int | tuple[int, ...] | None = None
    available_kv_cache_gib: float | None = None
    gpu_memory_utilization: float | None = None
    gpu_memory_gib: float | None = None
    weights_gib: float | None = None
    activation_gib: float | None = None
    cuda_graph_gib: float | None = None
    non_torch_gib: float | None = None
    enforce_eager: bool | None = None

    tp_size: int | None = None
    pp_size: int | None = None
    dp_size: int | None = None
    ep_size: int | None = None
    context_length: int | None = None
    mem_fraction_static: float | None = None
    page_size: int | None = None
    chunked_prefill_size: int | None = None
    max_running_requests: int | None = None
    max_total_tokens: int | None = None
    enable_dp_attention: bool | None = None
    speculative_algorithm: str | None = None
    speculative_num_steps: int | None = None
    speculative_eagle_topk: int | None = None
    speculative_num_draft_tokens: int | None = None
    speculative_draft_model_path: str | None = None
    speculative_draft_config: Mapping[str, Any] | None = None
    disable_radix_cache: bool | None = None
    swa_full_tokens_ratio: float | None = None
    disable_hybrid_swa_memory: bool | None = None
    mamba_full_memory_ratio: float | None = None
    max_mamba_cache_size: int | None = None
    mamba_ssm_dtype: str | None = None
    mamba_radix_cache_strategy: str | None = None
    disable_overlap_schedule: bool | None = None
    disable_cuda_graph: bool | None = None
    disaggregation_mode: str | None = None
    enable_multimodal: bool | None = None
    dsa_prefill_backend: str | None = None
    dsa_decode_backend: str | None = None
    nnodes: int | None = None
    node_rank: int | None = None
    dist_init_addr: str | None = None
    sglang_args: Mapping[str, Any] | None = None
    available_before_load_gib: float | None = None
    available_after_load_gib: float | None = None

    given: frozenset[str] = frozenset()


def parse_request(fields: Mapping[str, Any]) -> Request:
    """Checks a mapping of request fields and freezes it.

    Args:
        fields: Request fields by name, as in JSON. ``None`` values count as absent.

    Returns:
        The request, with ``given`` naming the fields that were set.

    Raises:
        InputError: One :class:`FieldError` for every field that is unknown, of the wrong type or out of range.
    """
    errors: list[FieldError] = []
    values: dict[str, Any] = {}
    unknown = [name for name, raw in fields.items() if raw is not None and name not in _FIELDS]
    errors += [_unknown_field(name, fields[name]) for name in unknown[:MOST_NAMED]]
    if len(unknown) > MOST_NAMED:
        rule = f"there are {len(unknown) - MOST_NAMED:,} more fields that no request has"
        errors.append(FieldError("request", shown(unknown[MOST_NAMED]), rule, "Send request fields only."))
    for name, raw in fields.items():
        field = _FIELDS.get(name)
        if raw is None or field is None:
            continue
        try:
            values[name] = _READERS[field.type](field, raw)
        except InputError as error:
            errors.extend(error.errors)
    errors.extend(_conflicts(values))
    if errors:
        raise InputError(errors)
    return Request(**values, given=frozenset(values))


def request_fields(request: Request) -> dict[str, Any]:
    """The given fields of a request as plain JSON values: the inverse of :func:`parse_request`."""
    return {name: _plain(getattr(request, name)) for name in _FIELDS if name in request.given}


def _plain(value: Any) -> Any:
    if isinstance(value, SpeculativeConfig):
        return {key: item for key, item in dataclasses.asdict(value).items() if item is not None}
    return list(value) if isinstance(value, tuple) else value


def _unknown_field(name: object, raw: object) -> FieldError:
    near = difflib.get_close_matches(str(name), _FIELDS, n=1)
    hint = f"Did you mean {near[0]}?" if near else "See `kvcore report --help` for the fields."
    return FieldError(str(name)[:80], shown(raw), "there is no request field of this name", hint)


def _conflicts(values: Mapping[str, Any]) -> list[FieldError]:
    sources = [name for name in ("model", "config", "layout") if name in values]
    if len(sources) > 1:
        rule = f"exactly one of model, config and layout is expected, not {' and '.join(sources)}"
        return [FieldError(sources[1], shown(values[sources[1]]), rule, f"Leave out {sources[1]} or {sources[0]}.")]
    if not sources:
        rule = "exactly one of model (a catalogue id), config (a config.json object) or layout is expected"
        return [FieldError("model", shown(None), rule, "Name a model, or give its config.json as config.")]
    if "kv_cache_memory_bytes" in values and "available_kv_cache_gib" in values:
        rule = "kv_cache_memory_bytes and available_kv_cache_gib both state the budget"
        remedy = "Give the exact bytes or the logged GiB, not both."
        return [FieldError("available_kv_cache_gib", shown(values["available_kv_cache_gib"]), rule, remedy)]
    dtype = values.get("kv_cache_dtype")
    if dtype in SGLANG_KV_CACHE_DTYPES and values.get("engine", "vllm") != "sglang":
        rule = "only SGLang stores this cache dtype"
        return [FieldError("kv_cache_dtype", shown(dtype), rule, "Ask for engine sglang, or use another dtype.")]
    return []


def _reject(field: RequestField, raw: object, rule: str) -> InputError:
    return InputError([FieldError(field.name, shown(raw), rule, field.remedy)])


def _in_range(field: RequestField, raw: object, number: float) -> None:
    if field.also_allowed and number in field.also_allowed:
        return
    if field.minimum is not None and (number < field.minimum or (field.exclusive_minimum and number == field.minimum)):
        bound = "greater than" if field.exclusive_minimum else "at least"
        raise _reject(field, raw, f"must be {bound} {field.minimum:,}")
    if field.maximum is not None and number > field.maximum:
        raise _reject(field, raw, f"must be at most {field.maximum:,}")


def _read_integer(field: RequestField, raw: object) -> int:
    if raw == "auto" and field.also_allowed and -1 in field.also_allowed:
        return -1
    if isinstance(raw, str):
        raw = _number_from_text(field, raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _reject(field, raw, "must be a whole number")
    if isinstance(raw, float) and not raw.is_integer():
        raise _reject(field, raw, "must be a whole number")
    _in_range(field, raw, int(raw))
    return int(raw)


def _number_from_text(field: RequestField, raw: str) -> int | float:
    text = raw.strip().replace(",", "").replace("_", "")
    if len(text) > 40:
        raise _reject(field, raw, "must be a number")
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            raise _reject(field, raw, "must be a number") from None


def _read_number(field: RequestField, raw: object) -> float:
    if isinstance(raw, str):
        raw = _number_from_text(field, raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _reject(field, raw, "must be a number")
    if isinstance(raw, float) and not math.isfinite(raw):
        raise _reject(field, raw, "must be a finite number")
    _in_range(field, raw, raw)
    return float(raw)


def _read_boolean(field: RequestField, raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.lower() in {"true", "false"}:
        return raw.lower() == "true"
    raise _reject(field, raw, "must be true or false")


def _read_string(field: RequestField, raw: object) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise _reject(field, raw, "must be a non-empty text")
    if len(raw) > 300:
        raise _reject(field, raw, "must be at most 300 characters long")
    return raw.strip()


def _read_choice(field: RequestField, raw: object) -> str:
    text = _read_string(field, raw)
    if text not in field.choices:
        near = difflib.get_close_matches(text, field.choices, n=1)
        hint = f"Did you mean {near[0]}?" if near else field.remedy
        rule = f"must be one of {', '.join(field.choices)}"
        raise InputError([FieldError(field.name, shown(raw), rule, hint)])
    return text


def _read_object(field: RequestField, raw: object) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise _reject(field, raw, "must be a JSON object")
    return raw


def _read_budget(field: RequestField, raw: object) -> int | tuple[int, ...]:
    if isinstance(raw, list | tuple):
        if not raw:
            raise _reject(field, raw, "must list one value per pipeline stage")
        return tuple(_read_integer(field, item) for item in _bounded(field, raw))
    return _read_integer(field, raw)


def _read_integers(field: RequestField, raw: object) -> tuple[int, ...]:
    items = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(items, list | tuple) or not items:
        raise _reject(field, raw, "must be a list of whole numbers")
    return tuple(_read_integer(field, item) for item in _bounded(field, items))


def _bounded(field: RequestField, items: Sequence[object]) -> Sequence[object]:
    if len(items) > MOST_ITEMS:
        raise _reject(field, f"{len(items):,} values", f"must have at most {MOST_ITEMS:,} values")
    return items


def _read_strings(field: RequestField, raw: object) -> tuple[str, ...]:
    items = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(items, list | tuple) or not all(isinstance(item, str | int) for item in items):
        raise _reject(field, raw, "must be a list of layer numbers or names")
    return tuple(str(item) for item in _bounded(field, items))


def _read_speculative(field: RequestField, raw: object) -> SpeculativeConfig:
    if not isinstance(raw, Mapping):
        raise _reject(field, raw, "must be a JSON object with method and num_speculative_tokens")
    method = raw.get("method")
    if not isinstance(method, str):
        raise _reject(field, raw, "needs method, a text such as mtp, eagle, eagle3, ngram or draft_model")
    tokens = raw.get("num_speculative_tokens")
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 1 <= tokens <= 1024:
        raise _reject(field, raw, "needs num_speculative_tokens, a whole number from 1 to 1,024")
    model, config = raw.get("model"), raw.get("config")
    if config is not None and not isinstance(config, Mapping):
        raise _reject(field, raw, "config must be the drafter's config.json object")
    return SpeculativeConfig(
        method=method,
        num_speculative_tokens=tokens,
        model=model if isinstance(model, str) else None,
        config=config,
    )


_READERS = {
    "integer": _read_integer,
    "number": _read_number,
    "boolean": _read_boolean,
    "string": _read_string,
    "choice": _read_choice,
    "object": _read_object,
    "budget": _read_budget,
    "integers": _read_integers,
    "strings": _read_strings,
    "speculative": _read_speculative,
}
