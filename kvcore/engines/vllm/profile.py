"""Version profiles: what differs between vLLM releases, as data.

Every field of :class:`Profile` is one switch; :mod:`kvcore.engines.vllm.switches` says in words what each decides and which
symbol of the engine it was read from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

NONE, ALIGN, ALL = "none", "align", "all"
"""Modes of keeping states: not for reuse, at the end of the prompt's last block, at the end of every block."""

PrintedTokens = Literal["pool_blocks", "concurrency"]
FitCheck = Literal["per_layer", "first_group_of_model", "first_group", "all_groups"]
UnequalPages = Literal["refused", "multiplied", "padded"]
StateReuse = Literal["never", "mamba_all", "all_or_align", "align_or_all", "align"]
WindowBlock = Literal["shared", "smallest", "largest"]
HybridGranularity = Literal["kernel_16", "kernel_of_kind", "first_backend", "first_backend_latent_128"]
V2Runner = Literal["none", "dense_decoders", "supported"]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The switches of one vLLM release.

    Attributes:
        version: First release the profile answers for.
        only_full_attention: The release's code was not read; its figures are known for models that keep every token.
        printed_tokens: Whether "GPU KV cache size" counts the pool's blocks per group, or concurrency times length.
        log_lines: Lines on which tokens and concurrency are logged.
        in_flight_window: Windows and chunks keep the tokens of every batch in flight; before, those of one batch.
        group_size_ratio: Buckets whose counts differ by less than this ratio form groups of the larger count.
        unequal_pages: What becomes of layers whose pages differ.
        fit_check: What the start-up check charges one request.
        null_block_in_fit_check: The fit check sets one block aside.
        override_replaces_budget: ``num_gpu_blocks_override`` also replaces the memory the fit check compares with.
        auto_fit: The engine fits the length where ``max_model_len`` is -1.
        state_reuse: Which modes of keeping states for reuse a release has, and which it takes by default.
        align_with_drafts: Mode ``align`` may be combined with speculative decoding.
        charged_draft_states: Modes of states whose charge includes one state per speculative token.
        checkpointing_states: Mechanisms whose prefill exports an intermediate state that is charged.
        checkpoint_grain: Blocks of hybrids are multiples of the tokens between exported states.
        hybrid_prefix_caching: Prefix caching is on by default for models with states beside attention.
        chunked_hybrid_manager: Chunked local attention is paged by itself; before, it is charged as full attention.
        nemotron_h_state_dtype: Type of Nemotron-H's recurrent state where the config declares none; ``model``: the model
            dtype, whatever the config declares.
        hybrid_granularity: Multiple of tokens to which the block size of hybrids is raised.
        every_backend_granularity: That multiple covers every attention backend, not only the first.
        forced_latent_block: The platform sets the block size of latents whatever backend runs.
        flashinfer_latents: On Blackwell, latents run on FlashInfer where it takes them, else on CUTLASS.
        window_block: Block of window layers: everyone's, the smallest one their kernels take, or the largest one whose page
            fits a full-attention page.
        block_outermost: Layers of different pages may share a block where the backend lays blocks outermost.
        gpu_memory_utilization: Default share of GPU memory.
        deducts_cuda_graphs: The budget is estimated without the memory of CUDA graphs.
        very_large_gpu_batch: GPUs of at least 160 GiB have a batch default of their own.
        async_scheduling: The engine schedules ahead by default.
        async_with_state_reuse: It also does where states are kept for reuse.
        v2_runner: Models that run on the V2 model runner, which keeps one more batch in flight over pipeline stages.
    """

    version: str
    only_full_attention: bool
    printed_tokens: PrintedTokens
    log_lines: int
    in_flight_window: bool
    group_size_ratio: Fraction
    unequal_pages: UnequalPages
    fit_check: FitCheck
    null_block_in_fit_check: bool
    override_replaces_budget: bool
    auto_fit: bool
    state_reuse: StateReuse
    align_with_drafts: bool
    charged_draft_states: frozenset[str]
    checkpointing_states: frozenset[str]
    checkpoint_grain: bool
    hybrid_prefix_caching: bool
    chunked_hybrid_manager: bool
    nemotron_h_state_dtype: str
    hybrid_granularity: HybridGranularity
    every_backend_granularity: bool
    forced_latent_block: bool
    flashinfer_latents: bool
    window_block: WindowBlock
    block_outermost: bool
    gpu_memory_utilization: Fraction
    deducts_cuda_graphs: bool
    very_large_gpu_batch: bool
    async_scheduling: bool
    async_with_state_reuse: bool
    v2_runner: V2Runner

    def __hash__(self) -> int:
        """The version tells nearly all profiles apart."""
        return hash(self.version)

    def group_size(self, counts: Sequence[int]) -> int:
        """Layers per cache group for buckets of these sizes."""
        smallest, largest = min(counts), max(counts)
        return largest if largest < self.group_size_ratio * smallest else smallest
