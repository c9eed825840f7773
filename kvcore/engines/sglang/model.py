"""What SGLang makes of a checkpoint before any flag: its kind of attention, its context, its vision tower."""

from collections.abc import Mapping
from dataclasses import dataclass

from kvcore.config import ModelConfig
from kvcore.dtypes import canonical
from kvcore.engines.sglang import architectures as known
from kvcore.engines.sglang.declared_dtype import declared_kv_cache_dtype
from kvcore.engines.sglang.served import SERVED
from kvcore.errors import config_error, refusal

CONTEXT_LENGTH_KEYS = (
    "max_sequence_length",
    "seq_length",
    "max_seq_len",
    "model_max_length",
    "max_position_embeddings",
    "n_positions",
)
"""Keys that state the context, the first that is there counts (SGLang 0.5.23 `CONTEXT_LENGTH_KEYS`).

``n_positions`` is the name GPT-2 and its kin state ``max_position_embeddings`` by.
"""

CLASS_CONTEXT: Mapping[str, Mapping[str, int]] = {
    "step3p5": {"max_seq_len": 128_000},
    "step3p7": {"max_seq_len": 128_000},
}
"""Contexts a config class fills in by a name that comes before the one the checkpoint states (SGLang 0.5.23 `Step3p5Config`)."""

ALREADY_SCALED = frozenset({"llama3", "yarn", "longrope"})
"""Kinds of RoPE whose stated context is the longer one: transformers fills in the original one, at which SGLang stops.

Source: SGLang 0.5.23 `get_context_length`, transformers 5.19 `standardize_rope_params`.
"""

FALLBACK_CONTEXT_LENGTH = 2048
BASE_VISION_LAYERS, BASE_VISION_WIDTH = 24, 1024


@dataclass(frozen=True, kw_only=True)
class ServedModel:
    """A checkpoint as SGLang classifies it.

    Attributes:
        architecture: First entry of ``architectures``.
        context_len: Longest request the checkpoint states.
        dtype: Model dtype.
        declared_kv_cache_dtype: Cache dtype a ModelOpt checkpoint declares; None: none that SGLang reads.
        is_multimodal: Whether images are served.
        vision: Layers and width of the vision tower by the two names SGLang reads; None: no tower is counted.
        latent: Latents are stored as such.
        sparse: An indexer chooses tokens of the latents.
        attention_sinks: Attention has learned sinks.
        hybrid_window: Window layers get a pool of their own.
        keeps_state: States get a pool of slots.
        num_nextn_predict_layers: Drafter layers the config states; None: the key is absent.
    """

    architecture: str
    context_len: int
    dtype: str
    declared_kv_cache_dtype: str | None
    is_multimodal: bool
    vision: tuple[int, int] | None
    latent: bool
    sparse: bool
    attention_sinks: bool
    hybrid_window: bool
    keeps_state: bool
    num_nextn_predict_layers: int | None

    @property
    def is_deepseek_v4(self) -> bool:
        """DeepSeek-V4, whose latents are compressed."""
        return self.architecture == known.DEEPSEEK_V4

    @property
    def captures_prefill(self) -> bool:
        """Whether prefill graphs are captured by default (SGLang 0.5.23 `disable_breakable_cudagraph_if_incompatible`)."""
        if self.architecture in known.KIMI_DELTA or self.is_deepseek_v4:
            return False
        return not self.is_multimodal or self.architecture in known.CAPTURED_MULTIMODAL


def served_model(config: ModelConfig, *, enable_multimodal: bool | None, keeps_state: bool) -> ServedModel:
    """Classifies a checkpoint (SGLang 0.5.23 `ModelConfig`).

    Args:
        config: The checkpoint.
        enable_multimodal: ``--enable-multimodal`` as given; None: SGLang's default.
        keeps_state: Whether the layout holds states beside attention.

    Raises:
        EngineRefusal: SGLang has no model class for the architecture, or one whose pools kvcore has not read.
    """
    name = config.architecture
    if name not in SERVED:
        rule = "SGLang 0.5.23 has no model class of its own for this architecture"
        raise refusal("architectures", name or None, rule, "Ask for engine vllm, or give a checkpoint SGLang serves.")
    if name in known.UNREAD or config.root.get("model_type") == "deepseek_v41":
        rule = "kvcore has not read how SGLang sizes the pools of this architecture"
        raise refusal("architectures", name, rule, "Ask for engine vllm; SGLang's own log states the pools.")
    if keeps_state and name not in known.STATES:
        rule = "kvcore knows no state pool of SGLang for this architecture"
        raise refusal("architectures", name, rule, "Ask for engine vllm; SGLang's own log states the pools.")
    if name in known.THINKERS and "thinker_config" not in config.root:
        rule = "SGLang reads the language model of this architecture from thinker_config only"
        raise refusal("thinker_config", None, rule, "Give the config.json of the published checkpoint.")
    is_multimodal = _is_multimodal(config, enabled=enable_multimodal)
    return ServedModel(
        architecture=name,
        context_len=_context_length(config),
        dtype=_model_dtype(config),
        declared_kv_cache_dtype=declared_kv_cache_dtype(config),
        is_multimodal=is_multimodal,
        vision=_vision(config) if is_multimodal else None,
        latent=_is_latent(config),
        sparse=name in known.SPARSE_LATENT and config.get("index_topk") is not None,
        attention_sinks=_has_attention_sinks(config),
        hybrid_window=_hybrid_window(config),
        keeps_state=keeps_state,
        num_nextn_predict_layers=config.optional_integer("num_nextn_predict_layers"),
    )


