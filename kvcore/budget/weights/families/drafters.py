"""Drafters whose tensors are known: those inside a checkpoint, and small models that draft."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from kvcore.budget.weights.drafter import (
    GROUP,
    NEXTN,
    DrafterBuilder,
    DrafterNetwork,
    head_per_layer,
    layer,
    layer_count,
    one_head,
    plain_fusion,
    table,
)
from kvcore.budget.weights.families.deepseek import DEEPSEEK_BLOCKS, GLM_LITE_BLOCKS, SPARSE_BLOCKS
from kvcore.budget.weights.families.deepseek_v4 import attention as compressed_attention
from kvcore.budget.weights.families.deepseek_v4 import experts as compressed_experts
from kvcore.budget.weights.families.deepseek_v4 import head_connection, hyper_connections
from kvcore.budget.weights.families.drafter_others import DRAFTER_OTHERS
from kvcore.budget.weights.families.hybrids import NEMOTRON_KINDS, nemotron_block
from kvcore.budget.weights.families.mixtures import GLM4_MOE_BLOCKS
from kvcore.budget.weights.families.qwen import SHARED_MIXTURE, is_sparse
from kvcore.budget.weights.families.text import QWEN2_BLOCKS
from kvcore.budget.weights.modules import Module, Network, linear, norm
from kvcore.budget.weights.parts.attention import grouped_query
from kvcore.budget.weights.parts.facts import LayerBlock
from kvcore.budget.weights.parts.feed_forward import by_layer, gated_mlp
from kvcore.budget.weights.quantization import quantization_section
from kvcore.config import ModelConfig

CHECKED_METHODS = frozenset({"", "fp8", "modelopt", "modelopt_fp4"})
"""Values of `quant_method` under which drafters were held against the engine."""


def own_drafter(config: ModelConfig) -> DrafterNetwork | None:
    """The drafter inside a checkpoint (method ``mtp``); None where its tensors are not known for certain.

    Raises:
        ConfigError: The config lacks a size.
    """
    build = OWN_DRAFTERS.get(config.architecture)
    section = quantization_section(config)
    method = str(section.get("quant_method") or "").lower()
    if build is None or method not in CHECKED_METHODS:
        return None
    if section.get("moe_quant_algo"):
        config = _with_native_experts(config, section)
    return build(config)


def _with_native_experts(config: ModelConfig, section: Mapping[str, Any]) -> ModelConfig:
    """The checkpoint as its drafter sees it: experts that ModelOpt exports otherwise stay as the model was published.

    Source: vLLM 0.33.0 `DeepseekV4FP8Config` under `DeepSeekV4MTP`; the checkpoint lists ``mtp.*`` as ignored.
    """
    native = {key: value for key, value in section.items() if key != "moe_quant_algo"}
    root, text = ({**mapping, "quantization_config": native} for mapping in (config.root, config.text))
    return replace(config, root=root, text=text)


def whole_drafter(config: ModelConfig, network: Network) -> DrafterNetwork | None:
    """A small model that drafts, with an embedding and a head of its own (vLLM 0.33.0 `DraftModelProposer`).

    None where the checkpoint is quantized: how the drafter's path matches lists of modules was not read.
    """
    if quantization_section(config):
        return None
    return DrafterNetwork(config=config, modules=tuple(network.named()))


def added_fusion(config: ModelConfig) -> tuple[Module, ...]:
    """Two projections whose results are added, and the mixing of streams (`DeepSeekV4MultiTokenPredictorLayer`)."""
    hidden = config.hidden_size
    projections = (linear(name, GROUP, hidden, hidden, split="whole") for name in ("e_proj", "h_proj"))
    return (*projections, *head_connection(config))


def mimo(config: ModelConfig) -> DrafterNetwork:
    """Qwen2 layers, counted from 0, that each fuse and normalize, with one unquantized head (vLLM 0.33.0 `MiMoMTP`)."""
    return DrafterNetwork(
        config=config,
        modules=tuple(
            (f"model.layers.{index}.{module.name}", module)
            for index in range(config.integer(NEXTN))
            for module in layer(config, QWEN2_BLOCKS, index, plain_fusion(config), norms=3)
        ),
        embedding=table(config, "model.embed_tokens"),
        heads=(table(config, "lm_head"),),
    )


def nemotron(config: ModelConfig) -> DrafterNetwork | None:
    """Attention and experts by a pattern of their own, without tables (vLLM 0.33.0 `NemotronHMultiTokenPredictor`).

    None where the checkpoint is quantized, or gives its layers otherwise than by pattern.
    """
    pattern, hidden = config.get("mtp_hybrid_override_pattern"), config.hidden_size
    is_stated = isinstance(pattern, str) and bool(pattern) and set(pattern) <= {"*", "E"}
    if quantization_section(config) or not is_stated or config.get("mtp_layers_block_type") is not None:
        return None
    blocks = (
        (f"mtp.layers.{index}.{module.name}", module)
        for index, letter in enumerate(pattern)
        for module in (*nemotron_block(config, NEMOTRON_KINDS[letter]), norm("norm", hidden))
    )
    fusion = linear("eh_proj", GROUP, 2 * hidden, hidden)
    return DrafterNetwork(
        config=config, modules=(("mtp.layers.0.eh_proj", fusion), ("mtp.norms", norm("norms", 3 * hidden)), *blocks)
    )


def _is_not_modelopt_fp4(config: ModelConfig) -> bool:
    """ModelOpt's NVFP4 checkpoints keep the fusion in 16 bits (vLLM 0.33.0 `Qwen3_5MultiTokenPredictor`, `fc_quant`)."""
    return "NVFP4" not in str(quantization_section(config).get("quant_algo"))


