"""Facts: what an entry of the catalogue keeps of a config.json.

Kept is whatever may name a size, a count, a kind or a switch of the model. Left out is what only steers generation,
training, preprocessing or the tokenizer; no engine derives a byte of cache or weights from it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

LEFT_OUT_KEYS = frozenset({
    "architecture_class", "bad_words_ids", "base_model_ep_plan", "bf16", "bits_and_bytes", "cache_implementation",
    "do_sample", "early_stopping", "exponential_decay_length_penalty", "finetuning_task", "for_llm_compressor", "fp16",
    "fp32", "fps", "gradient_checkpointing", "inference_runner", "label2id", "matryoshka_dimensions", "max_length",
    "min_length", "model_file_base_name", "model_name_or_path", "name", "num_return_sequences", "onnx_safe",
    "output_attentions", "output_hidden_states", "output_past", "output_router_logits", "output_scores", "prefix",
    "pretraining_tp", "processor_config", "pruned_heads", "remove_invalid_values", "return_dict",
    "return_dict_in_generate", "seed", "supported_aspect_ratios", "talker_config", "task_specific_params", "template",
    "tf_legacy_loss", "token2wav_config", "top_p", "torchscript", "transformers.js_config", "transformers_version",
    "typical_p", "unsloth_version", "use_cache", "verbose", "version",
})  # fmt: skip
"""Keys that are left out wherever they stand."""

LEFT_OUT_WORDS = frozenset({
    "beam", "beams", "beta", "dropout", "eps", "epsilon", "jitter", "layerdrop", "loss", "lr", "mask", "pdrop", "penalty",
    "placeholder", "range", "std", "suppress", "temperature", "theta", "tokenizer", "tunable",
    "tune", "wandb", "forced", "lora_adaptations", "drop_tokens", "init", "initializer", "pinpoints", "swiglu",
})  # fmt: skip
"""Words, between underscores, of keys that are left out."""

_LEFT_OUT = re.compile(r"^_|(_token|_start|_end|_newline|_pad|^pad)(_id|_index)$|(?<!_per)_token$")
_KEPT_ALL_THE_SAME = frozenset({
    "_num_mtp_layers", "block_use_swiglu", "mask_token", "moe_layer_end_index", "moe_layer_start_index",
    "use_mask_token",
})  # fmt: skip
_MODULE_LISTS = ("ignore", "ignored_layers", "modules_to_not_convert", "exclude_modules", "quantized_layers", "targets")
_OTHER_EXPERT = re.compile(r"\.experts\.(?!0\b)\d+\b")
_EXPERT_0 = ".experts.0"


def facts(config: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the facts of a config.json.

    Args:
        config: The top-level object.

    Returns:
        The same structure and order with what no engine reads left out. Values are not changed, except that lists of
        module names keep one expert of a layer where all its experts are named alike.
    """
    return {key: _fact(key, value) for key, value in config.items() if is_fact(key)}


def is_fact(key: str) -> bool:
    """Whether an entry keeps this key."""
    if key in _KEPT_ALL_THE_SAME:
        return True
    return key not in LEFT_OUT_KEYS and not LEFT_OUT_WORDS.intersection(key.split("_")) and not _LEFT_OUT.search(key)


def _fact(key: str, value: Any) -> Any:
    if key in _MODULE_LISTS and isinstance(value, Mapping | list):
        return _one_expert(value)
    if isinstance(value, Mapping):
        return facts(value)
    if isinstance(value, list):
        return [facts(item) if isinstance(item, Mapping) else item for item in value]
    return value


def _one_expert(modules: Mapping[str, Any] | Sequence[Any]) -> Any:
    """Drops every expert but the first from a list of modules, where the first is named with the same value."""

    def repeats(module: object, value: object) -> bool:
        if not isinstance(module, str) or not _OTHER_EXPERT.search(module):
            return False
        first = _OTHER_EXPERT.sub(_EXPERT_0, module)
        return first in modules and (not isinstance(modules, Mapping) or modules[first] == value)

    if isinstance(modules, Mapping):
        return {module: value for module, value in modules.items() if not repeats(module, value)}
    return [module for module in modules if not repeats(module, None)]


def compact(value: Any) -> str:
    """JSON text of facts, one key a line, lists of scalars on one line."""
    return _written(value, "") + "\n"


def _written(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, Mapping) and value:
        items = ",\n".join(f"{inner}{json.dumps(str(key))}: {_written(item, inner)}" for key, item in value.items())
        return f"{{\n{items}\n{indent}}}"
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping | list) for item in value):
        items = ",\n".join(inner + _written(item, inner) for item in value)
        return f"[\n{items}\n{indent}]"
    return json.dumps(value, ensure_ascii=False)
