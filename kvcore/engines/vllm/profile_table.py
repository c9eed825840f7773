"""The profiles of the vLLM releases that were read, oldest first; each states what changed since the one before.

What a field decides and where it was read stands in :mod:`kvcore.engines.vllm.switches`.
"""

from dataclasses import replace
from fractions import Fraction

from kvcore.engines.vllm.profile import ALIGN, ALL, NONE, Profile

MODEL_DTYPE = "model"

V0_9_0 = Profile(
    version="0.9.0",
    only_full_attention=True,
    printed_tokens="pool_blocks",
    log_lines=2,
    in_flight_window=False,
    group_size_ratio=Fraction(1),
    unequal_pages="refused",
    fit_check="per_layer",
    null_block_in_fit_check=False,
    override_replaces_budget=False,
    auto_fit=False,
    state_reuse="never",
    align_with_drafts=False,
    charged_draft_states=frozenset(),
    checkpointing_states=frozenset(),
    checkpoint_grain=False,
    hybrid_prefix_caching=False,
    chunked_hybrid_manager=False,
    nemotron_h_state_dtype=MODEL_DTYPE,
    hybrid_granularity="kernel_16",
    every_backend_granularity=False,
    forced_latent_block=True,
    flashinfer_latents=False,
    window_block="shared",
    block_outermost=False,
    gpu_memory_utilization=Fraction(9, 10),
    deducts_cuda_graphs=False,
    very_large_gpu_batch=False,
    async_scheduling=False,
    async_with_state_reuse=True,
    v2_runner="none",
)
V0_10_0 = replace(V0_9_0, version="0.10.0", only_full_attention=False)
V0_10_2 = replace(V0_10_0, version="0.10.2")
V0_11_0 = replace(V0_10_2, version="0.11.0")
V0_11_1 = replace(V0_11_0, version="0.11.1", state_reuse="mamba_all", hybrid_granularity="kernel_of_kind")
V0_12_0 = replace(V0_11_1, version="0.12.0", group_size_ratio=Fraction(5, 4), unequal_pages="multiplied")
V0_13_0 = replace(V0_12_0, version="0.13.0", nemotron_h_state_dtype="float16")
V0_14_0 = replace(
    V0_13_0,
    version="0.14.0",
    fit_check="first_group_of_model",
    auto_fit=True,
    chunked_hybrid_manager=True,
    async_scheduling=True,
)
V0_15_0 = replace(
    V0_14_0,
    version="0.15.0",
    state_reuse="all_or_align",
    charged_draft_states=frozenset({NONE, ALIGN}),
    flashinfer_latents=True,
)
V0_16_0 = replace(V0_15_0, version="0.16.0", async_with_state_reuse=False)
V0_17_0 = replace(
    V0_16_0, version="0.17.0", fit_check="first_group", align_with_drafts=True, async_with_state_reuse=True
)
V0_18_0 = replace(V0_17_0, version="0.18.0", group_size_ratio=Fraction(3, 2), forced_latent_block=False)
V0_19_0 = replace(V0_18_0, version="0.19.0", fit_check="all_groups")
V0_20_0 = replace(
    V0_19_0,
    version="0.20.0",
    nemotron_h_state_dtype="float32",
    hybrid_granularity="first_backend",
    gpu_memory_utilization=Fraction(92, 100),
    deducts_cuda_graphs=True,
)
V0_20_1 = replace(V0_20_0, version="0.20.1", printed_tokens="concurrency", override_replaces_budget=True)
V0_21_0 = replace(V0_20_1, version="0.21.0")
V0_22_0 = replace(V0_21_0, version="0.22.0", charged_draft_states=frozenset({NONE, ALIGN, ALL}))
V0_23_0 = replace(V0_22_0, version="0.23.0")
V0_24_0 = replace(V0_23_0, version="0.24.0", unequal_pages="padded")
V0_25_0 = replace(V0_24_0, version="0.25.0", window_block="smallest", v2_runner="dense_decoders")
V0_26_0 = replace(V0_25_0, version="0.26.0", in_flight_window=True, hybrid_prefix_caching=True)
V0_27_0 = replace(V0_26_0, version="0.27.0", hybrid_granularity="first_backend_latent_128")
V0_28_0 = replace(V0_27_0, version="0.28.0", log_lines=1, state_reuse="align_or_all", very_large_gpu_batch=True)
V0_29_0 = replace(
    V0_28_0,
    version="0.29.0",
    null_block_in_fit_check=True,
    checkpointing_states=frozenset({"kimi_delta"}),
    block_outermost=True,
    v2_runner="supported",
)
V0_30_0 = replace(V0_29_0, version="0.30.0", window_block="largest")
V0_31_0 = replace(V0_30_0, version="0.31.0")
V0_32_0 = replace(
    V0_31_0,
    version="0.32.0",
    state_reuse="align",
    checkpointing_states=frozenset({"kimi_delta", "mamba2"}),
    every_backend_granularity=True,
)
V0_33_0 = replace(
    V0_32_0,
    version="0.33.0",
    checkpointing_states=frozenset({"kimi_delta", "mamba2", "gated_delta_net"}),
    checkpoint_grain=True,
)

PROFILES: tuple[Profile, ...] = (
    V0_9_0, V0_10_0, V0_10_2, V0_11_0, V0_11_1, V0_12_0, V0_13_0, V0_14_0, V0_15_0, V0_16_0, V0_17_0, V0_18_0, V0_19_0, V0_20_0,
    V0_20_1, V0_21_0, V0_22_0, V0_23_0, V0_24_0, V0_25_0, V0_26_0, V0_27_0, V0_28_0, V0_29_0, V0_30_0, V0_31_0, V0_32_0,
    V0_33_0,
)  # fmt: skip
"""Known profiles, oldest first. A release between two of them is planned by the older one."""
