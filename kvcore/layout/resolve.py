"""Resolve: from the name in ``architectures`` to the complete row of the table that describes a checkpoint."""

import dataclasses
import difflib

from kvcore.config import ModelConfig
from kvcore.errors import ConfigError, config_error
from kvcore.layout.architecture import Architecture
from kvcore.layout.architectures import ARCHITECTURES
from kvcore.layout.architectures.dropped import LAST_RELEASE
from kvcore.layout.minimal import minimal_row
from kvcore.layout.traits import Traits

POOLING_SUFFIXES = (
    "ForTextEncoding", "EmbeddingModel", "ForSequenceClassification", "ForTokenClassification",
    "ForAudioClassification", "ForImageClassification", "ForVideoClassification", "ClassificationModel",
    "ForRewardModeling", "ForRewardModel", "ForProcessRewardModel", "RewardModel",
)  # fmt: skip
"""Endings under which a generating architecture is served for pooling (vLLM 0.33.0 `_SUFFIX_TO_DEFAULTS`)."""

GENERATING_SUFFIXES = ("ForCausalLM", "ForConditionalGeneration", "ChatModel", "LMHeadModel")

BARE_MODELS = {
    "Gemma2Model": "Gemma2ForCausalLM", "LlamaModel": "LlamaForCausalLM", "MistralModel": "LlamaForCausalLM",
    "Qwen2Model": "Qwen2ForCausalLM",
}  # fmt: skip
"""Bare decoders vLLM serves by a generating class (vLLM 0.33.0 `registry._EMBEDDING_MODELS`)."""

UNTYPED = frozenset({"LongcatFlashForCausalLM", "LongcatFlashNgramForCausalLM"})
"""Remote code without a model type that vLLM knows by name (vLLM 0.33.0 `_ARCHITECTURE_TO_MODEL_TYPE`)."""

MM_PREFIX_MODEL_TYPES = frozenset({"bagel", "gemma3", "molmo2", "moondream3", "paligemma"})
"""Root model types whose image tokens attend in both directions (vLLM 0.33.0 `is_mm_prefix_lm`)."""

MM_PREFIX_BY_TEXT = frozenset({"gemma4_text", "gemma4_unified_text"})
"""Text model types that say so in ``use_bidirectional_attention`` (vLLM 0.33.0 `Gemma4ModelArchConfigConvertor`)."""


GEMMA4_VIDEO_TOKENS = 32 * (70 + 2 + 6)
"""Frames of Gemma 4's longest video times soft, border and time stamp tokens (vLLM 0.33.0 `get_mm_max_tokens_per_item`)."""


def architecture_of(config: ModelConfig) -> Architecture:
    """The row that describes a checkpoint, wrappers and pooling heads resolved.

    Raises:
        ConfigError: The engine dropped the architecture, or kvcore does not know it.
    """
    name = _served_name(config)
    if not name:
        return minimal_row(config)
    row = _row(name)
    if row is None:
        raise _unknown(name)
    if config.root.get("auto_map") and not config.root.get("model_type") and name not in UNTYPED:
        rule = "vLLM does not recognize a checkpoint of remote code that names no model_type"
        raise config_error("model_type", None, rule, "Add model_type from the model's code.")
    if row.language_model is None:
        return row
    inner = _row(row.language_model(config))
    if inner is None or inner.language_model is not None:
        raise _unknown(row.language_model(config))
    traits = _wrapped_traits(row.traits, inner.traits, config)
    return dataclasses.replace(inner, traits=traits, source=row.source, tower_keys=row.tower_keys)


def _served_name(config: ModelConfig) -> str:
    """The architecture the engine builds: MiMo-V2 with a vision tower is a wrapper (vLLM `MimoV2ModelArchConfigConvertor`)."""
    name = config.architecture
    return "MiMoV2OmniForCausalLM" if name.startswith("MiMoV2") and config.root.get("vision_config") else name


def _row(name: str) -> Architecture | None:
    row = ARCHITECTURES.get(BARE_MODELS.get(name, name))
    if row is not None:
        return row
    suffix = next((suffix for suffix in POOLING_SUFFIXES if name.endswith(suffix)), None)
    if suffix is None:
        return None
    stem = name.removesuffix(suffix)
    bases = (ARCHITECTURES.get(stem + ending) for ending in GENERATING_SUFFIXES)
    base = next((base for base in bases if base is not None), None)
    return None if base is None else dataclasses.replace(base, traits=dataclasses.replace(base.traits, pooling=True))


def _wrapped_traits(outer: Traits, inner: Traits, config: ModelConfig) -> Traits:
    mm_prefix_lm = is_mm_prefix_lm(config)
    return dataclasses.replace(
        inner,
        largest_item_tokens=GEMMA4_VIDEO_TOKENS if mm_prefix_lm and config.model_type in MM_PREFIX_BY_TEXT else 0,
        pooling=outer.pooling or inner.pooling,
        supports_pipeline=outer.supports_pipeline and inner.supports_pipeline,
        mm_prefix_lm=mm_prefix_lm,
    )


def is_mm_prefix_lm(config: ModelConfig) -> bool:
    """Whether image tokens attend in both directions (vLLM 0.33.0 `ModelArchConfigConvertorBase.is_mm_prefix_lm`)."""
    if config.model_type in MM_PREFIX_BY_TEXT:
        return bool(config.get("use_bidirectional_attention") == "vision")
    stated = config.root.get("is_mm_prefix_lm")
    return bool(stated) if stated is not None else config.root.get("model_type") in MM_PREFIX_MODEL_TYPES


def _unknown(name: str) -> ConfigError:
    last = LAST_RELEASE.get(name)
    if last is not None:
        rule = f"vLLM served this architecture up to release {last} and refuses it since"
        return config_error("architectures", name, rule, f"Use vLLM {last} or a checkpoint of another architecture.")
    near = difflib.get_close_matches(name, ARCHITECTURES, n=1)
    hint = f" The nearest known one is {near[0]}." if near else ""
    return config_error(
        "architectures",
        name,
        "kvcore does not know how this architecture caches",
        f"The model's code in the engine (get_kv_cache_spec of its layers) would settle it.{hint}",
    )
