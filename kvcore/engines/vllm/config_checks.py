"""Checkpoints vLLM refuses for what their config says, whatever the deployment."""

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


def check_config(config: ModelConfig, version: str) -> None:
    """Raises for configs the engine's classes cannot be built from.

    Args:
        config: The checkpoint.
        version: Release whose rules are in force.

    Raises:
        EngineRefusal: The first rule that refuses, with the field to change.
    """
    _check_dual_chunks(config)
    _check_whole_heads(config, version)
    _check_biased_shared_experts(config)


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
