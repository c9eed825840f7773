"""Layers that keep a state per request: Mamba, gated delta nets, short convolutions."""

from kvcore.budget.weights.modules import Linear, Module, Output, Parameter, linear
from kvcore.budget.weights.parts.facts import LayerBlock, size
from kvcore.config import ModelConfig

GROUP = "state"


def heads_vector(name: str, heads: int, dtype: str | None = None) -> Parameter:
    """One number per head, divided over ranks."""
    return Parameter(name=name, group=GROUP, size=heads, split=True, dtype=dtype)


def gated_delta_net(*, prefix: str = "linear_attn.") -> LayerBlock:
    """Gated delta net of Qwen3-Next and later (vLLM 0.33.0 `Qwen3NextGatedDeltaNet`)."""

    def build(config: ModelConfig, index: int) -> tuple[Module, ...]:
        hidden = config.hidden_size
        key_heads, value_heads = size(config, "linear_num_key_heads"), size(config, "linear_num_value_heads")
        keys = key_heads * size(config, "linear_key_head_dim")
        value_dim = size(config, "linear_value_head_dim")
        values = value_heads * value_dim
        kernel = size(config, "linear_conv_kernel_dim")
        return (
            Linear(
                name=f"{prefix}in_proj_qkvz", group=GROUP, inputs=hidden,
                outputs=(
                    Output(name="in_proj_qkv", size=keys), Output(name="in_proj_qkv", size=keys),
                    Output(name="in_proj_qkv", size=values), Output(name="in_proj_z", size=values),
                ),
            ),
            Linear(
                name=f"{prefix}in_proj_ba", group=GROUP, inputs=hidden,
                outputs=(Output(name="in_proj_b", size=value_heads), Output(name="in_proj_a", size=value_heads)),
            ),
            Parameter(name=f"{prefix}conv1d", group=GROUP, size=(2 * keys + values) * kernel, split=True),
            heads_vector(f"{prefix}dt_bias", value_heads),
            heads_vector(f"{prefix}A_log", value_heads, "float32"),
            Parameter(name=f"{prefix}norm", group=GROUP, size=value_dim),
            linear(f"{prefix}out_proj", GROUP, values, hidden, split="row"),
        )  # fmt: skip

    return build


def short_convolution(*, prefix: str = "short_conv.") -> LayerBlock:
    """Short convolution of LFM2 (vLLM 0.33.0 `ShortConv`)."""

    def build(config: ModelConfig, index: int) -> tuple[Module, ...]:
        hidden = config.hidden_size
        width = size(config, (config.get("conv_dim") and "conv_dim") or hidden)
        bias = bool(config.get("conv_bias"))
        kernel = size(config, "conv_L_cache")
        return (
            Parameter(name=f"{prefix}conv", group=GROUP, size=width * kernel + (width if bias else 0), split=True),
            linear(f"{prefix}in_proj", GROUP, hidden, (width, width, width), bias=bias),
            linear(f"{prefix}out_proj", GROUP, width, hidden, split="row", bias=bias),
        )

    return build
