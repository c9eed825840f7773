"""Scheduling: how many batches may be in flight at once, which decides what windows and chunks keep.

Source: vLLM 0.33.0 `VllmConfig.max_concurrent_batches`, `VllmConfig.max_in_flight_tokens`; vLLM 0.28.0
`VllmConfig.use_v2_model_runner`.
"""

from kvcore.config import ModelConfig
from kvcore.engines.vllm.profile import Profile
from kvcore.layout.traits import Traits

V2_MIXTURES = frozenset({
    "DeepseekV2ForCausalLM", "DeepseekV4ForCausalLM", "GraniteMoeForCausalLM", "InklingForCausalLM",
    "InklingForConditionalGeneration", "KimiK3ForConditionalGeneration", "LongcatFlashNgramForCausalLM",
    "Qwen2MoeForCausalLM",
})  # fmt: skip
"""Mixtures of experts that run on the V2 model runner (vLLM 0.28.0 `DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES`)."""

EXPERT_KEYS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
"""Keys that count experts (vLLM 0.28.0 `ModelArchConfigConvertor.get_num_experts`)."""


def concurrent_batches(
    pipeline_parallel_size: int, *, async_scheduling: bool, config: ModelConfig | None, traits: Traits, profile: Profile
) -> int:
    """Batches in flight: one per pipeline stage, and one more where the engine schedules ahead.

    The V1 model runner schedules ahead on a single stage only.
    """
    if not async_scheduling:
        return pipeline_parallel_size
    if pipeline_parallel_size == 1 or runs_on_v2(config, traits, profile):
        return pipeline_parallel_size + 1
    return pipeline_parallel_size


def in_flight_batches(batches: int, profile: Profile) -> int:
    """Batches whose tokens a window keeps: all of them, or in older releases the one that is scheduled."""
    return batches if profile.in_flight_window else 1


def runs_on_v2(config: ModelConfig | None, traits: Traits, profile: Profile) -> bool:
    """Whether the V2 model runner runs the model by default."""
    if profile.v2_runner != "dense_decoders":
        return profile.v2_runner == "supported"
    if config is None or traits.pooling or traits.keeps_state:
        return False
    is_mixture = any(config.get(key) for key in EXPERT_KEYS)
    return config.architecture in V2_MIXTURES or not is_mixture
