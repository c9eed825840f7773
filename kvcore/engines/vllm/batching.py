"""Batching: how much the engine schedules at once, and whether it does so ahead of time."""

from dataclasses import dataclass

from kvcore.arithmetic import GIB
from kvcore.catalog.gpus import Gpu
from kvcore.engines.recorder import InputRecorder
from kvcore.engines.vllm.profile import Profile
from kvcore.errors import refusal
from kvcore.layout.traits import Traits

OLDER_RUNNER_METHODS = frozenset({"suffix", "custom_class"})
"""Speculative methods only the V1 model runner has (vLLM 0.33.0 `_get_v2_model_runner_unsupported_features`)."""

_LARGE_GPU_BYTES = 70 * GIB
_VERY_LARGE_GPU_BYTES = 160 * GIB

VERY_LARGE_GPU_TOKENS = 16_384
LARGE_GPU_TOKENS = {"llm": 16_384, "server": 8_192}
SMALL_GPU_TOKENS = {"llm": 8_192, "server": 2_048}
"""Batched tokens by GPU memory and entry point (vLLM 0.33.0 `EngineArgs.get_batch_defaults`)."""

LARGE_GPU_SEQS, SMALL_GPU_SEQS = 1024, 256
"""Sequences of a step by GPU memory (vLLM 0.33.0 `EngineArgs.get_batch_defaults`)."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Tokens and requests of one step."""

    max_num_batched_tokens: int
    max_num_seqs: int


def resolve_batch(recorder: InputRecorder, gpu: Gpu, max_model_len: int, traits: Traits, profile: Profile) -> Batch:
    """The largest batch (vLLM 0.33.0 `EngineArgs._set_default_max_num_seqs_and_batched_tokens_args`).

    What is given or left to the defaults must hold (vLLM 0.33.0 `SchedulerConfig.verify_max_model_len`).

    Raises:
        EngineRefusal: A prompt that cannot be split does not fit in a batch, or one token of every request does not.
    """
    usage_context = recorder.take("usage_context", "server", "vllm serve")
    default, note = default_max_num_batched_tokens(gpu, usage_context, profile)
    if not traits.chunked_prefill and max_model_len > default:
        default, note = max_model_len, "raised to max_model_len: chunked prefill is off"
    if traits.largest_item_tokens > default:
        default, note = traits.largest_item_tokens, "raised to the longest video, which is never split"
    tokens: int = recorder.take("max_num_batched_tokens", default, note)
    if not traits.chunked_prefill and tokens < max_model_len:
        raise refusal(
            "max_num_batched_tokens",
            tokens,
            f"vLLM refuses fewer batched tokens than max_model_len ({max_model_len:,}) where chunked prefill is off",
            f"Set max_num_batched_tokens to at least {max_model_len:,}.",
        )
    by_memory = min(LARGE_GPU_SEQS if _is_large(gpu) else SMALL_GPU_SEQS, tokens)
    seqs: int = recorder.take("max_num_seqs", by_memory, "by GPU memory, at most max_num_batched_tokens")
    capped = min(tokens, seqs * max_model_len)
    if "max_num_batched_tokens" not in recorder.request.given and capped != tokens:
        tokens = capped
        recorder.put("max_num_batched_tokens", capped, "default", "capped at max_num_seqs × max_model_len")
    if tokens < seqs:
        rule = f"vLLM refuses more requests in a step than its {tokens:,} batched tokens (max_num_batched_tokens)"
        raise refusal("max_num_seqs", seqs, rule, f"Use at most {tokens:,}, or raise max_num_batched_tokens.")
    return Batch(max_num_batched_tokens=tokens, max_num_seqs=seqs)


def default_max_num_batched_tokens(gpu: Gpu, usage_context: str, profile: Profile) -> tuple[int, str]:
    """Batch default by GPU memory and entry point (vLLM 0.33.0 `EngineArgs.get_batch_defaults`), and its reason."""
    memory = gpu.usable_bytes or 0
    if profile.very_large_gpu_batch and memory >= _VERY_LARGE_GPU_BYTES:
        return VERY_LARGE_GPU_TOKENS, "default for GPUs of at least 160 GiB"
    if _is_large(gpu):
        return LARGE_GPU_TOKENS[usage_context], "default for GPUs of at least 70 GiB other than A100"
    return SMALL_GPU_TOKENS[usage_context], "default for GPUs under 70 GiB and A100"


def _is_large(gpu: Gpu) -> bool:
    is_excluded = "a100" in gpu.name.lower() or gpu.name == "GB10"
    return (gpu.usable_bytes or 0) >= _LARGE_GPU_BYTES and not is_excluded


def resolve_async_scheduling(recorder: InputRecorder, mamba_cache_mode: str, traits: Traits, profile: Profile) -> bool:
    """Whether the engine schedules a step while the last one runs (vLLM 0.33.0 `VllmConfig.__post_init__`).

    Raises:
        EngineRefusal: It is asked for where the engine cannot.
    """
    speculative = recorder.request.speculative_config
    older_runner = speculative is not None and speculative.method in OLDER_RUNNER_METHODS
    reused_states = mamba_cache_mode != "none" and not profile.async_with_state_reuse
    scheduled: bool = recorder.take(
        "async_scheduling",
        profile.async_scheduling and not traits.pooling and not older_runner and not reused_states,
        "on, except for pooling models and suffix drafts" if profile.async_scheduling else "off in this release",
    )
    if scheduled and older_runner:
        rule = "vLLM runs this speculative method on its older model runner, which cannot schedule ahead with it"
        raise refusal("async_scheduling", scheduled, rule, "Leave async_scheduling out.")
    if scheduled and reused_states:
        rule = f"vLLM {profile.version} does not schedule ahead where states are kept for reuse"
        raise refusal("async_scheduling", scheduled, rule, "Leave it out, or set enable_prefix_caching to false.")
    return scheduled
