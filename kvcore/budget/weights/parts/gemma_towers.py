"""Towers of the Gemma families."""

from kvcore.budget.weights.modules import Module, linear, norm
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.towers import AUDIO, VISION, Encoder, plain_tensor, tower_config, whole
from kvcore.config import ModelConfig

SIGLIP_DEFAULTS = {
    "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "num_channels": 3,
    "image_size": 224, "patch_size": 16,
}  # fmt: skip
"""Hugging Face `SiglipVisionConfig`."""

GEMMA4_DEFAULTS = {"position_embedding_size": 10_240, "num_channels": 3}
GEMMA4_AUDIO_CONV_KERNEL = 5


def siglip(tower: ModelConfig, prefix: str, *, layers: int | None = None, last_norm: bool = True) -> tuple[Module, ...]:
    """A SigLIP tower (vLLM 0.33.0 `SiglipVisionTransformer`).

    Args:
        tower: The tower's section.
        prefix: Path of the vision model.
        layers: Layers the engine builds, where it leaves the last ones out.
        last_norm: Whether a norm follows the last layer.
    """
    width, patch = tower.hidden_size, size(tower, "patch_size")
    encoder = Encoder(
        prefix=f"{prefix}encoder.layers",
        depth=layers if layers is not None else size(tower, "num_hidden_layers"),
        hidden_size=width,
        intermediate_size=size(tower, "intermediate_size"),
        num_heads=tower.num_attention_heads,
    )
    positions = (size(tower, "image_size") // patch) ** 2
    modules: list[Module] = [
        plain_tensor(f"{prefix}embeddings.patch_embedding", width * 3 * patch**2 + width),
        plain_tensor(f"{prefix}embeddings.position_embedding", positions * width),
        *encoder.modules(),
    ]
    if last_norm:
        modules.append(norm(f"{prefix}post_layernorm", width, bias=True, group=VISION))
    return tuple(modules)


def gemma3_vision(config: ModelConfig) -> tuple[Module, ...]:
    """SigLIP and a projection, on every rank (vLLM 0.33.0 `Gemma3MultiModalProjector`)."""
    tower = tower_config(config, "vision_config", SIGLIP_DEFAULTS)
    return (
        *siglip(tower, "vision_tower.vision_model."),
        plain_tensor("multi_modal_projector.mm_input_projection_weight", tower.hidden_size * config.hidden_size),
        plain_tensor("multi_modal_projector.mm_soft_emb_norm", tower.hidden_size),
    )


def gemma4_vision(config: ModelConfig) -> tuple[Module, ...]:
    """The tower of Gemma 4, whole on every rank (Hugging Face `Gemma4VisionModel`, which vLLM 0.33.0 loads as it is)."""
    tower = tower_config(config, "vision_config", GEMMA4_DEFAULTS)
    width, depth, heads = tower.hidden_size, size(tower, "num_hidden_layers"), tower.num_attention_heads
    attention = 4 * width * heads * tower.head_dim + 2 * tower.head_dim
    layer = attention + 3 * width * size(tower, "intermediate_size") + 4 * width
    return (
        plain_tensor("vision_tower.position_embedding_table", 2 * size(tower, "position_embedding_size") * width),
        plain_tensor("vision_tower.patch_embedder.input_proj", width * 3 * size(tower, "patch_size") ** 2),
        plain_tensor("vision_tower.encoder.layers", depth * layer),
        whole("embed_vision.embedding_projection", width, config.hidden_size, bias=False),
    )


def gemma4_audio(config: ModelConfig) -> tuple[Module, ...]:
    """The conformer of the Gemma 4 models that hear, whole on every rank; nothing where there is none."""
    if not isinstance(config.root.get("audio_config"), dict):
        return ()
    tower = tower_config(
        config, "audio_config", {"hidden_size": 1024, "num_hidden_layers": 12, "subsampling_conv_channels": [128, 32],
                                 "output_proj_dims": 1536, "num_attention_heads": 8},
    )  # fmt: skip
    width, depth = tower.hidden_size, size(tower, "num_hidden_layers")
    channels = tower.sequence("subsampling_conv_channels") or (128, 32)
    first, second = int(channels[0]), int(channels[1])
    kernel = int(tower.get("conv_kernel_size") or GEMMA4_AUDIO_CONV_KERNEL)
    head_dim = width // tower.num_attention_heads
    feed_forward = 2 * (2 * 4 * width * width + 2 * width)
    attention = 5 * width * width + head_dim
    convolution = 3 * width * width + width * kernel + 2 * width
    layer = feed_forward + attention + convolution + 3 * width
    out = size(tower, "output_proj_dims")
    subsampling = first * 9 + first + second * first * 9 + second + width * width
    return (
        plain_tensor("audio_tower.subsample_conv_projection", subsampling, group=AUDIO),
        plain_tensor("audio_tower.layers", depth * layer, group=AUDIO),
        whole("audio_tower.output_proj", width, out, group=AUDIO),
        whole("embed_audio.embedding_projection", out, config.hidden_size, bias=False, group=AUDIO),
    )


def gemma4_unified_embedders(config: ModelConfig) -> tuple[Module, ...]:
    """Embedders of the Gemma 4 that reads pixels and sound without towers (vLLM 0.33.0 `Gemma4UnifiedForConditionalGeneration`)."""
    vision, audio = tower_config(config, "vision_config"), tower_config(config, "audio_config")
    width = size(vision, "mm_embed_dim")
    pixels = 3 * size(vision, "model_patch_size") ** 2
    positions = 2 * size(vision, "mm_posemb_size") * width
    return (
        plain_tensor("vision_embedder", positions + 2 * pixels + 4 * width),
        linear("vision_embedder.patch_dense", VISION, pixels, width, bias=True),
        whole("embed_vision.embedding_projection", size(vision, "output_proj_dims"), config.hidden_size, bias=False),
        whole(
            "embed_audio.embedding_projection",
            size(audio, "audio_embed_dim"),
            config.hidden_size,
            bias=False,
            group=AUDIO,
        ),
    )
