"""ModelConfig: what a checkpoint says about itself, read with Hugging Face's names and vLLM's precedence."""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kvcore.config.class_defaults import CLASS_DEFAULTS, SIZE_KEYS
from kvcore.config.text_types import ARCHITECTURE_TYPES, NESTED_ONLY, WRAPPER_TEXT_TYPES
from kvcore.errors import ConfigError, FieldError, config_error, shown

TEXT_CONFIG_KEYS = ("text_config", "llm_config", "language_config", "thinker_config")
"""Keys under which multimodal wrappers nest the language model (vLLM 0.33.0 `get_hf_text_config`)."""

ALIASES: Mapping[str, tuple[str, ...]] = {
    "num_hidden_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"),
    "num_attention_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"),
    "num_key_value_heads": (
        "num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num", "num_attention_groups",
        "attn_config.kv_n_heads",
    ),
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model", "model_dim"),
    "head_dim": ("head_dim", "hidden_size_per_head", "kv_channels", "attention_head_dim"),
    "vocab_size": ("vocab_size", "padded_vocab_size"),
}  # fmt: skip
"""Names under which checkpoints state one fact, in the order they are looked up."""

LAYER_LISTS: Mapping[str, tuple[str, ...]] = {
    "nemotron_h": ("layers_block_type", "layer_types", "hybrid_override_pattern"),
}
"""Model types whose layer list defines how many layers there are (transformers 5.16 `NemotronHConfig`)."""

MAX_LAYERS = 10_000
MAX_SIZE = 1 << 40


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """A checkpoint's configuration.

    Attributes:
        root: The top-level object of config.json.
        text: The language model's part of it (``text_config`` and its synonyms), or the root itself.
        text_path: Where ``text`` stands in the root, for error messages; empty for the root.
        architecture: First entry of ``architectures``.
        model_type: ``model_type`` of the language model.
        num_hidden_layers: Layers of the language model.
        facts: What was worked out of it so far, by the function that did (:func:`kvcore.config.kept.kept`).
    """

    root: Mapping[str, Any] = field(repr=False)
    text: Mapping[str, Any] = field(repr=False)
    text_path: str
    architecture: str
    model_type: str
    num_hidden_layers: int
    facts: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def is_multimodal(self) -> bool:
        """Whether the language model is nested in a multimodal wrapper."""
        return bool(self.text_path)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a fact of the language model by its Hugging Face name, its aliases, or its class default.

        A key stated as null keeps the class default from applying, as it does in Hugging Face's classes.
        """
        aliases = ALIASES.get(key, (key,))
        for alias in aliases:
            value = _lookup(self.text, alias)
            if value is not None:
                return value
        if any(alias in self.text for alias in aliases) or (key in SIZE_KEYS and not self.text_path):
            return default
        value = CLASS_DEFAULTS.get(self.model_type, {}).get(key)
        return default if value is None else value

    def root_value(self, dotted: str) -> Any:
        """Returns the value at a dotted path from the root, None where there is none."""
        return _lookup(self.root, dotted)

    def path(self, key: str) -> str:
        """The key as a dotted path from the root, for error messages."""
        return f"{self.text_path}.{key}" if self.text_path else key

    def integer(self, key: str, default: int | None = None, *, minimum: int = 1, maximum: int = MAX_SIZE) -> int:
        """Returns a whole number.

        Raises:
            ConfigError: The key is absent without default, or its value is not a whole number in range.
        """
        value = self.get(key, default)
        if value is None:
            raise self.missing(key)
        return _whole(self.path(key), value, minimum, maximum)

    def optional_integer(self, key: str, *, minimum: int = 0) -> int | None:
        """Returns a whole number, or None where the key is absent."""
        value = self.get(key)
        return None if value is None else _whole(self.path(key), value, minimum, MAX_SIZE)

    def sequence(self, key: str) -> Sequence[Any] | None:
        """Returns a list, or None where the key is absent."""
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise config_error(self.path(key), value, "a list is expected", "Give the config.json unchanged.")
        return value

    def mapping(self, key: str) -> Mapping[str, Any]:
        """Returns a nested object, empty where the key is absent."""
        value = self.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise config_error(self.path(key), value, "an object is expected", "Give the config.json unchanged.")
        return value

    def missing(self, key: str) -> ConfigError:
        """The error for a fact the config does not state, naming every key looked for."""
        names = ", ".join(ALIASES.get(key, (key,)))
        rule = f"the config states none of {names}, and model_type {self.model_type!r} has no known default"
        return config_error(
            self.path(key), None, rule, f"Add {ALIASES.get(key, (key,))[0]} from the model's card or code."
        )

    @functools.cached_property
    def num_attention_heads(self) -> int:
        """Query heads."""
        return self.integer("num_attention_heads")

    @functools.cached_property
    def num_key_value_heads(self) -> int:
        """Key/value heads before tensor parallelism (vLLM 0.33.0 `get_total_num_kv_heads`)."""
        return self.integer("num_key_value_heads", self.num_attention_heads)

    @functools.cached_property
    def hidden_size(self) -> int:
        """Width of the residual stream."""
        return self.integer("hidden_size")

    @functools.cached_property
    def head_dim(self) -> int:
        """Size of one head: stated, or hidden_size // num_attention_heads (vLLM 0.33.0 `get_head_size`)."""
        stated = self.optional_integer("head_dim")
        if stated:
            return stated
        try:
            derived = self.hidden_size // self.num_attention_heads
        except ConfigError as error:
            looked_for = ", ".join((*ALIASES["head_dim"], *ALIASES["hidden_size"], *ALIASES["num_attention_heads"]))
            rule = f"the head size follows from none of {looked_for}"
            extra = FieldError(self.path("head_dim"), shown(None), rule, "Add head_dim.")
            raise ConfigError((*error.errors, extra)) from None
        if not derived:
            rule = f"narrower than its {self.num_attention_heads:,} heads"
            raise config_error(self.path("hidden_size"), self.hidden_size, rule, "Give the config.json unchanged.")
        return derived


