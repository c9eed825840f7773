"""Further towers that see: InternVL, Command A Vision, PaliGemma, LLaVA-NeXT-Video, PaddleOCR-VL."""

from kvcore.budget.weights.modules import Module, linear, norm
from kvcore.budget.weights.parts.facts import flag, size
from kvcore.budget.weights.parts.feed_forward import plain_layers
from kvcore.budget.weights.parts.gemma_towers import SIGLIP_DEFAULTS, siglip
from kvcore.budget.weights.parts.image_towers import llava_vision
from kvcore.budget.weights.parts.towers import VISION, plain_tensor, tower_config
from kvcore.config import ModelConfig

INTERN_DEFAULTS = {
    "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "image_size": [448, 448],
    "patch_size": [14, 14], "num_channels": 3, "norm_type": "layer_norm", "use_absolute_position_embeddings": True,
    "use_mean_pooling": True,
}  # fmt: skip
"""Hugging Face `InternVLVisionConfig`."""


def _side(value: object) -> int:
    return int(value[0]) if isinstance(value, list | tuple) else int(str(value))


def intern_vision(config: ModelConfig) -> tuple[Module, ...]:
    """InternViT, whose attention stands on every rank, and its projector (vLLM 0.33.0 `InternS1VisionModel`)."""
    tower = tower_config(config, "vision_config", INTERN_DEFAULTS)
    width, depth, wide = tower.hidden_size, size(tower, "num_hidden_layers"), size(tower, "intermediate_size")
    patch, image = _side(tower.get("patch_size")), _side(tower.get("image_size"))
    bias = 1 if flag(tower, "attention_bias") else 0
    per_norm = 2 if tower.get("norm_type") == "layer_norm" else 1
    attention = 4 * width * width + 3 * bias * width + width + (2 * width if flag(tower, "use_qk_norm") else 0)
    tokens = 1 + (1 if flag(tower, "use_mask_token") else 0)
    positions = (image // patch) ** 2 + 1 if flag(tower, "use_absolute_position_embeddings") else 0
    modules: list[Module] = [
        plain_tensor("vision_tower.embeddings", (tokens + positions) * width + width * 3 * patch**2 + width),
        plain_tensor("vision_tower.encoder.attention", depth * (attention + 2 * width + 2 * per_norm * width)),
    ]
    for index in range(depth):
        modules += plain_layers(
            f"vision_tower.encoder.layer.{index}.mlp.", width, wide, bias=True, group=VISION, names=("fc1", "fc2")
        )
    if not flag(tower, "use_mean_pooling"):
        modules.append(norm("vision_tower.layernorm", width, bias=True, group=VISION))
    merged = width * int(1 / float(config.root.get("downsample_ratio") or 0.5)) ** 2
    hidden = config.hidden_size
    projector = 2 * merged + merged * hidden + hidden + hidden * hidden + hidden
    return (*modules, plain_tensor("multi_modal_projector", projector))


def cohere2_vision(config: ModelConfig) -> tuple[Module, ...]:
    """SigLIP and a gated projector (vLLM 0.33.0 `Cohere2VisionMultiModalProjector`)."""
    tower = tower_config(config, "vision_config", SIGLIP_DEFAULTS)
    merged = tower.hidden_size * int(config.root.get("downsample_factor") or 2) ** 2
    between = int(config.root.get("alignment_intermediate_size") or 36_864) // 2
    gated = {"gate": between, "up": between}
    return (
        *siglip(tower, "vision_tower.vision_model."),
        linear("multi_modal_projector.linear_1", VISION, merged, gated, bias=True),
        linear("multi_modal_projector.linear_2", VISION, between, config.hidden_size, split="row", bias=True),
    )


def llava_next_video_vision(config: ModelConfig) -> tuple[Module, ...]:
    """CLIP up to the feature layer, and a projector on every rank (vLLM 0.33.0 `LlavaNextMultiModalProjector`)."""
    *tower, first, second = llava_vision(config)
    return (*tower, plain_tensor("multi_modal_projector", first.params + second.params))


def paddle_vision(config: ModelConfig) -> tuple[Module, ...]:
    """SigLIP and a projector over merged patches, on every rank (vLLM 0.33.0 `SiglipVisionModel`, `Projector`)."""
    tower = tower_config(config, "vision_config", SIGLIP_DEFAULTS)
    width, hidden = tower.hidden_size, config.hidden_size
    merged = width * int(tower.get("spatial_merge_size") or 2) ** 2
    projector = 2 * width + merged * merged + merged + merged * hidden + hidden
    return (*siglip(tower, "visual.vision_model."), plain_tensor("mlp_AR", projector))


def paligemma_vision(config: ModelConfig) -> tuple[Module, ...]:
    """SigLIP and a linear projector on every rank (vLLM 0.33.0 `PaliGemmaMultiModalProjector`)."""
    tower = tower_config(config, "vision_config", SIGLIP_DEFAULTS)
    out = int(tower.get("projection_dim") or config.root.get("projection_dim") or config.hidden_size)
    return (
        *siglip(tower, "vision_tower.vision_model."),
        plain_tensor("multi_modal_projector", tower.hidden_size * out + out),
    )
