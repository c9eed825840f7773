"""Settings: every engine flag after vLLM's defaults, and where each value came from."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from kvcore.arithmetic import GIB
from kvcore.catalog.gpus import BLACKWELL, Gpu, find_gpu
from kvcore.config import ModelConfig
from kvcore.dtypes import canonical
from kvcore.engines.recorder import InputRecorder
from kvcore.engines.vllm.batching import resolve_async_scheduling, resolve_batch
from kvcore.engines.vllm.checkpoint import (
    NO_FLOAT16_MODEL_TYPES,
    auto_dtype,
    declared_kv_cache_dtype,
    derived_max_model_len,
)
from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.profiles import parse_release
from kvcore.engines.vllm.scheduling import concurrent_batches, in_flight_batches
from kvcore.engines.vllm.state_settings import can_reuse_states, resolve_state_settings
from kvcore.errors import refusal
from kvcore.layout.traits import Traits
from kvcore.report.report import Input
from kvcore.request import Request

DEFAULT_GPU = "H100"

DEEPSEEK_V32 = "DeepseekV32ForCausalLM"
"""Takes bfloat16 for auto before dtypes are compared (vLLM 0.33.0 `DeepseekV32ForCausalLM.verify_and_update_config`)."""

FITTED_LENGTH = "the longest that fits, at most the model's limit"
ONLY_WARNS_FROM = (0, 33, 0)
"""Oldest release read that keeps prefix caching on where it is asked for, whatever the architecture."""

NO_HYBRID_REUSE = "off in this release for models with states beside attention"


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
    recorder = InputRecorder(request)
    put, take = recorder.put, recorder.take

    gpu = _resolve_gpu(request)
    put("gpu", gpu.name, "given" if request.gpu else "default", "" if request.gpu else "sets the engine's defaults")
    tp = take("tensor_parallel_size", 1, "vLLM default")
    pp = take("pipeline_parallel_size", 1, "vLLM default")
    dp = take("data_parallel_size", 1, "vLLM default")
    dcp = take("decode_context_parallel_size", 1, "vLLM default")

    dtype = _resolve_dtype(request, config, traits)
    put("dtype", dtype, *_origin(request, "dtype", "the checkpoint's dtype"))
    kv_cache_dtype = _resolve_kv_cache_dtype(request, config, dtype)
    if kv_cache_dtype == "auto" and gpu.capability[0] == BLACKWELL:
        kv_cache_dtype = traits.blackwell_kv_cache_dtype
    dtype_note = "as the checkpoint declares, else the model dtype"
    put("kv_cache_dtype", kv_cache_dtype, *_origin(request, "kv_cache_dtype", dtype_note))

    max_model_len = _resolve_max_model_len(request, config, traits)
    auto_fit = request.max_model_len == -1
    if auto_fit and not profile.auto_fit:
        rule = f"vLLM {profile.version} does not fit the length to the memory; releases from 0.14 on do"
        raise refusal("max_model_len", -1, rule, "Give a length.")
    origin, note = ("derived", FITTED_LENGTH) if auto_fit else _origin(request, "max_model_len", "the model's limit")
    put("max_model_len", max_model_len, origin, note)

    batch = resolve_batch(recorder, gpu, max_model_len, traits, profile)
    prefix_caching = _resolve_prefix_caching(recorder, traits, profile)
    states = resolve_state_settings(request, config, traits, profile, dtype=dtype, enable_prefix_caching=prefix_caching)
    recorder.inputs.update(states.inputs)

    async_scheduling = resolve_async_scheduling(recorder, states.mamba_cache_mode, traits, profile)
    running = concurrent_batches(pp, async_scheduling=async_scheduling, config=config, traits=traits, profile=profile)
    batches = in_flight_batches(running, profile)
    in_flight_note = f"{batches} batches in flight × max_num_batched_tokens"
    max_in_flight_tokens = take("max_in_flight_tokens", batches * batch.max_num_batched_tokens, in_flight_note)

    speculative = request.speculative_config
    if speculative is not None:
        drafts = {"method": speculative.method, "num_speculative_tokens": speculative.num_speculative_tokens}
        put("speculative_config", drafts, "given", "")
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
        max_num_batched_tokens=batch.max_num_batched_tokens,
        max_num_seqs=batch.max_num_seqs,
        async_scheduling=async_scheduling,
        max_concurrent_batches=batches,
        max_in_flight_tokens=max_in_flight_tokens,
        decode_set_aside_percent=take("decode_set_aside_percent", 0.0, "no prefill/decode split"),
        enable_prefix_caching=prefix_caching,
        disable_hybrid_kv_cache_manager=take("disable_hybrid_kv_cache_manager", default=False, note="vLLM default"),
        mamba_chunk_size=states.mamba_chunk_size,
        mamba_cache_mode=states.mamba_cache_mode,
        mamba_cache_dtype=states.mamba_cache_dtype,
        mamba_ssm_cache_dtype=states.mamba_ssm_cache_dtype,
        num_speculative_tokens=speculative.num_speculative_tokens if speculative else 0,
        block_size=request.block_size,
        attention_backend=request.attention_backend,
        inputs=recorder.inputs,
    )


def _resolve_prefix_caching(recorder: InputRecorder, traits: Traits, profile: Profile) -> bool:
    """Whether finished blocks are kept for reuse: as asked, where the architecture and the release can.

    The newest release only warns where the architecture cannot, and plans as asked (vLLM 0.33.0
    `_set_default_chunked_prefill_and_prefix_caching_args`).
    """
    by_default = traits.prefix_caching and (profile.hybrid_prefix_caching or not traits.keeps_state)
    note = "on where the architecture supports it" if by_default or not traits.prefix_caching else NO_HYBRID_REUSE
    asked = bool(recorder.take("enable_prefix_caching", by_default, note))
    only_warns = parse_release(profile.version) >= ONLY_WARNS_FROM
    is_possible = only_warns or traits.prefix_caching or traits.attention_free
    resolved = asked and is_possible and (not traits.keeps_state or can_reuse_states(traits, profile))
    recorder.correct("enable_prefix_caching", resolved)
    return resolved


def _resolve_gpu(request: Request) -> Gpu:
    if request.gpu_memory_gib is not None and request.gpu is None:
        return Gpu(
            name="typed", usable_bytes=int(request.gpu_memory_gib * GIB), compute_capability="9.0", note="typed by hand"
        )
    gpu = find_gpu(request.gpu or DEFAULT_GPU)
    if request.gpu_memory_gib is not None:
        return dataclasses.replace(gpu, usable_bytes=int(request.gpu_memory_gib * GIB))
    return gpu


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
        if given == "bfloat16" and config is not None and config.architecture == DEEPSEEK_V32:
            return "auto"
        rule = f"vLLM stores an unquantized cache in the model dtype only, which is {dtype}"
        raise refusal("kv_cache_dtype", request.kv_cache_dtype, rule, f"Use auto, {dtype} or a quantized cache dtype.")
    return given


def _resolve_max_model_len(request: Request, config: ModelConfig | None, traits: Traits) -> int:
    if config is None:
        if request.max_model_len is None or request.max_model_len == -1:
            raise refusal(
                "max_model_len",
                request.max_model_len,
                "a layout given by hand states no context limit",
                "Give max_model_len.",
            )
        return request.max_model_len
    limit = derived_max_model_len(config)
    if request.max_model_len is None:
        return limit.default
    if request.max_model_len == -1:
        if traits.attention_free:
            raise refusal(
                "max_model_len", -1, "vLLM does not fit the length of models without attention", "Give a length."
            )
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
