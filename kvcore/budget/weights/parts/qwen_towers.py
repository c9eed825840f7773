"""Towers of the Qwen families."""

from kvcore.budget.weights.modules import Module
from kvcore.budget.weights.parts.facts import size
from kvcore.budget.weights.parts.towers import Encoder, column_row, plain_tensor, tower_config
from kvcore.config import ModelConfig

QWEN3_DEFAULTS = {
    "depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16, "in_channels": 3, "patch_size": 16,
    "temporal_patch_size": 2, "spatial_merge_size": 2, "out_hidden_size": 3584, "num_position_embeddings": 2304,
    "deepstack_visual_indexes": [8, 16, 24],
}  # fmt: skip
"""Hugging Face `Qwen3VLVisionConfig`."""

QWEN2_DEFAULTS = {
    "depth": 32, "embed_dim": 1280, "hidden_size": 3584, "mlp_ratio": 4, "num_heads": 16, "in_channels": 3,
    "patch_size": 14, "temporal_patch_size": 2, "spatial_merge_size": 2,
}  # fmt: skip
"""Hugging Face `Qwen2VLVisionConfig`."""

QWEN2_5_DEFAULTS = {
    "depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "in_channels": 3, "patch_size": 14,
    "temporal_patch_size": 2, "spatial_merge_size": 2, "out_hidden_size": 3584,
}  # fmt: skip
"""Hugging Face `Qwen2_5_VLVisionConfig`."""


def _patch_inputs(tower: ModelConfig) -> int:
    channels = size(tower, "in_channels|in_chans")
    return channels * size(tower, "temporal_patch_size") * size(tower, "patch_size") ** 2


def qwen3_vision(config: ModelConfig, *, deepstack: bool = True, prefix: str = "visual.") -> tuple[Module, ...]:
    """The tower of Qwen3-VL, and of Qwen3.5 without deepstack mergers (vLLM 0.33.0 `Qwen3_VisionTransformer`)."""
    tower = tower_config(config, "vision_config", QWEN3_DEFAULTS)
    width = tower.hidden_size
    merged = width * size(tower, "spatial_merge_size") ** 2
    out = size(tower, "out_hidden_size")
    encoder = Encoder(
        prefix=f"{prefix}blocks", depth=size(tower, "depth"), hidden_size=width, intermediate_size=size(tower, "intermediate_size"),
        num_heads=size(tower, "num_heads"), attention="attn.", qkv="qkv", output="proj", mlp_names=("linear_fc1", "linear_fc2"),
    )  # fmt: skip
    modules: list[Module] = [
        plain_tensor(f"{prefix}patch_embed", width * _patch_inputs(tower) + width),
        plain_tensor(f"{prefix}pos_embed", size(tower, "num_position_embeddings") * width),
        *encoder.modules(),
        plain_tensor(f"{prefix}merger.norm", 2 * width),
        *column_row(f"{prefix}merger.", merged, merged, out),
    ]
    for index, _ in enumerate((tower.sequence("deepstack_visual_indexes") or ()) if deepstack else ()):
        path = f"{prefix}deepstack_merger_list.{index}."
        modules += [plain_tensor(f"{path}norm", 2 * merged), *column_row(path, merged, merged, out)]
    return tuple(modules)


def qwen3_5_vision(config: ModelConfig) -> tuple[Module, ...]:
    """The tower of Qwen3.5 and later, which has no deepstack mergers."""
    return qwen3_vision(config, deepstack=False)


def qwen2_vision(config: ModelConfig) -> tuple[Module, ...]:
    """The tower of Qwen2-VL (vLLM 0.33.0 `Qwen2VisionTransformer`)."""
    tower = tower_config(config, "vision_config", QWEN2_DEFAULTS)
    width, out = size(tower, "embed_dim"), config.hidden_size
    merged = width * size(tower, "spatial_merge_size") ** 2
    encoder = Encoder(
        prefix="visual.blocks", depth=size(tower, "depth"), hidden_size=width, intermediate_size=int(width * tower.get("mlp_ratio")),
        num_heads=size(tower, "num_heads"), attention="attn.", qkv="qkv", output="proj",
    )  # fmt: skip
    return (
        plain_tensor("visual.patch_embed", width * _patch_inputs(tower)),
        *encoder.modules(),
        plain_tensor("visual.merger.ln_q", 2 * width),
        *column_row("visual.merger.", merged, merged, out, names=("mlp.0", "mlp.2")),
    )


def qwen2_5_vision(config: ModelConfig, key: str = "vision_config") -> tuple[Module, ...]:
    """The tower of Qwen2.5-VL (vLLM 0.33.0 `Qwen2_5_VisionTransformer`)."""
    tower = tower_config(config, key, QWEN2_5_DEFAULTS)
    width = tower.hidden_size
    merged = width * size(tower, "spatial_merge_size") ** 2
    encoder = Encoder(
        prefix="visual.blocks", depth=size(tower, "depth"), hidden_size=width, intermediate_size=size(tower, "intermediate_size"),
        num_heads=size(tower, "num_heads"), attention="attn.", qkv="qkv", output="proj", gated=True, norm_bias=False,
    )  # fmt: skip
    return (
        plain_tensor("visual.patch_embed", width * _patch_inputs(tower)),
        *encoder.modules(),
        plain_tensor("visual.merger.ln_q", width),
        *column_row("visual.merger.", merged, merged, size(tower, "out_hidden_size"), names=("mlp.0", "mlp.2")),
    )


def omni_vision(config: ModelConfig) -> tuple[Module, ...]:
    """The tower of Qwen2.5-Omni, which stands in the thinker's section."""
    return qwen2_5_vision(config, "thinker_config.vision_config")


def mimo_vision(config: ModelConfig) -> tuple[Module, ...]:
    """The tower of MiMo V2 Omni: Qwen2.5's with grouped heads and sinks (vLLM 0.33.0 `MiMoVisionTransformer`)."""
    tower = tower_config(config, "vision_config", QWEN2_5_DEFAULTS)
    width, heads, depth = tower.hidden_size, size(tower, "num_heads"), size(tower, "depth")
    merged = width * size(tower, "spatial_merge_size") ** 2
    encoder = Encoder(
        prefix="visual.blocks", depth=depth, hidden_size=width, intermediate_size=size(tower, "intermediate_size"),
        num_heads=heads, head_dim=tower.integer("qk_channels", 64), num_kv_heads=size(tower, "num_key_value_heads"),
        attention="attn.", qkv="qkv", output="proj", gated=True, norm_bias=False, quantizable=False,
    )  # fmt: skip
    full = len(tower.sequence("fullatt_block_indexes") or ())
    return (
        plain_tensor("visual.patch_embed", width * _patch_inputs(tower)),
        *encoder.modules(),
        plain_tensor("visual.sinks", (depth - full) * heads if tower.get("use_sink") else 0),
        plain_tensor("visual.merger.ln_q", width),
        *column_row("visual.merger.", merged, merged, size(tower, "out_hidden_size"), names=("mlp.0", "mlp.2"), bias=False,
                    quantizable=False),
    )  # fmt: skip
