"""Towers of the GLM families before GLM-5."""

from kvcore.budget.weights.modules import Module, linear, norm
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.feed_forward import gated_layers
from kvcore.budget.weights.parts.towers import VISION, Encoder, plain_tensor, tower_config
from kvcore.config import ModelConfig

GLM4V_DEFAULTS = {
    "depth": 24, "hidden_size": 1536, "num_heads": 12, "in_channels": 3, "image_size": 336, "patch_size": 14,
    "temporal_patch_size": 2, "spatial_merge_size": 2, "out_hidden_size": 4096, "intermediate_size": 13_696,
}  # fmt: skip
"""Hugging Face `Glm4vVisionConfig`."""

GLM_OCR_DEFAULTS = {
    "depth": 24, "hidden_size": 1024, "num_heads": 16, "in_channels": 3, "patch_size": 14, "temporal_patch_size": 2,
    "spatial_merge_size": 2, "out_hidden_size": 1536, "intermediate_size": 4096,
}  # fmt: skip
"""Hugging Face `GlmOcrVisionConfig`."""


def _ends(tower: ModelConfig, merged: int) -> tuple[Module, ...]:
    """Patches, downsampling and the merger, whose gated layer has a width of ``merged``."""
    width, out = tower.hidden_size, size(tower, "out_hidden_size")
    patch = size(tower, "in_channels") * size(tower, "temporal_patch_size") * size(tower, "patch_size") ** 2
    return (
        plain_tensor("visual.patch_embed", width * patch + width),
        norm("visual.post_layernorm", width, group=VISION),
        plain_tensor("visual.downsample", out * width * size(tower, "spatial_merge_size") ** 2 + out),
        linear("visual.merger.proj", VISION, out, out),
        norm("visual.merger.post_projection_norm", out, bias=True, group=VISION),
        *gated_layers("visual.merger.", out, merged, group=VISION),
    )


def glm4v_vision(config: ModelConfig) -> tuple[Module, ...]:
    """The tower of GLM-4.1V and 4.5V (vLLM 0.33.0 `Glm4vVisionTransformer`)."""
    tower = tower_config(config, "vision_config", GLM4V_DEFAULTS)
    width = tower.hidden_size
    encoder = Encoder(
        prefix="visual.blocks", depth=size(tower, "depth"), hidden_size=width,
        intermediate_size=size(tower, "out_hidden_size"), num_heads=size(tower, "num_heads"), attention="attn.",
        qkv="qkv", output="proj", gated=True, bias=False, norm_bias=False,
    )  # fmt: skip
    positions = (size(tower, "image_size") // size(tower, "patch_size")) ** 2
    return (
        plain_tensor("visual.embeddings", positions * width),
        norm("visual.post_conv_layernorm", width, group=VISION),
        *encoder.modules(),
        *_ends(tower, size(tower, "intermediate_size")),
    )


def glm_ocr_vision(config: ModelConfig) -> tuple[Module, ...]:
    """The tower of GLM-OCR, which merges in the language model's width (vLLM 0.33.0 `GlmOcrVisionTransformer`)."""
    tower = tower_config(config, "vision_config", GLM_OCR_DEFAULTS)
    encoder = Encoder(
        prefix="visual.blocks", depth=size(tower, "depth"), hidden_size=tower.hidden_size,
        intermediate_size=size(tower, "intermediate_size"), num_heads=size(tower, "num_heads"), attention="attn.",
        qkv="qkv", output="proj", gated=True, norm_bias=False, qk_norms=True,
    )  # fmt: skip
    return (*encoder.modules(), *_ends(tower, config.integer("intermediate_size")))