def _always(config: ModelConfig) -> bool:
    return True


def _exaone_count(config: ModelConfig) -> int:
    """Layers stated beside the text config, 1 where the key is absent (vLLM 0.33.0 `Exaone4_5MultiTokenPredictor`)."""
    return stated if isinstance(stated := config.root.get(NEXTN), int) else 1


def _qwen(feed_forward: LayerBlock, key: str, *, quantizable_head: bool = True) -> DrafterBuilder:
    """Gated full attention whatever the model's layers do."""
    attention = grouped_query(qk_norm=True, gate="attn_output_gate=true", qkv_bias="attention_bias")
    return one_head(
        (attention, feed_forward),
        layer_count(key),
        quantizable_head=quantizable_head,
        quantizes_fusion=_is_not_modelopt_fp4,
    )


QWEN3_5 = _qwen(gated_mlp(), "mtp_num_hidden_layers")
QWEN3_5_MOE = _qwen(SHARED_MIXTURE, "mtp_num_hidden_layers")
SPARSE = head_per_layer(SPARSE_BLOCKS, plain_fusion)

OWN_DRAFTERS: Mapping[str, Callable[[ModelConfig], DrafterNetwork | None]] = {
    "DeepseekV3ForCausalLM": head_per_layer(DEEPSEEK_BLOCKS, plain_fusion),
    "DeepseekV32ForCausalLM": SPARSE,
    "GlmMoeDsaForCausalLM": SPARSE,
    "DeepseekV4ForCausalLM": head_per_layer(
        (compressed_attention, compressed_experts, hyper_connections), added_fusion
    ),
    "Glm4MoeForCausalLM": head_per_layer(GLM4_MOE_BLOCKS, plain_fusion),
    "Glm4MoeLiteForCausalLM": head_per_layer(GLM_LITE_BLOCKS, plain_fusion),
    "Qwen3NextForCausalLM": _qwen(by_layer(is_sparse, SHARED_MIXTURE, gated_mlp()), NEXTN, quantizable_head=False),
    "Qwen3_5ForCausalLM": QWEN3_5,
    "Qwen3_5ForConditionalGeneration": QWEN3_5,
    "Qwen3_5MoeForCausalLM": QWEN3_5_MOE,
    "Qwen3_5MoeForConditionalGeneration": QWEN3_5_MOE,
    "MiMoForCausalLM": mimo,
    "NemotronHForCausalLM": nemotron,
    "Exaone4_5_ForConditionalGeneration": one_head(
        (grouped_query(qk_norm=True), gated_mlp()), _exaone_count, quantizable_head=False, quantizes_fusion=_always
    ),
    **DRAFTER_OTHERS,
}
"""Drafters inside checkpoints, by the model's architecture."""