def read_config(root: Mapping[str, Any]) -> ModelConfig:
    """Reads a config.json object.

    Raises:
        ConfigError: The object lacks architectures or a layer count, or a value has the wrong type.
    """
    text, path = _text_config(root)
    architectures = root.get("architectures") or text.get("architectures") or []
    if not isinstance(architectures, list | tuple) or not all(isinstance(name, str) for name in architectures):
        raise config_error("architectures", architectures, "a list of class names is expected", "Give it unchanged.")
    config = ModelConfig(
        root=root,
        text=text,
        text_path=path,
        architecture=architectures[0] if architectures else "",
        model_type=_model_type(root, text, architectures),
        num_hidden_layers=0,
    )
    return dataclasses.replace(config, num_hidden_layers=_layer_count(config))


def _layer_count(config: ModelConfig) -> int:
    """The stated count, or the length of the layer list that defines it."""
    for key in LAYER_LISTS.get(config.model_type, ()):
        stated = config.get(key)
        if isinstance(stated, list | tuple | str) and stated:
            return _whole(config.path(key), len(stated), 1, MAX_LAYERS)
    return config.integer("num_hidden_layers", minimum=1, maximum=MAX_LAYERS)


def _text_config(root: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """The language model's object and its path; empty where a wrapper's class ignores keys that stand flat in the root."""
    text, path = root, ""
    for _ in range(4):  # wrappers nest at most a few levels
        nested = next((key for key in TEXT_CONFIG_KEYS if isinstance(text.get(key), Mapping)), None)
        if nested is None:
            break
        text, path = text[nested], f"{path}.{nested}" if path else nested
    if not path and _text_field(root, "model_type") in NESTED_ONLY:
        return {}, "text_config"
    return text, path


def _model_type(root: Mapping[str, Any], text: Mapping[str, Any], architectures: Sequence[str]) -> str:
    """The language model's type: its own, else what its wrapper's class or its architecture implies."""
    outer = _text_field(root, "model_type")
    stated = _text_field(text, "model_type") or outer
    if not stated and architectures:
        return ARCHITECTURE_TYPES.get(architectures[0], "")
    return WRAPPER_TEXT_TYPES.get(stated, stated)


def _text_field(mapping: Mapping[str, Any], key: str) -> str:
    value = mapping.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise config_error(key, value, "a text is expected", "Give the config.json unchanged.")
    return value


def _lookup(mapping: Mapping[str, Any], dotted: str) -> Any:
    if "." not in dotted:
        return mapping.get(dotted)
    value: Any = mapping
    for key in dotted.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def _whole(path: str, value: Any, minimum: int, maximum: int) -> int:
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise config_error(path, value, "a whole number is expected", "Give the config.json unchanged.")
    if not minimum <= value <= maximum:
        raise config_error(path, value, f"must be from {minimum:,} to {maximum:,}", "Give the config.json unchanged.")
    return value
