"""Settings: every engine flag after vLLM's defaults, and where each value came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kvcore.arithmetic import GIB
from kvcore.catalog.gpus import Gpu, find_gpu
from kvcore.config import ModelConfig
from kvcore.dtypes import canonical
from kvcore.engines.vllm.checkpoint import NO_FLOAT16_MODEL_TYPES, auto_dtype, declared_kv_cache_dtype, derived_max_model_len
from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.scheduling import concurrent_batches, in_flight_batches
from kvcore.engines.vllm.state_settings import can_reuse_states, resolve_state_settings
from kvcore.errors import refusal
from kvcore.layout.traits import Traits
from kvcore.report.report import Input
from kvcore.request import Request

DEFAULT_GPU = "H100"

OLDER_RUNNER_METHODS = frozenset({"suffix", "custom_class"})
"""Speculative methods only the V1 model runner has (vLLM 0.33.0 `_get_v2_model_runner_unsupported_features`)."""

NO_HYBRID_REUSE = "off in this release for models with states beside attention"

_LARGE_GPU_BYTES = 70 * GIB
_VERY_LARGE_GPU_BYTES = 160 * GIB


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """What vLLM works with once every default is filled in (names as in its config classes)."""

    profile: Profile
    engine_version: str | None
    gpu: Gpu
    tensor_parallel_size: int
    pipeline_parallel_size: int
    data_parallel_size: int
    decode_context_parallel_size: int
    max_model_len: int
    auto_fit_max_model_len: bool
    dtype: str
    kv_cache_dtype: str
    kv_cache_dtype_skip_layers: tuple[str, ...]
    max_num_batched_tokens: int
    max_num_seqs: int
    async_scheduling: bool
    max_concurrent_batches: int
    max_in_flight_tokens: int
    decode_set_aside_percent: float
    enable_prefix_caching: bool
    disable_hybrid_kv_cache_manager: bool
    mamba_cache_mode: str
    mamba_cache_dtype: str
    mamba_ssm_cache_dtype: str
    mamba_chunk_size: int
    num_speculative_tokens: int
    block_size: int | None
    attention_backend: str | None
    inputs: Mapping[str, Input] = field(repr=False)


def resolve_settings(request: Request, config: ModelConfig | None, traits: Traits, profile: Profile) -> EngineSettings:
    """Fills in vLLM's defaults.

    Args:
        request: The question.
        config: The checkpoint; None for a layout given by hand, which then needs ``max_model_len``.
        traits: What the architecture means to the engine.
        profile: The engine version's switches.

    Raises:
        InputError: The GPU is unknown.
        EngineRefusal: The engine refuses a value, for example a context longer than the model's.
    """
    inputs: dict[str, Input] = {}

    def put(name: str, value: object, origin: str, note: str) -> None:
        inputs[name] = Input(value=value, origin=origin, note=note)

    def take(name: str, default: object, note: str) -> Any:
        value = getattr(request, name)
        if name in request.given and value is not None:
            put(name, value, "given", "")
            return value
        put(name, default, "default", note)
        return default

    gpu = _resolve_gpu(request)
    put("gpu", gpu.name, "given" if request.gpu else "default", "" if request.gpu else "sets the engine's defaults")
    tp = take("tensor_parallel_size", 1, "vLLM default")
    pp = take("pipeline_parallel_size", 1, "vLLM default")
    dp = take("data_parallel_size", 1, "vLLM default")
    dcp = take("decode_context_parallel_size", 1, "vLLM default")

    dtype = _resolve_dtype(request, config, traits)
    put("dtype", dtype, *_origin(request, "dtype", "the checkpoint's dtype"))
    kv_cache_dtype = _resolve_kv_cache_dtype(request, config, dtype)
    if kv_cache_dtype == "auto" and gpu.capability[0] == 10:
        kv_cache_dtype = traits.blackwell_kv_cache_dtype
    put("kv_cache_dtype", kv_cache_dtype, *_origin(request, "kv_cache_dtype", "as the checkpoint declares, else the model dtype"))

    max_model_len = _resolve_max_model_len(request, config, traits)
    auto_fit = request.max_model_len == -1
    if auto_fit and not profile.auto_fit:
        rule = f"vLLM {profile.version} does not fit the length to the memory; releases from 0.14 on do"
        raise refusal("max_model_len", -1, rule, "Give a length.")
    note = "the longest that fits, at most the model's limit" if auto_fit else "the model's limit"
    put("max_model_len", max_model_len, "derived" if auto_fit else _origin(request, "max_model_len", "")[0], note if auto_fit or request.max_model_len is None else "")

    usage_context = take("usage_context", "server", "vllm serve")
    batch, batch_note = default_max_num_batched_tokens(gpu, usage_context, profile)
    if not traits.chunked_prefill and max_model_len > batch:
        batch, batch_note = max_model_len, "raised to max_model_len: chunked prefill is off"
    max_num_batched_tokens = take("max_num_batched_tokens", batch, batch_note)
    if not traits.chunked_prefill and max_num_batched_tokens < max_model_len:
        raise refusal(
            "max_num_batched_tokens",
            max_num_batched_tokens,
            f"vLLM refuses fewer batched tokens than max_model_len ({max_model_len:,}) where chunked prefill is off",
            f"Set max_num_batched_tokens to at least {max_model_len:,}.",
        )
    seqs = min(1024 if _is_large(gpu) else 256, max_num_batched_tokens)
    max_num_seqs = take("max_num_seqs", seqs, "by GPU memory, at most max_num_batched_tokens")
    if "max_num_batched_tokens" not in request.given and traits.chunked_prefill:
        capped = min(max_num_batched_tokens, max_num_seqs * max_model_len)
        if capped != max_num_batched_tokens:
            max_num_batched_tokens = capped
            put("max_num_batched_tokens", capped, "default", "capped at max_num_seqs × max_model_len")

    by_default = traits.prefix_caching and (profile.hybrid_prefix_caching or not traits.keeps_state)
    caching_note = "on where the architecture supports it" if by_default or not traits.prefix_caching else NO_HYBRID_REUSE
    prefix_caching = take("enable_prefix_caching", by_default, caching_note)
    prefix_caching = bool(prefix_caching and (traits.prefix_caching or traits.attention_free))
    prefix_caching = prefix_caching and (not traits.keeps_state or can_reuse_states(traits, profile))
    put("enable_prefix_caching", prefix_caching, inputs["enable_prefix_caching"].origin, inputs["enable_prefix_caching"].note)
    states = resolve_state_settings(request, config, traits, profile, dtype=dtype, enable_prefix_caching=prefix_caching)
    inputs.update(states.inputs)

    older_runner = request.speculative_config is not None and request.speculative_config.method in OLDER_RUNNER_METHODS
    reused_states = states.mamba_cache_mode != "none" and not profile.async_with_state_reuse
    async_scheduling = take(
        "async_scheduling",
        profile.async_scheduling and not traits.pooling and not older_runner and not reused_states,
        "on, except for pooling models and suffix drafts" if profile.async_scheduling else "off in this release",
    )
    if async_scheduling and older_runner:
        rule = "vLLM runs this speculative method on its older model runner, which cannot schedule ahead with it"
        raise refusal("async_scheduling", async_scheduling, rule, "Leave async_scheduling out.")
    if async_scheduling and reused_states:
        rule = f"vLLM {profile.version} does not schedule ahead where states are kept for reuse"
        raise refusal("async_scheduling", async_scheduling, rule, "Leave it out, or set enable_prefix_caching to false.")
    running = concurrent_batches(pp, async_scheduling=async_scheduling, config=config, traits=traits, profile=profile)
    batches = in_flight_batches(running, profile)
    in_flight_note = f"{batches} batches in flight × max_num_batched_tokens"
    max_in_flight_tokens = take("max_in_flight_tokens", batches * max_num_batched_tokens, in_flight_note)

    speculative = request.speculative_config
    if speculative is not None:
        put("speculative_config", {"method": speculative.method, "num_speculative_tokens": speculative.num_speculative_tokens}, "given", "")
    return EngineSettings(
        profile=profile,
        engine_version=request.engine_version,
        gpu=gpu,
        tensor_parallel_size=tp,
        pipeline_parallel_size=pp,
        data_parallel_size=dp,
        decode_context_parallel_size=dcp,
        max_model_len=max_model_len,
        auto_fit_max_model_len=auto_fit,
        dtype=dtype,
        kv_cache_dtype=kv_cache_dtype,
        kv_cache_dtype_skip_layers=request.kv_cache_dtype_skip_layers or (),
        max_num_batched_tokens=max_num_batched_tokens,
        max_num_seqs=max_num_seqs,
        async_scheduling=async_scheduling,
        max_concurrent_batches=batches,
        max_in_flight_tokens=max_in_flight_tokens,
        decode_set_aside_percent=take("decode_set_aside_percent", 0.0, "no prefill/decode split"),
        enable_prefix_caching=prefix_caching,
        disable_hybrid_kv_cache_manager=take("disable_hybrid_kv_cache_manager", False, "vLLM default"),
        mamba_chunk_size=states.mamba_chunk_size,
        mamba_cache_mode=states.mamba_cache_mode,
        mamba_cache_dtype=states.mamba_cache_dtype,
        mamba_ssm_cache_dtype=states.mamba_ssm_cache_dtype,
        num_speculative_tokens=speculative.num_speculative_tokens if speculative else 0,
        block_size=request.block_size,
        attention_backend=request.attention_backend,
        inputs=inputs,
    )


def default_max_num_batched_tokens(gpu: Gpu, usage_context: str, profile: Profile) -> tuple[int, str]:
    """Batch default by GPU memory and entry point (vLLM 0.33.0 `EngineArgs.get_batch_defaults`), and its reason."""
    memory = gpu.usable_bytes or 0
    if profile.very_large_gpu_batch and memory >= _VERY_LARGE_GPU_BYTES:
        return 16_384, "default for GPUs of at least 160 GiB"
    if _is_large(gpu):
        return (16_384 if usage_context == "llm" else 8_192), "default for GPUs of at least 70 GiB other than A100"
    return (8_192 if usage_context == "llm" else 2_048), "default for GPUs under 70 GiB and A100"


def _is_large(gpu: Gpu) -> bool:
    is_excluded = "a100" in gpu.name.lower() or gpu.name == "GB10"
    return (gpu.usable_bytes or 0) >= _LARGE_GPU_BYTES and not is_excluded


def _resolve_gpu(request: Request) -> Gpu:
    if request.gpu_memory_gib is not None and request.gpu is None:
        return Gpu(name="typed", usable_bytes=int(request.gpu_memory_gib * GIB), compute_capability="9.0", note="typed by hand")
    return find_gpu(request.gpu or DEFAULT_GPU)


def _origin(request: Request, name: str, note: str) -> tuple[str, str]:
    return ("given", "") if name in request.given else ("default", note)


def _resolve_dtype(request: Request, config: ModelConfig | None, traits: Traits) -> str:
    if request.dtype is None or request.dtype == "auto":
        return auto_dtype(config, pooling=traits.pooling) if config is not None else "bfloat16"
    dtype = canonical(request.dtype)
    if dtype == "float16" and config is not None and config.model_type in NO_FLOAT16_MODEL_TYPES:
        rule = f"vLLM does not run model type {config.model_type} in float16"
        raise refusal("dtype", request.dtype, rule, "Use bfloat16.")
    return dtype


def _resolve_kv_cache_dtype(request: Request, config: ModelConfig | None, dtype: str) -> str:
    given = canonical(request.kv_cache_dtype) if request.kv_cache_dtype else "auto"
    if given == "auto" and config is not None:
        return declared_kv_cache_dtype(config) or "auto"
    if given in {"bfloat16", "float16"} and given != dtype:
        rule = f"vLLM stores an unquantized cache in the model dtype only, which is {dtype}"
        raise refusal("kv_cache_dtype", request.kv_cache_dtype, rule, f"Use auto, {dtype} or a quantized cache dtype.")
    return given


def _resolve_max_model_len(request: Request, config: ModelConfig | None, traits: Traits) -> int:
    if config is None:
        if request.max_model_len is None or request.max_model_len == -1:
            raise refusal("max_model_len", request.max_model_len, "a layout given by hand states no context limit", "Give max_model_len.")
        return request.max_model_len
    limit = derived_max_model_len(config)
    if request.max_model_len is None:
        return limit.default
    if request.max_model_len == -1:
        if traits.attention_free:
            raise refusal("max_model_len", -1, "vLLM does not fit the length of models without attention", "Give a length.")
        if limit.maximum is None:
            raise refusal("max_model_len", -1, "vLLM fits no length where the config names no limit", "Give a length.")
        return limit.default
    if limit.maximum is not None and request.max_model_len > limit.maximum:
        raise refusal(
            "max_model_len",
            request.max_model_len,
            f"vLLM refuses a context longer than the model's {limit.maximum:,} tokens ({limit.key})",
            f"Use at most {limit.maximum:,} tokens.",
        )
    return request.max_model_len
