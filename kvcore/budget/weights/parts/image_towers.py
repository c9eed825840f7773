"""Towers of the other models that see: CLIP, Pixtral, Llama 4, and projectors."""

from kvcore.budget.weights.modules import Module, Vocabulary, linear, norm
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.gemma_towers import SIGLIP_DEFAULTS, siglip
from kvcore.budget.weights.parts.towers import VISION, Encoder, column_row, plain_tensor, tower_config, whole
from kvcore.config import ModelConfig

CLIP_DEFAULTS = {
    "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
    "image_size": 224, "patch_size": 32,
}  # fmt: skip
"""Hugging Face `CLIPVisionConfig`."""

PIXTRAL_DEFAULTS = {
    "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
    "image_size": 1024, "patch_size": 16,
}  # fmt: skip
"""Hugging Face `PixtralVisionConfig`."""


def feature_layers(config: ModelConfig, depth: int) -> int:
    """Layers the engine builds to reach the feature layer (vLLM 0.33.0 `get_num_selected_vision_tokens`, `init_vision_tower_for_llava`)."""
    chosen = config.root.get("vision_feature_layer", -1)
    layers = [layer if isinstance(layer, int) else -1 for layer in (chosen if isinstance(chosen, list) else [chosen])]
    return max(depth + layer + 1 if layer < 0 else layer for layer in layers)


