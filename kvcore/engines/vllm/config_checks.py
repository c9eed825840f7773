"""Checkpoints vLLM refuses for what their config says, before it plans anything."""

from collections.abc import Mapping

from kvcore.config import ModelConfig
from kvcore.engines.vllm.profiles import parse_release
from kvcore.errors import refusal

WHOLE_HEADS = frozenset({
    "arcee", "aria_text", "cwm", "deepseek_v2", "gemma2", "gemma3_text", "gemma3n_text", "gpt_neox", "hyperclovax", "jais2",
    "llama", "minicpm3", "muse_glimmer_text", "vaultgemma",
})  # fmt: skip
"""Model types whose config class checks that the heads divide the hidden size (`validate_architecture`)."""

WHOLE_HEADS_FROM = (0, 33, 0)
"""Oldest release known to be served with config classes that check themselves (Transformers 5.16)."""

BIASED_SHARED_EXPERTS = frozenset({
    "BailingMoeForCausalLM", "BailingMoeV2ForCausalLM", "BailingMoeV2_5ForCausalLM", "BailingMoeV3ForCausalLM",
})  # fmt: skip
"""Classes whose shared experts take the bias of ``use_bias`` and leave the sum over ranks to the caller (`BailingMLP`)."""

EXPERTS: Mapping[str, str] = {
    "cohere2_moe": "num_experts", "ernie4_5_moe": "moe_num_experts", "exaone_moe": "num_experts", "hy_v3": "num_experts",
    "k2_horizon": "num_experts", "laguna": "num_experts", "lfm2_moe": "num_experts", "mimo_v2": "n_routed_experts",
    "mimo_v2_flash": "n_routed_experts", "minimax_m2": "num_local_experts", "qwen2_moe": "num_experts",
    "qwen3_5_moe_text": "num_experts", "qwen3_moe": "num_experts", "qwen3_next": "num_experts",
    "qwen3_omni_moe_text": "num_experts", "qwen3_vl_moe_text": "num_experts", "step3p5": "moe_num_experts",
}  # fmt: skip
"""Where model types state their experts whose class refuses more ranks than experts (vLLM 0.33.0 `Qwen3MoeSparseMoeBlock`)."""


def check_config(config: ModelConfig, version: str, tensor_parallel_size: int, *, enable_expert_parallel: bool) -> None:
    """Raises for configs the engine's classes cannot be built from.

    Args:
        config: The checkpoint.
        version: Release whose rules are in force.
        tensor_parallel_size: Ranks that split each layer.
        enable_expert_parallel: Experts are dealt out whole.

    Raises:
        EngineRefusal: The first rule that refuses, with the field to change.
    """
    _check_dual_chunks(config)
    _check_whole_heads(config, version)
    _check_biased_shared_experts(config)
    _check_experts(config, tensor_parallel_size)
    if enable_expert_parallel:
        _check_has_experts(config)


def _check_dual_chunks(config: ModelConfig) -> None:
    """Dual chunk attention, which Qwen's checkpoints of a million tokens state, has no kernel left (vLLM 0.33.0)."""
    stated = config.get("dual_chunk_attention_config")
    if stated:
        rule = "no attention backend of vLLM 0.33.0 takes dual chunk attention"
        raise refusal(config.path("dual_chunk_attention_config"), stated, rule, "Take the key out of the config.")


def _check_whole_heads(config: ModelConfig, version: str) -> None:
    """Heads must divide the hidden size even where ``head_dim`` says otherwise (Transformers 5.20 `LlamaConfig`)."""
    if config.model_type not in WHOLE_HEADS or parse_release(version) < WHOLE_HEADS_FROM:
        return
    hidden, heads = config.optional_integer("hidden_size"), config.optional_integer("num_attention_heads")
    if hidden and heads and hidden % heads:
        rule = f"the config class of {config.model_type} wants a divisor of the hidden size ({hidden:,})"
        raise refusal(config.path("num_attention_heads"), heads, rule, f"Use a divisor of {hidden:,}.")


def _check_biased_shared_experts(config: ModelConfig) -> None:
    """A bias is not added before the sum over ranks (vLLM 0.33.0 `RowParallelLinear`)."""
    if config.architecture not in BIASED_SHARED_EXPERTS or not config.get("use_bias"):
        return
    if config.get("num_shared_experts"):
        rule = "vLLM adds no bias to shared experts, whose results it sums over the ranks later"
        raise refusal(config.path("use_bias"), "true", rule, "Set it to false.")


def _check_experts(config: ModelConfig, tensor_parallel_size: int) -> None:
    """More ranks than experts, also where expert parallelism leaves each expert whole."""
    key = EXPERTS.get(config.model_type)
    experts = config.get(key) if key is not None else None
    if isinstance(experts, int) and 0 < experts < tensor_parallel_size:
        rule = f"vLLM refuses more ranks than the {experts} experts of this architecture"
        raise refusal("tensor_parallel_size", tensor_parallel_size, rule, f"Use at most {experts}.")


def _check_has_experts(config: ModelConfig) -> None:
    """Expert parallelism needs experts (vLLM 0.33.0 `ModelConfig._verify_with_expert_parallelism`)."""
    counted = any(value for key, value in config.text.items() if "expert" in key)
    if (
        not counted
        and "moe" not in f"{config.model_type} {config.architecture}".lower()
        and not config.get("ffn_config")
    ):
        rule = "vLLM refuses expert parallelism for models without experts"
        raise refusal("enable_expert_parallel", "true", rule, "Leave it out.")
