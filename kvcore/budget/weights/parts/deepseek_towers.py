"""Towers of DeepSeek-OCR: SAM, then CLIP or a small Qwen2."""

from kvcore.budget.weights.modules import Module, norm
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.towers import VISION, Encoder, plain_tensor, tower_config
from kvcore.config import ModelConfig

SAM_DEPTH, SAM_WIDTH, SAM_HEADS, SAM_OUT = 12, 768, 12, 256
SAM_PATCH, SAM_GRID = 16, 64
SAM_WINDOW, SAM_GLOBAL_LAYERS = 14, 4
"""Sizes vLLM 0.33.0 `build_sam_vit_b` fixes, whatever the config says."""

CLIP_DEPTH, CLIP_WIDTH, CLIP_HEADS, CLIP_PATCH, CLIP_POSITIONS = 24, 1024, 16, 14, 257
"""vLLM 0.33.0 `DeepCLIPVisionTransformer` as `DeepseekOCRForCausalLM` builds it."""

QWEN_DEPTH, QWEN_WIDTH, QWEN_KV_WIDTH, QWEN_INTERMEDIATE, QWEN_QUERIES = 24, 896, 128, 4864, 144 + 256
"""vLLM 0.33.0 `build_qwen2_decoder_as_encoder`."""

KERNEL = 3
SAM_BETWEEN = 512
"""Channels after the first of the two convolutions that shrink the image (`ImageEncoderViT.net_2`)."""


def sam(out: int) -> tuple[Module, ...]:
    """SAM's tower with two convolutions behind it, whole on every rank (vLLM 0.33.0 `ImageEncoderViT`)."""
    width, head = SAM_WIDTH, SAM_WIDTH // SAM_HEADS
    layer = 4 * (width * width + width) + 2 * 4 * width * width + 5 * width + 4 * width
    windowed, whole = (2 * (2 * side - 1) * head for side in (SAM_WINDOW, SAM_GRID))
    relative = (SAM_DEPTH - SAM_GLOBAL_LAYERS) * windowed + SAM_GLOBAL_LAYERS * whole
    neck = width * SAM_OUT + SAM_OUT * SAM_OUT * KERNEL**2 + 2 * 2 * SAM_OUT
    shrinking = (SAM_OUT * SAM_BETWEEN + SAM_BETWEEN * out) * KERNEL**2
    return (
        plain_tensor("sam_model.embed", SAM_GRID**2 * width + width * 3 * SAM_PATCH**2 + width),
        plain_tensor("sam_model.blocks", SAM_DEPTH * layer + relative),
        plain_tensor("sam_model.neck", neck + shrinking),
    )


def _projector(config: ModelConfig) -> Module:
    projector = tower_config(config, "projector_config")
    out = size(projector, "n_embed")
    return plain_tensor("projector", size(projector, "input_dim") * out + out)


def view_separator(config: ModelConfig) -> tuple[Module, ...]:
    """A vector between views, on every stage."""
    return (plain_tensor("view_seperator", size(tower_config(config, "projector_config"), "n_embed")),)


def row_separators(config: ModelConfig) -> tuple[Module, ...]:
    """A vector between rows of an image too."""
    return (*view_separator(config), plain_tensor("image_newline", view_separator(config)[0].params))


def deepseek_ocr_vision(config: ModelConfig) -> tuple[Module, ...]:
    """SAM, CLIP and a projector (vLLM 0.33.0 `DeepseekOCRForCausalLM`)."""
    width = CLIP_WIDTH
    encoder = Encoder(
        prefix="vision_model.transformer.layers", depth=CLIP_DEPTH, hidden_size=width, intermediate_size=4 * width,
        num_heads=CLIP_HEADS,
    )  # fmt: skip
    return (
        *sam(CLIP_WIDTH),
        plain_tensor("vision_model.embeddings", width + width * 3 * CLIP_PATCH**2 + CLIP_POSITIONS * width),
        norm("vision_model.pre_layrnorm", width, bias=True, group=VISION),
        *encoder.modules(),
        _projector(config),
    )


def deepseek_ocr2_vision(config: ModelConfig) -> tuple[Module, ...]:
    """SAM, a Qwen2 without embedding that reads learned queries, and a projector (vLLM 0.33.0 `DeepseekOCR2ForCausalLM`)."""
    width, keys = QWEN_WIDTH, QWEN_KV_WIDTH
    attention = 2 * width * width + width + 2 * (width * keys + keys)
    layer = attention + 3 * width * QWEN_INTERMEDIATE + 2 * width
    return (
        *sam(QWEN_WIDTH),
        plain_tensor("qwen2_model.layers", QWEN_DEPTH * layer + width),
        plain_tensor("qwen2_model.queries", QWEN_QUERIES * width),
        _projector(config),
    )