def clip(tower: ModelConfig, prefix: str, *, layers: int, last_norm: bool = False) -> tuple[Module, ...]:
    """A CLIP tower (vLLM 0.33.0 `CLIPVisionTransformer`)."""
    width, patch = tower.hidden_size, size(tower, "patch_size")
    encoder = Encoder(
        prefix=f"{prefix}encoder.layers", depth=layers, hidden_size=width,
        intermediate_size=size(tower, "intermediate_size"), num_heads=tower.num_attention_heads,
    )  # fmt: skip
    positions = (size(tower, "image_size") // patch) ** 2 + 1
    modules: list[Module] = [
        plain_tensor(f"{prefix}embeddings", width + width * 3 * patch**2 + positions * width),
        norm(f"{prefix}pre_layrnorm", width, bias=True, group=VISION),
        *encoder.modules(),
    ]
    if last_norm:
        modules.append(norm(f"{prefix}post_layernorm", width, bias=True, group=VISION))
    return tuple(modules)


def unbuilt_clip_params(config: ModelConfig) -> int:
    """Published parameters of the layers behind the feature layer, and of the norm after them."""
    tower = tower_config(config, "vision_config", CLIP_DEFAULTS)
    width, wide, depth = tower.hidden_size, size(tower, "intermediate_size"), size(tower, "num_hidden_layers")
    layer = 4 * (width * width + width) + 2 * width * wide + wide + width + 4 * width
    return (depth - feature_layers(config, depth)) * layer + 2 * width


def llava_vision(config: ModelConfig) -> tuple[Module, ...]:
    """CLIP up to the feature layer and a projector of two layers (vLLM 0.33.0 `LlavaForConditionalGeneration`)."""
    tower = tower_config(config, "vision_config", CLIP_DEFAULTS)
    layers = feature_layers(config, size(tower, "num_hidden_layers"))
    hidden = config.hidden_size
    return (
        *clip(tower, "vision_tower.vision_model.", layers=layers),
        *column_row("multi_modal_projector.", tower.hidden_size, hidden, hidden, names=("linear_1", "linear_2")),
    )


def llava_next_vision(config: ModelConfig) -> tuple[Module, ...]:
    """As LLaVA, with a learned end of an image row."""
    return (plain_tensor("image_newline", config.hidden_size), *llava_vision(config))


def llava_onevision_vision(config: ModelConfig) -> tuple[Module, ...]:
    """SigLIP up to the feature layer and a projector (vLLM 0.33.0 `LlavaOnevisionForConditionalGeneration`)."""
    tower = tower_config(config, "vision_config", SIGLIP_DEFAULTS)
    depth = size(tower, "num_hidden_layers")
    hidden = config.hidden_size
    return (
        plain_tensor("image_newline", hidden),
        *siglip(tower, "vision_tower.vision_model.", layers=feature_layers(config, depth), last_norm=False),
        *column_row("multi_modal_projector.", tower.hidden_size, hidden, hidden, names=("linear_1", "linear_2")),
    )


def pixtral_vision(config: ModelConfig) -> tuple[Module, ...]:
    """Pixtral's tower and the patch merger of Mistral 3 (vLLM 0.33.0 `PixtralHFVisionModel`, `Mistral3MultiModalProjector`)."""
    tower = tower_config(config, "vision_config", PIXTRAL_DEFAULTS)
    width, hidden = tower.hidden_size, config.hidden_size
    merged = width * int(config.root.get("spatial_merge_size") or 2) ** 2
    encoder = Encoder(
        prefix="vision_tower.transformer.layers", depth=size(tower, "num_hidden_layers"), hidden_size=width,
        intermediate_size=size(tower, "intermediate_size"), num_heads=tower.num_attention_heads, attention="attention.",
        output="o_proj", mlp="feed_forward.", gated=True, bias=False, norm_bias=False,
    )  # fmt: skip
    bias = bool(config.root.get("multimodal_projector_bias", False))
    return (
        plain_tensor("vision_tower.patch_conv", width * 3 * size(tower, "patch_size") ** 2),
        norm("vision_tower.ln_pre", width, group=VISION),
        *encoder.modules(),
        norm("multi_modal_projector.norm", width, group=VISION),
        plain_tensor("multi_modal_projector.patch_merger", merged * width),
        *column_row("multi_modal_projector.", width, hidden, hidden, names=("linear_1", "linear_2"), bias=bias),
    )


def llama4_vision(config: ModelConfig) -> tuple[Module, ...]:
    """Llama 4's tower, whose patch embedding is divided too (vLLM 0.33.0 `Llama4VisionModel`)."""
    tower = tower_config(config, "vision_config")
    width, patch = tower.hidden_size, size(tower, "patch_size")
    positions = (size(tower, "image_size") // patch) ** 2 + 1
    shuffled = int(width // float(tower.get("pixel_shuffle_ratio", 0.5)) ** 2)
    encoder = Encoder(
        prefix="vision_model.model.layers", depth=size(tower, "num_hidden_layers"), hidden_size=width,
        intermediate_size=size(tower, "intermediate_size"), num_heads=tower.num_attention_heads, output="o_proj",
        quantizable=False,
    )  # fmt: skip
    projected = size(tower, "projector_output_dim")
    adapter = column_row(
        "vision_model.vision_adapter.mlp.", shuffled, size(tower, "projector_input_dim"), projected, bias=False,
        names=("fc1", "fc2"), quantizable=False,
    )  # fmt: skip
    return (
        plain_tensor("vision_model.positions", width + positions * width),
        linear("vision_model.patch_embedding.linear", VISION, 3 * patch**2, width, quantizable=False),
        norm("vision_model.norms", 2 * width, bias=True, group=VISION),
        *encoder.modules(),
        *adapter,
        linear("multi_modal_projector.linear_1", VISION, projected, config.hidden_size, quantizable=False),
    )


def idefics3_vision(config: ModelConfig) -> tuple[Module, ...]:
    """SigLIP and a projection after pixel shuffling (vLLM 0.33.0 `Idefics3Model`)."""
    tower = tower_config(config, "vision_config", SIGLIP_DEFAULTS)
    shuffled = tower.hidden_size * int(config.root.get("scale_factor") or 2) ** 2
    return (
        *siglip(tower, "model.vision_model."),
        whole("model.connector.modality_projection.proj", shuffled, config.hidden_size, bias=False),
    )


def siglip2(tower: ModelConfig, prefix: str, *, layers: int, last_norm: bool) -> tuple[Module, ...]:
    """A SigLIP 2 tower, whose patches come ready cut (vLLM 0.33.0 `Siglip2VisionTransformer`)."""
    width = tower.hidden_size
    encoder = Encoder(
        prefix=f"{prefix}encoder.layers", depth=layers, hidden_size=width,
        intermediate_size=size(tower, "intermediate_size"), num_heads=tower.num_attention_heads,
    )  # fmt: skip
    modules: list[Module] = [
        plain_tensor(
            f"{prefix}embeddings",
            width * 3 * size(tower, "patch_size") ** 2 + width + tower.integer("num_patches", 256) * width,
        ),
        *encoder.modules(),
    ]
    if last_norm:
        modules.append(norm(f"{prefix}post_layernorm", width, bias=True, group=VISION))
    return tuple(modules)


def lfm2_vision(config: ModelConfig) -> tuple[Module, ...]:
    """SigLIP 2 and a projector after pixel unshuffling (vLLM 0.33.0 `Lfm2VLForConditionalGeneration`)."""
    tower = tower_config(config, "vision_config", SIGLIP_DEFAULTS)
    depth = size(tower, "num_hidden_layers")
    layers = feature_layers(config, depth)
    merged = tower.hidden_size * int(config.root.get("downsample_factor") or 2) ** 2
    between = int(config.root.get("projector_hidden_size") or 2560)
    modules: list[Module] = [*siglip2(tower, "vision_tower.vision_model.", layers=layers, last_norm=layers == depth)]
    if config.root.get("projector_use_layernorm", True):
        modules.append(norm("multi_modal_projector.layer_norm", merged, bias=True, group=VISION))
    names = ("linear_1", "linear_2")
    bias = bool(config.root.get("projector_bias", True))
    return (
        *modules,
        *column_row("multi_modal_projector.", merged, between, config.hidden_size, names=names, bias=bias, split=False),
    )


def phi3_vision(config: ModelConfig) -> tuple[Module, ...]:
    """CLIP ViT-L/14 at 336 pixels, a projector, and an embedding of its own (vLLM 0.33.0 `Phi3VForCausalLM`)."""
    tower = tower_config(config, "img_processor", {
        "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 336, "patch_size": 14,
    })  # fmt: skip
    hidden = config.hidden_size
    image_dim = size(tower, "image_dim_out")
    prefix = "vision_embed_tokens."
    return (
        Vocabulary(
            name="embed_tokens", group="embedding", rows=config.integer("vocab_size"), width=hidden, counted=False
        ),
        plain_tensor(f"{prefix}separators", 2 * 4 * image_dim),
        *clip(tower, f"{prefix}img_processor.vision_model.", layers=size(tower, "num_hidden_layers") - 1),
        *column_row(f"{prefix}img_projection.", 4 * image_dim, hidden, hidden, names=("0", "2"), split=False),
    )


def phi4_siglip_vision(config: ModelConfig) -> tuple[Module, ...]:
    """SigLIP 2 up to the last layer but one, and a projector (vLLM 0.33.0 `Phi4ForCausalLMV`)."""
    tower = tower_config(config, "vision_config", SIGLIP_DEFAULTS)
    hidden = config.hidden_size
    return (
        *siglip2(tower, "vision_tower.vision_model.", layers=size(tower, "num_hidden_layers") - 1, last_norm=False),
        *column_row("multi_modal_projector.", tower.hidden_size, hidden, hidden, names=("linear_1", "linear_2")),
    )
