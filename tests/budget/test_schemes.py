"""Bytes of quantized matrices, worked out by hand from what the engine registers."""

from typing import Any

import pytest

from kvcore.budget.weights.kernels import Padding, Platform, gpt_oss_padding, kernels_of
from kvcore.budget.weights.methods import read_quantization
from kvcore.budget.weights.ranks import ExpertShape, LinearShape
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
from kvcore.config import read_config
from kvcore.errors import ConfigError

INPUTS, FIRST, SECOND = 256, 192, 64
OUTPUTS = FIRST + SECOND
ELEMENTS = INPUTS * OUTPUTS
MATRIX = LinearShape(inputs=INPUTS, outputs=(FIRST, SECOND), whole_inputs=INPUTS)
FLOAT32, HALF = 4, 2


def integers(**more: Any) -> Scheme:
    return grouped_integers("packed", 4, 128, source="", **more)


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        (fp8_block(128, 128), ELEMENTS + 2 * 2 * FLOAT32),
        (fp8_block(128, 128, scale_bytes=1), ELEMENTS + 2 * 2),
        (fp8_tensor(static_inputs=False), ELEMENTS + 2 * FLOAT32),
        (fp8_tensor(static_inputs=True), ELEMENTS + 2 * 2 * FLOAT32),
        (eight_bit_channel("fp8"), ELEMENTS + OUTPUTS * FLOAT32),
        (integers(), ELEMENTS // 2 + 2 * OUTPUTS * HALF),
        (integers(zero_points=True), ELEMENTS // 2 + 2 * OUTPUTS * HALF + 2 * OUTPUTS // 2),
        (integers(group_index=True), ELEMENTS // 2 + 2 * OUTPUTS * HALF + INPUTS * FLOAT32),
        (integers(with_shapes=True), ELEMENTS // 2 + 2 * OUTPUTS * HALF + 2 * 8),
        (nvfp4(), ELEMENTS // 2 + ELEMENTS // 16 + 2 * 2 * FLOAT32),
        (mxfp4(), ELEMENTS // 2 + ELEMENTS // 32),
        (mxfp8(), ELEMENTS + ELEMENTS // 32),
    ],
    ids=[
        "fp8-block",
        "fp8-block-ue8m0",
        "fp8",
        "fp8-static",
        "channel",
        "int4",
        "awq",
        "g_idx",
        "packed",
        "nvfp4",
        "mxfp4",
        "mxfp8",
    ],
)
def test_a_linear_layer_is_its_packed_weights_and_their_scales(scheme: Scheme, expected: int) -> None:
    assert scheme.linear_bytes(MATRIX) == expected


WIDTH, EXPERTS = 192, 3


def experts(intermediate: int, whole: int) -> ExpertShape:
    return ExpertShape(
        count=EXPERTS, inputs=INPUTS, intermediate=intermediate, projections=2, bias=False, whole_intermediate=whole
    )


def test_tiles_cut_by_ranks_are_refined_to_their_common_divisor() -> None:
    side = 64  # of tiles of 128 and a share of 192
    scales = 2 * (WIDTH // side) * (INPUTS // side) + (INPUTS // side) * (WIDTH // side)

    found = fp8_block(128, 128).expert_bytes(experts(WIDTH, 8 * WIDTH))

    assert found == EXPERTS * (3 * INPUTS * WIDTH + scales * FLOAT32)


def test_experts_are_padded_for_their_kernel() -> None:
    padded = EXPERTS * 3 * 512 * 256

    found = mxfp4(Padding(inputs=512, intermediate=128)).expert_bytes(experts(WIDTH, WIDTH))

    assert found == padded // 2 + padded // 32


@pytest.mark.parametrize(
    ("capability", "release", "padding"),
    [
        ((9, 0), (0, 33), Padding(intermediate=64)),
        ((9, 0), (0, 25), Padding(inputs=128, intermediate=128)),
        ((9, 0), (0, 11), Padding(inputs=256, intermediate=128)),
        ((8, 0), (0, 33), Padding(inputs=256, intermediate=128)),
        ((10, 0), (0, 33), Padding(inputs=256, intermediate=128)),
    ],
)
def test_gpt_oss_runs_on_the_kernel_of_gpu_and_release(
    capability: tuple[int, int], release: tuple[int, int], padding: Padding
) -> None:
    assert gpt_oss_padding(Platform(capability=capability, release=release)) == padding


def quantized(section: dict[str, Any], model_type: str = "llama") -> Any:
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": model_type, "num_hidden_layers": 1,
        "quantization_config": section,
    }  # fmt: skip
    return read_quantization(read_config(config), Platform())


@pytest.mark.parametrize(
    ("section", "path", "expected"),
    [
        ({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.mlp"]}, "model.layers.0.mlp", None),
        ({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.mlp"]}, "model.layers.1.mlp", "fp8"),
        ({"quant_method": "awq", "bits": 4, "modules_to_not_convert": ["visual"]}, "visual.blocks.0.attn", None),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["model.layers.0.self_attn*"]},
         "language_model.model.layers.0.self_attn.q_proj", None),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}, "model.layers.0.mlp.up_proj", "NVFP4"),
        ({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
          "quantized_layers": {"model.layers.0.mlp.experts.0.up_proj": {"quant_algo": "NVFP4"}}}, "model.layers.0.mlp.experts", "NVFP4"),
    ],
)  # fmt: skip
def test_modules_are_left_unquantized_as_the_checkpoint_lists_them(
    section: dict[str, Any], path: str, expected: str | None
) -> None:
    kind = "experts" if path.endswith("experts") else "linear"
    scheme = quantized(section).scheme(path, kind)

    assert (scheme is None) == (expected is None)
    assert scheme is None or scheme.name.startswith(expected)


GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128}
RULES = {"-:.*self_attn.*": {}, "+:.*layers\\.0\\..*": {"bits": 8}}
LISTED = [["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], ["mlp.down_proj"]]


@pytest.mark.parametrize(
    ("more", "path", "kind", "expected"),
    [
        ({"dynamic": RULES}, "model.layers.0.self_attn.qkv_proj", "linear", None),
        ({"dynamic": RULES}, "model.layers.0.mlp.down_proj", "linear", "GPTQ, 8 bits"),
        ({"dynamic": RULES}, "model.layers.1.mlp.down_proj", "linear", "GPTQ, 4 bits"),
        ({"dynamic": {"-:.*mlp.gate.*": {}}}, "model.layers.1.mlp.experts", "experts", "GPTQ, 4 bits"),
        ({"modules_in_block_to_quantize": LISTED}, "model.layers.1.self_attn.qkv_proj", "linear", "GPTQ, 4 bits"),
        ({"modules_in_block_to_quantize": LISTED}, "model.layers.1.self_attn.o_proj", "linear", None),
        ({}, "lm_head", "lm_head", None),
        ({"lm_head": True}, "lm_head", "lm_head", "GPTQ, 4 bits"),
    ],
)
def test_rules_and_lists_of_gptq_name_what_is_stored_otherwise(
    more: dict[str, Any], path: str, kind: str, expected: str | None
) -> None:
    scheme = quantized({**GPTQ, **more}).scheme(path, kind)

    assert (None if scheme is None else scheme.name) == expected


def test_nvfp4_without_quantized_inputs_keeps_their_scale_in_16_bits() -> None:
    both = {"weights": {"num_bits": 4}, "input_activations": {"num_bits": 4}}
    section = {"quant_method": "modelopt", "quant_algo": "NVFP4"}
    path = "model.layers.0.mlp.down_proj"

    with_inputs, without = (
        quantized({**section, "config_groups": {"group_0": group}}).scheme(path, "linear").linear_bytes(MATRIX)
        for group in (both, {"weights": {"num_bits": 4}})
    )

    projections = 2
    assert with_inputs - without == projections * (FLOAT32 - HALF)


@pytest.mark.parametrize(("model_type", "is_quantized"), [("qwen3_moe", True), ("deepseek_v4", False)])
def test_experts_are_targeted_by_the_names_their_class_gives_projections(
    model_type: str, *, is_quantized: bool
) -> None:
    """DeepSeek V4's experts are w1, w2 and w3 to the engine, which a target that ends on gate_proj does not name."""
    weights = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}
    group = {"format": "nvfp4-pack-quantized", "targets": ["re:.*ffn.*(gate|up|down)_proj$"], "weights": weights}
    section = {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}}
    scheme = quantized(section, model_type).scheme("model.layers.3.ffn.experts", "experts")

    assert (scheme is not None) is is_quantized


@pytest.mark.parametrize(
    "section",
    [
        {"quant_method": "bitsandbytes"},
        {"quant_method": "gptq", "bits": 3},
        {"quant_method": "gptq", "bits": 4, "dynamic": {"+:.*mlp.*": {"bits": 3}}},
        {"quant_method": "gptq", "bits": 4, "dynamic": {"+:.*mlp.*": {"sym": False}}},
        {"quant_method": "gptq", "bits": 4, "dynamic": {"-:*": {}}},
        {"quant_method": "modelopt", "quant_algo": "W3A3"},
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"g": {"targets": ["Linear"], "weights": {"num_bits": 6}}},
        },
    ],
    ids=["method", "bits", "bits of a rule", "asymmetric rule", "damaged rule", "algorithm", "weights"],
)
def test_a_scheme_whose_bytes_are_not_known_is_refused_by_name(section: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        quantized(section)

    assert caught.value.errors[0].field.startswith("quantization_config.")
    assert "available_kv_cache_gib" in caught.value.errors[0].remedy


@pytest.mark.parametrize(("model_type", "same"), [("qwen3_moe", True), ("gpt_oss", False)])
def test_kernels_of_a_release_differ_for_gpt_oss_alone(model_type: str, *, same: bool) -> None:
    older, newer = (kernels_of(model_type, Platform(release=release)) for release in ((0, 19), (0, 20)))

    assert (older == newer) is same


def test_ampere_pads_as_hopper_does_and_blackwell_otherwise() -> None:
    ampere, hopper, blackwell = (kernels_of("qwen3_moe", Platform(capability=(major, 0))) for major in (8, 9, 10))

    assert ampere == hopper
    assert blackwell != hopper
