"""Switches: what each field of a profile decides, in words, and which symbol of the engine it was read from.

The order is that in which an upgrade applies them: what is stored, how it is paged, what is charged, what is printed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from kvcore.engines.vllm.profile import Profile


@dataclass(frozen=True, kw_only=True)
class Switch:
    """One field of :class:`Profile`.

    Attributes:
        field: Its name.
        label: What it decides.
        symbol: Class, function or module of vLLM the values were read from.
    """

    field: str
    label: str
    symbol: str

    def value_of(self, profile: Profile) -> object:
        """The profile's value."""
        value: object = getattr(profile, self.field)
        return value

    def words(self, profile: Profile) -> str:
        """The profile's value in words."""
        value = self.value_of(profile)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, frozenset):
            return ", ".join(sorted(str(item).replace("_", " ") for item in value)) or "none"
        if isinstance(value, Fraction):
            return f"{float(value):g}"
        return VALUE_WORDS.get(str(value), str(value).replace("_", " "))


VALUE_WORDS: Mapping[str, str] = {
    "pool_blocks": "blocks of the pool, divided by the groups, times the smallest block",
    "concurrency": "maximum concurrency × max_model_len",
    "per_layer": "every layer by itself, before grouping",
    "first_group_of_model": "the first group only, of all stages, against the least memory of any",
    "first_group": "the first group only, on each worker",
    "all_groups": "all groups, on each worker",
    "refused": "are refused",
    "multiplied": "get larger blocks where the largest page is a multiple, else are refused",
    "padded": "get larger blocks where the largest page is a multiple, else padding",
    "never": "not kept",
    "mamba_all": "one for every block, by Mamba classes; other classes switch prefix caching off",
    "all_or_align": "one for every block by Mamba classes, the last ones by others",
    "align_or_all": "the last ones; one for every block on request",
    "align": "the last ones",
    "shared": "that of all layers",
    "smallest": "the smallest its kernels take",
    "largest": "the largest whose page fits a full-attention page",
    "kernel_16": "16",
    "kernel_of_kind": "16, or 64 for latents, named in the config's rule",
    "first_backend": "the kernel block of the first attention backend",
    "first_backend_latent_128": "the kernel block of the first attention backend, at least 128 for latents",
    "model": "that of the model, whatever the config declares",
    "dense_decoders": "decoders without experts, and some with",
    "supported": "every model whose features it supports",
}
"""Values whose names do not say enough."""

SWITCHES: tuple[Switch, ...] = (
    Switch(field="only_full_attention", label="Only models that keep every token are answered for", symbol="kvcore"),
    Switch(field="gpu_memory_utilization", label="Default share of GPU memory", symbol="CacheConfig"),
    Switch(
        field="deducts_cuda_graphs",
        label="The memory of CUDA graphs is taken off the budget",
        symbol="VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS",
    ),
    Switch(
        field="very_large_gpu_batch",
        label="GPUs of at least 160 GiB have a batch default of their own",
        symbol="EngineArgs.get_batch_defaults",
    ),
    Switch(
        field="nemotron_h_state_dtype",
        label="Type of Nemotron-H's recurrent state where the config declares none",
        symbol="NemotronHForCausalLMConfig",
    ),
    Switch(
        field="forced_latent_block",
        label="The platform sets the block size of latents",
        symbol="CudaPlatformBase.check_and_update_config",
    ),
    Switch(
        field="flashinfer_latents",
        label="Latents run on FlashInfer on Blackwell",
        symbol="CudaPlatformBase.check_and_update_config",
    ),
    Switch(field="window_block", label="Block of window layers", symbol="Attention.get_kv_cache_spec"),
    Switch(field="state_reuse", label="States kept for reuse of prefixes", symbol="MambaModelConfig"),
    Switch(
        field="hybrid_prefix_caching",
        label="Prefix caching is on by default for models with states",
        symbol="ModelConfig.is_prefix_caching_supported",
    ),
    Switch(
        field="align_with_drafts",
        label="The last states can be kept together with speculative decoding",
        symbol="MambaModelConfig",
    ),
    Switch(
        field="hybrid_granularity",
        label="Multiple of tokens to which blocks of hybrids are raised",
        symbol="Platform._align_hybrid_block_size",
    ),
    Switch(
        field="every_backend_granularity",
        label="That multiple covers every attention backend",
        symbol="Platform._align_hybrid_block_size",
    ),
    Switch(
        field="checkpoint_grain",
        label="That multiple covers the tokens between states a prefill exports",
        symbol="Platform._align_hybrid_block_size",
    ),
    Switch(
        field="checkpointing_states",
        label="States charged one more for what their prefill exports",
        symbol="MambaSpec.num_prefill_checkpoint_blocks",
    ),
    Switch(
        field="charged_draft_states",
        label="Modes of states that are charged one per speculative token",
        symbol="MambaSpec.max_memory_usage_bytes",
    ),
    Switch(
        field="chunked_hybrid_manager",
        label="Chunked local attention is paged by itself",
        symbol="VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE",
    ),
    Switch(
        field="block_outermost",
        label="Layers of different pages share a block where blocks lie outermost",
        symbol="_get_packed_kv_cache_groups",
    ),
    Switch(field="unequal_pages", label="Layers whose pages differ", symbol="unify_kv_cache_spec_page_size"),
    Switch(
        field="group_size_ratio",
        label="Ratio of layer counts below which groups are as large as the larger",
        symbol="_get_kv_cache_groups_uniform_page_size",
    ),
    Switch(field="async_scheduling", label="Scheduling ahead by default", symbol="SchedulerConfig.async_scheduling"),
    Switch(
        field="async_with_state_reuse",
        label="Scheduling ahead also where states are kept for reuse",
        symbol="VllmConfig.__post_init__",
    ),
    Switch(
        field="v2_runner",
        label="Models on the V2 model runner, which keeps one more batch in flight over stages",
        symbol="VllmConfig.use_v2_model_runner",
    ),
    Switch(
        field="in_flight_window",
        label="Windows and chunks keep the tokens of every batch in flight",
        symbol="SlidingWindowSpec.max_memory_usage_bytes",
    ),
    Switch(
        field="override_replaces_budget",
        label="num_gpu_blocks_override replaces the memory of the fit check",
        symbol="get_kv_cache_configs",
    ),
    Switch(field="fit_check", label="What the fit check charges", symbol="check_enough_kv_cache_memory"),
    Switch(field="null_block_in_fit_check", label="The fit check sets one block aside", symbol="get_kv_cache_configs"),
    Switch(field="auto_fit", label="max_model_len -1 fits the length to the memory", symbol="_auto_fit_max_model_len"),
    Switch(field="printed_tokens", label="GPU KV cache size, as printed", symbol="get_kv_cache_capacity"),
    Switch(
        field="log_lines", label="Lines on which tokens and concurrency are logged", symbol="update_kv_cache_capacity"
    ),
)
"""One row per field but ``version``."""
