"""compressed-tensors checkpoints: groups of target modules, each with the scheme of its weights."""

from collections.abc import Mapping
from typing import Any

from kvcore.budget.weights.kernels import Kernels
from kvcore.budget.weights.matching import Matcher, regular
from kvcore.budget.weights.quantization import Quantization, names_of, unknown_scheme
from kvcore.budget.weights.scheme import Scheme
from kvcore.budget.weights.schemes import (
    eight_bit_channel,
    fp8_block,
    fp8_tensor,
    grouped_integers,
    mxfp4,
    mxfp8,
    nvfp4,
)
from kvcore.config import ModelConfig

PACKED_SOURCE = "vLLM 0.33.0 `CompressedTensorsWNA16.create_weights`"
GENERIC_TARGETS = frozenset({"Linear"})
NVFP4_GROUP = 16

CACHE_SCALES = 3 * (4 + 2)
"""A float32 scale and a 16-bit zero point for each of queries, keys and values."""

EXPERT_PROJECTIONS: Mapping[str, str] = {
    **dict.fromkeys(("deepseek_v4", "lfm2_moe", "minimax_m2", "mixtral", "phimoe"), "w1"),
    "nemotron_h": "up_proj",
}
"""An expert's projection by the name targets are held against, where it is not ``gate_proj`` (vLLM 0.33.0 `ckpt_names`)."""


def read_compressed_tensors(section: Mapping[str, Any], config: ModelConfig, kernels: Kernels) -> Quantization:
    """The scheme of each module (vLLM 0.33.0 `CompressedTensorsConfig.get_scheme`).

    Raises:
        ConfigError: A group's scheme is not one whose bytes are known.
    """
    groups = section.get("config_groups")
    if not isinstance(groups, Mapping) or not groups:
        raise unknown_scheme("config_groups", groups)
    if section.get("sparsity_config"):
        raise unknown_scheme("sparsity_config", section.get("sparsity_config"))
    ignored = regular(names_of(section, "ignore"))
    targets = [_group(name, group, section, kernels) for name, group in groups.items()]
    expert = EXPERT_PROJECTIONS.get(config.model_type, "gate_proj")

    def choose(path: str, kind: str) -> Scheme | None:
        name = f"{path}.0.{expert}" if kind == "experts" else path
        if ignored(name) or ignored(path):
            return None
        for generic, named, scheme in targets:
            if named(name) or named(path) or (generic and kind != "lm_head"):
                return scheme
        return None

    names = ", ".join(dict.fromkeys(scheme.name for _, _, scheme in targets))
    return Quantization(name=f"compressed-tensors, {names}", scheme=choose, cache_scale_bytes=CACHE_SCALES)


def _group(name: str, group: Any, section: Mapping[str, Any], kernels: Kernels) -> tuple[bool, Matcher, Scheme]:
    if not isinstance(group, Mapping):
        raise unknown_scheme(f"config_groups.{name}", group)
    targets = names_of(group, "targets")
    weights = group.get("weights")
    if not isinstance(weights, Mapping):
        raise unknown_scheme(f"config_groups.{name}.weights", weights)
    inputs = group.get("input_activations")
    static_inputs = isinstance(inputs, Mapping) and inputs.get("dynamic") in {None, False, "local"}
    form = str(group.get("format") or section.get("format") or "")
    scheme = _scheme(weights, form, kernels, static_inputs=static_inputs)
    if scheme is None:
        raise unknown_scheme(f"config_groups.{name}.weights", dict(weights))
    return (
        not GENERIC_TARGETS.isdisjoint(targets),
        regular([target for target in targets if target not in GENERIC_TARGETS]),
        scheme,
    )


def _scheme(weights: Mapping[str, Any], form: str, kernels: Kernels, *, static_inputs: bool) -> Scheme | None:
    bits, kind, strategy = weights.get("num_bits"), weights.get("type"), weights.get("strategy")
    group_size = weights.get("group_size")
    if kind == "float" and bits == 4:
        return (
            nvfp4(input_scale_bytes=4 if static_inputs else 0)
            if group_size == NVFP4_GROUP
            else mxfp4(kernels.mxfp4)
            if "mxfp4" in form
            else None
        )
    if kind == "float" and bits == 8:
        return _eight_bit_floats(weights, strategy, form, static_inputs=static_inputs)
    if kind == "int" and form == "pack-quantized" and bits in {2, 3, 4, 8}:
        size = group_size if isinstance(group_size, int) and group_size > 0 else -1
        return grouped_integers(
            "packed integers", int(bits), size, zero_points=weights.get("symmetric") is False,
            group_index=weights.get("actorder") == "group", with_shapes=True, source=PACKED_SOURCE,
        )  # fmt: skip
    if kind == "int" and bits == 8 and strategy in {"channel", "tensor"}:
        return eight_bit_channel("int8")
    return None


def _eight_bit_floats(weights: Mapping[str, Any], strategy: object, form: str, *, static_inputs: bool) -> Scheme | None:
    if "mxfp8" in form:
        return mxfp8()
    if strategy == "channel":
        return eight_bit_channel("fp8")
    if strategy == "tensor":
        return fp8_tensor(static_inputs=static_inputs)
    block = weights.get("block_structure")
    if strategy == "block" and isinstance(block, list | tuple) and len(block) == 2:
        return fp8_block(int(block[0]), int(block[1]))
    return None