def asked_window(config: ModelConfig, window: int) -> int:
    """The window SGLang's model class asks for (SGLang 0.5.23 `resolve_sliding_window_size`)."""
    return window - 1 if config.architecture in known.WINDOW_LEAVES_OUT_QUERY else window


def _is_latent(config: ModelConfig) -> bool:
    if config.architecture in known.LATENT_WHERE_STATED:
        return config.get("kv_lora_rank") is not None
    return config.architecture in known.LATENT and config.get("use_mla", True) is not False


def _has_attention_sinks(config: ModelConfig) -> bool:
    """Learned sinks (SGLang 0.5.23 `ModelConfig._detect_attention_sinks`)."""
    if config.architecture in known.SINKS_WHERE_STATED:
        return bool(config.get("add_swa_attention_sink_bias") or config.get("add_full_attention_sink_bias"))
    return config.architecture in known.ATTENTION_SINKS or bool(config.get("learnable_sink"))


def _hybrid_window(config: ModelConfig) -> bool:
    if config.architecture == "LagunaForCausalLM" and not config.get("sliding_window"):
        return False
    return config.architecture in known.HYBRID_WINDOW


def _is_multimodal(config: ModelConfig, *, enabled: bool | None) -> bool:
    name = config.architecture
    if enabled is None:
        enabled = name not in known.TEXT_ONLY_BY_DEFAULT
        if name in known.MIMO_MULTIMODAL:
            enabled = bool(config.root.get("vision_config")) and bool(config.root.get("audio_config"))
    if config.root.get("language_model_only"):  # SGLang 0.5.23 `ModelConfig.is_lm_only`
        return False
    return enabled and (config.is_multimodal or name in known.FLAT_MULTIMODAL)


def _vision(config: ModelConfig) -> tuple[int, int] | None:
    tower = config.root.get("vision_config")
    if not isinstance(tower, Mapping):
        return _tower_left_out(config)
    if config.architecture in known.VISION_AS_PLAIN_MAPPING:
        return BASE_VISION_LAYERS, BASE_VISION_WIDTH
    of_class = known.VISION_DEFAULTS.get(config.architecture, (None, None))
    layers = tower.get("num_hidden_layers", of_class[0] or BASE_VISION_LAYERS)
    width = tower.get("hidden_size", of_class[1] or BASE_VISION_WIDTH)
    for key, value in (("num_hidden_layers", layers), ("hidden_size", width)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            rule = "a positive whole number is expected"
            raise config_error(f"vision_config.{key}", value, rule, "Give the config.json unchanged.")
    return layers, width


def _tower_left_out(config: ModelConfig) -> tuple[int, int] | None:
    """What a class builds where the checkpoint states no tower: a default one, or none."""
    name = config.architecture
    if name in known.TOWERS_BUILT:
        return known.TOWERS_BUILT[name]
    if name in known.VISION_DEFAULTS and name not in known.TOWERS_LEFT_OUT:
        rule = "kvcore does not know which tower SGLang's class builds where none is stated"
        raise refusal("vision_config", None, rule, "Give the config.json of the published checkpoint.")
    return None


def _context_length(config: ModelConfig) -> int:
    """The stated context times the RoPE factor where that is not already included (`get_context_length`)."""
    factor = _rope_factor(config)
    of_class = CLASS_CONTEXT.get(config.model_type, {})
    for key in CONTEXT_LENGTH_KEYS:
        stated = config.optional_integer(key, minimum=1) or of_class.get(key)
        if stated is not None:
            return int(factor * stated)
    return FALLBACK_CONTEXT_LENGTH


def _rope_factor(config: ModelConfig) -> float:
    if "gemma3" in config.model_type:  # its class keeps one set per layer type, in which SGLang finds no factor
        return 1
    rope = config.get("rope_scaling") or config.get("rope_parameters")
    if not isinstance(rope, Mapping) or "original_max_position_embeddings" in rope:
        return 1
    if str(rope.get("rope_type", rope.get("type"))) in ALREADY_SCALED:
        return 1
    factor = rope.get("factor") or 1
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor <= 1 << 20:
        rule = "a positive number is expected"
        raise config_error(config.path("rope_scaling.factor"), factor, rule, "Give the config.json unchanged.")
    return factor


def _model_dtype(config: ModelConfig) -> str:
    """The checkpoint's dtype; a 32-bit one runs in 16 bits (SGLang 0.5.23 `_get_and_verify_dtype`)."""
    if config.architecture == "GptOssForCausalLM" and _is_mxfp4(config):
        return "bfloat16"  # SGLang 0.5.23 `_gpt_oss_overrides`
    for mapping in (config.text, config.root):
        stated = mapping.get("dtype", mapping.get("torch_dtype"))
        if isinstance(stated, str):
            name = canonical(stated)
            return "float16" if name == "float32" and not config.model_type.startswith("gemma") else _sixteen_bit(name)
    return "bfloat16" if config.model_type.startswith("gemma") else "float16"


def _is_mxfp4(config: ModelConfig) -> bool:
    section = config.root.get("quantization_config")
    return isinstance(section, Mapping) and section.get("quant_method") == "mxfp4"


def _sixteen_bit(name: str) -> str:
    return name if name in {"bfloat16", "float16"} else "bfloat16"
