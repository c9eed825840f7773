"""Paging settings: what of the engine's settings decides how a layout is paged, and nothing else.

Budgets, batches and, as a rule, lengths are not among them: deployments that differ in those alone page alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kvcore.catalog.gpus import Gpu
from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.layout.layout import Layout


@dataclass(frozen=True, kw_only=True)
class PagingSettings:
    """What of the engine's settings decides the paging: all that paging may read.

    Attributes:
        profile: The engine version's switches.
        capability: Compute capability of the GPU, which picks the kernels: cards that share it page alike.
        gpu: The GPU, for what a refusal says; refusals are never kept.
        tensor_parallel_size: Ranks that split each layer.
        pipeline_parallel_size: Pipeline stages.
        pipeline_layer_partition: Layers per stage, instead of the engine's split.
        decode_context_parallel_size: Ranks that share a request's tokens.
        dtype: Model dtype.
        kv_cache_dtype: Resolved cache dtype.
        kv_cache_dtype_skip_layers: Layers that keep the model dtype.
        block_size: Tokens per block asked for; None: the engine's choice.
        attention_backend: Backend asked for; None: the engine's choice.
        num_speculative_tokens: Tokens a drafter proposes per step.
        mamba_cache_mode: ``none``, ``align`` or ``all``.
        mamba_cache_dtype: Dtype of convolution states.
        mamba_ssm_cache_dtype: Dtype of recurrent states.
        mamba_chunk_size: Tokens a state kernel works through at a time.
        state_tokens: Tokens one state stands for where none is kept for reuse, which is the context length; 0 elsewhere.
        enable_prefix_caching: Whether finished blocks are kept for reuse.
        disable_hybrid_kv_cache_manager: Window layers are charged as full attention.
        keeps_hybrid_manager: The hybrid manager was asked for by name, where a release turns it off by itself.
    """

    profile: Profile
    capability: tuple[int, int]
    gpu: Gpu = field(compare=False)
    tensor_parallel_size: int
    pipeline_parallel_size: int
    pipeline_layer_partition: tuple[int, ...] | None
    decode_context_parallel_size: int
    dtype: str
    kv_cache_dtype: str
    kv_cache_dtype_skip_layers: tuple[str, ...]
    block_size: int | None
    attention_backend: str | None
    num_speculative_tokens: int
    mamba_cache_mode: str
    mamba_cache_dtype: str
    mamba_ssm_cache_dtype: str
    mamba_chunk_size: int
    state_tokens: int
    enable_prefix_caching: bool
    disable_hybrid_kv_cache_manager: bool
    keeps_hybrid_manager: bool


def paging_settings(
    settings: EngineSettings, layout: Layout, pipeline_layer_partition: Sequence[int] | None = None
) -> PagingSettings:
    """Takes from the engine's settings what decides the paging of a layout."""
    has_states = any(part.cache.growth == "per_request" for part in layout.parts)
    return PagingSettings(
        profile=settings.profile,
        capability=settings.gpu.capability,
        gpu=settings.gpu,
        tensor_parallel_size=settings.tensor_parallel_size,
        pipeline_parallel_size=settings.pipeline_parallel_size,
        pipeline_layer_partition=None if pipeline_layer_partition is None else tuple(pipeline_layer_partition),
        decode_context_parallel_size=settings.decode_context_parallel_size,
        dtype=settings.dtype,
        kv_cache_dtype=settings.kv_cache_dtype,
        kv_cache_dtype_skip_layers=settings.kv_cache_dtype_skip_layers,
        block_size=settings.block_size,
        attention_backend=settings.attention_backend,
        num_speculative_tokens=settings.num_speculative_tokens,
        mamba_cache_mode=settings.mamba_cache_mode,
        mamba_cache_dtype=settings.mamba_cache_dtype,
        mamba_ssm_cache_dtype=settings.mamba_ssm_cache_dtype,
        mamba_chunk_size=settings.mamba_chunk_size,
        state_tokens=settings.max_model_len if has_states and settings.mamba_cache_mode == "none" else 0,
        enable_prefix_caching=settings.enable_prefix_caching,
        disable_hybrid_kv_cache_manager=settings.disable_hybrid_kv_cache_manager,
        keeps_hybrid_manager=settings.inputs["disable_hybrid_kv_cache_manager"].origin == "given",
    )
