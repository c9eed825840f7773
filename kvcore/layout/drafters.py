"""Drafters in checkpoints of their own: EAGLE heads and small draft models."""

from collections.abc import Mapping, Sequence

from kvcore.config import ModelConfig
from kvcore.errors import config_error, refusal
from kvcore.layout.architecture import Architecture
from kvcore.layout.cache import ChunkedLocalCache, StateCache
from kvcore.layout.drafts import retained_by_modules, unsupported_method
from kvcore.layout.layout import LayerCache

NOTHING_CACHED = frozenset({"ngram", "[ngram]", "ngram_gpu", "suffix"})
"""Methods that keep nothing on the GPU beside the model's own cache."""

MTP_METHODS = frozenset({
    "mtp", "deepseek_mtp", "dots3_note_mtp", "mimo_mtp", "mimo_v2_mtp", "glm4_moe_mtp", "glm4_moe_lite_mtp",
    "glm_ocr_mtp", "ernie_mtp", "nemotron_h_mtp", "exaone_moe_mtp", "exaone4_5_mtp", "qwen3_next_mtp",
    "qwen4_exp_mtp", "qwen3_5_mtp", "longcat_flash_mtp", "bailing_hybrid_v3_mtp", "minimax_m3_mtp",
    "bailing_hybrid_mtp", "kimi_k3_mtp", "pangu_ultra_moe_mtp", "step3p5_mtp", "step5_mtp", "hy_v3_mtp", "hy_v4_mtp",
    "gemma4_mtp", "inkling_mtp", "glm5_next_mtp",
})  # fmt: skip
"""Names for the checkpoint's own drafter; all mean ``mtp`` (vLLM 0.33.0 `MTPModelTypes`)."""

EAGLE_METHODS = frozenset({"eagle", "eagle3"})

EAGLE_ARCHITECTURES: Mapping[str, str] = {
    "EagleCohereForCausalLM": "CohereForCausalLM",
    "EagleLlamaForCausalLM": "LlamaForCausalLM",
    "EagleMistralForCausalLM": "MistralForCausalLM",
    "EagleMistralLarge3ForCausalLM": "MistralLarge3ForCausalLM",
    "EagleMiniCPMForCausalLM": "MiniCPMForCausalLM",
    "Eagle3LlamaForCausalLM": "LlamaForCausalLM",
    "Eagle3MiniMaxM2ForCausalLM": "LlamaForCausalLM",
    "Eagle3Qwen2_5vlForCausalLM": "LlamaForCausalLM",
    "Eagle3Qwen3vlForCausalLM": "LlamaForCausalLM",
    "Eagle3Qwen3ForCausalLM": "Qwen3ForCausalLM",
    "LlamaForCausalLMEagle3": "LlamaForCausalLM",
    "Eagle3DeepseekV2ForCausalLM": "DeepseekV3ForCausalLM",
    "Eagle3DeepseekV3ForCausalLM": "DeepseekV3ForCausalLM",
}
"""EAGLE heads by the name vLLM gives their class, and the architecture whose layers they repeat (`registry.py`)."""


def drafter_layers(
    target: ModelConfig,
    row: Architecture,
    *,
    method: str,
    num_speculative_tokens: int,
    drafter: ModelConfig | None,
    architectures: Mapping[str, Architecture],
) -> tuple[Sequence[LayerCache], int]:
    """Caches of the drafter and tokens it makes windows retain.

    Args:
        target: The model's checkpoint.
        row: The model's row of the table.
        method: Speculative method.
        num_speculative_tokens: Tokens proposed per step.
        drafter: The drafter's own checkpoint, where it has one.
        architectures: The table, in which drafters of their own are looked up.

    Raises:
        EngineRefusal: The engine has no such method for this model.
        ConfigError: A checkpoint lacks a fact.
    """
    if method in NOTHING_CACHED:
        return (), 0
    if method in MTP_METHODS:
        source = drafter or target
        builder = row.mtp if drafter is None else _row(drafter, drafter.architecture, architectures).mtp
        if builder is None:
            raise unsupported_method(method, f"{source.architecture} has no drafter of its own")
        drafts = builder(source, num_speculative_tokens)
        return drafts, retained_by_modules(source, drafts, num_speculative_tokens)
    if method not in {*EAGLE_METHODS, "draft_model"}:
        known = ", ".join(("mtp", "ngram", *sorted(EAGLE_METHODS), "draft_model", "suffix"))
        rule = "kvcore does not know what drafters of this method cache"
        raise refusal("speculative_config", method, rule, f"Known methods are {known}.")
    if drafter is None:
        rule = f"method {method} needs the drafter's checkpoint"
        raise refusal("speculative_config", method, rule, "Give its config.json as speculative_config.config.")
    name = drafter.architecture if method == "draft_model" else _eagle_base(drafter, method)
    return _independent_layers(target, drafter, _row(drafter, name, architectures)), 0


def _eagle_base(drafter: ModelConfig, method: str) -> str:
    """The architecture whose layers an EAGLE head repeats (vLLM 0.33.0 `EAGLEConfig`)."""
    name = drafter.architecture
    if method == "eagle":
        vllm_name = name if name.startswith("Eagle") else f"Eagle{name}"
    else:
        vllm_name = name if name.startswith("Eagle3") or name.endswith("Eagle3") else f"Eagle3{name}"
    base = EAGLE_ARCHITECTURES.get(vllm_name)
    if base is None:
        rule = f"vLLM's class {vllm_name} is not one kvcore knows as a drafter"
        raise config_error(
            "speculative_config.config.architectures", name, rule, "Its code in the engine would settle it."
        )
    return base


def _row(drafter: ModelConfig, name: str, architectures: Mapping[str, Architecture]) -> Architecture:
    row = architectures.get(name)
    if row is None:
        rule = "kvcore does not know how this drafter caches"
        raise config_error("speculative_config.config.architectures", name or None, rule, "Its code would settle it.")
    return row


def _independent_layers(target: ModelConfig, drafter: ModelConfig, row: Architecture) -> Sequence[LayerCache]:
    """Every layer of the drafter, counted behind the model's own layers."""
    layers: list[LayerCache] = []
    for index, kind in enumerate(row.layer_kinds(drafter)):
        for builder in row.caches.get(kind, ()):
            cache = builder(drafter, index)
            if cache is None:
                continue
            if isinstance(cache, StateCache | ChunkedLocalCache):
                rule = "kvcore does not know how vLLM groups drafters with states or chunks"
                raise config_error("speculative_config.config", drafter.architecture, rule, "Use another drafter.")
            layers.append(LayerCache(layer_index=target.num_hidden_layers + index, cache=cache, draft=True))
    return layers
