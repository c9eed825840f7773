"""GPTQ: packed integers with scales and packed zero points, and the rules that name modules stored otherwise."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from kvcore.budget.weights.kernels import Kernels
from kvcore.budget.weights.matching import containing, spellings
from kvcore.budget.weights.quantization import Quantization, names_of, unknown_scheme
from kvcore.budget.weights.scheme import Scheme
from kvcore.budget.weights.schemes import grouped_integers
from kvcore.config import ModelConfig

GPTQ_SOURCE = "vLLM 0.33.0 `AutoGPTQLinearMethod.create_weights`"
LEAVES_OUT, CHANGES = "-:", "+:"

SHARDS: Mapping[str, tuple[str, ...]] = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
}
"""Names checkpoints have for what the engine fuses (vLLM 0.33.0 `packed_modules_mapping`)."""

Pick = Callable[[str], Scheme | None]
"""The scheme of a module by its path."""


def bits_of(section: Mapping[str, Any], allowed: tuple[int, ...]) -> int:
    """Bits of an element.

    Raises:
        ConfigError: They are none of those allowed.
    """
    bits = section.get("bits", section.get("w_bit", 4))
    if bits not in allowed:
        raise unknown_scheme("bits", bits)
    return int(bits)


def group_size_of(section: Mapping[str, Any]) -> int:
    """Inputs that share a scale; -1: all of them.

    Raises:
        ConfigError: It is no size.
    """
    size = section.get("group_size", section.get("q_group_size", 128))
    if isinstance(size, bool) or not isinstance(size, int) or (size < 1 and size != -1):
        raise unknown_scheme("group_size", size)
    return size


def read_gptq(section: Mapping[str, Any], config: ModelConfig, kernels: Kernels) -> Quantization:
    """How a GPTQ checkpoint stores its modules (vLLM 0.33.0 `AutoGPTQConfig`).

    Raises:
        ConfigError: The scheme is not one whose bytes are known.
    """
    pick = _rules(section)
    ignored = containing(names_of(section, "modules_in_block_to_not_quantize", "modules_to_not_convert"))
    listed = containing(_listed(section))
    has_list = bool(_listed(section))
    quantized_head = bool(section.get("lm_head"))

    def choose(path: str, kind: str) -> Scheme | None:
        if kind == "lm_head" and not quantized_head:
            return None
        if kind != "lm_head" and any(ignored(name) for name in _shard_names(path)):
            return None
        if kind != "experts" and has_list and not all(listed(name) for name in _shard_names(path)):
            return None
        return pick(path)

    return Quantization(name=f"gptq, {bits_of(section, (4, 8))} bits", scheme=choose, by_fused_name=True)


def _rules(section: Mapping[str, Any]) -> Pick:
    """The scheme by path: the first rule that matches leaves a module out or changes its numbers.

    Source: vLLM 0.33.0 `get_dynamic_override`, `override_config`.
    """
    whole = _scheme(section)
    rules = section.get("dynamic") or {}
    if not isinstance(rules, Mapping):
        raise unknown_scheme("dynamic", rules)
    read = [(_pattern(rule), _changed(section, rule, changes)) for rule, changes in rules.items()]

    def pick(path: str) -> Scheme | None:
        names = spellings(path)
        return next((scheme for pattern, scheme in read if any(pattern.match(name) for name in names)), whole)

    return pick


def _pattern(rule: str) -> re.Pattern[str]:
    try:
        return re.compile(rule.removeprefix(LEAVES_OUT).removeprefix(CHANGES))
    except re.error:
        raise unknown_scheme("dynamic", rule) from None


def _changed(section: Mapping[str, Any], rule: str, changes: object) -> Scheme | None:
    if rule.startswith(LEAVES_OUT):
        return None
    if not isinstance(changes, Mapping) or changes.get("sym", True) is not True:
        raise unknown_scheme("dynamic", changes)
    return _scheme({**section, **changes})


def _scheme(section: Mapping[str, Any]) -> Scheme:
    return grouped_integers(
        "GPTQ",
        bits_of(section, (4, 8)),
        group_size_of(section),
        zero_points=True,
        group_index=bool(section.get("desc_act")),
        expert_biases=True,
        source=GPTQ_SOURCE,
    )


def _listed(section: Mapping[str, Any]) -> list[str]:
    """The modules stated as quantized, written as one list or as one per step of quantization."""
    stated = section.get("modules_in_block_to_quantize")
    if isinstance(stated, list | tuple) and stated and all(isinstance(step, list | tuple) for step in stated):
        section = {"modules_in_block_to_quantize": [name for step in stated for name in step]}
    return names_of(section, "modules_in_block_to_quantize")


def _shard_names(path: str) -> tuple[str, ...]:
    parent, _, name = path.rpartition(".")
    return tuple(f"{parent}.{shard}" for shard in SHARDS[name]) if name in SHARDS else (path,)
