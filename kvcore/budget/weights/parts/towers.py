"""Vision and audio towers: encoders whose layers ranks divide as they divide the language model's.

The engine shares a tower's layers over the tensor-parallel ranks unless told otherwise (vLLM 0.33.0
`MultiModalConfig.mm_encoder_tp_mode`, "weights"); patch embeddings, positions and norms stand on every rank.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvcore.budget.weights.modules import Linear, Module, Output, Parameter, linear, norm
from kvcore.budget.weights.parts.feed_forward import gated_layers, plain_layers
from kvcore.config import ModelConfig
from kvcore.errors import config_error

VISION = "vision"
AUDIO = "audio"


def tower_config(config: ModelConfig, key: str, defaults: Mapping[str, Any] | None = None) -> ModelConfig:
    """A tower's own section as a configuration.

    Args:
        config: The checkpoint.
        key: Where the section stands, ``vision_config`` for example.
        defaults: Values of the configuration class for keys the section leaves out.

    Raises:
        ConfigError: There is no such section.
    """
    section = config.root
    for part in key.split("."):
        nested = section.get(part)
        if not isinstance(nested, Mapping):
            raise config_error(key, nested, "the tower's section is expected", "Give the config.json unchanged.")
        section = nested
    text = {**(defaults or {}), **{name: value for name, value in section.items() if value is not None}}
    return ModelConfig(root=config.root, text=text, text_path=key, architecture="", model_type="", num_hidden_layers=0)


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """Layers of a tower.

    Attributes:
        prefix: Path of the layers.
        depth: Number of layers.
        hidden_size: Width.
        intermediate_size: Width of the feed-forward layers.
        num_heads: Attention heads.
        head_dim: Size of one head; None: hidden_size // num_heads.
        num_kv_heads: Key/value heads; None: as num_heads.
        group: ``vision`` or ``audio``.
        attention: Path of the attention module in a layer.
        qkv: Name of the fused projection.
        output: Name of the output projection.
        mlp: Path of the feed-forward module in a layer.
        mlp_names: Names of its projections.
        gated: Whether the feed-forward layer has a gate.
        bias: Whether projections have biases.
        output_bias: The output projection's bias; None: as ``bias``.
        mlp_bias: The feed-forward layer's biases; None: as ``bias``.
        norms: Norms per layer, each of the residual width.
        norm_bias: Whether norms have biases.
        qk_norms: Whether queries and keys are normalized per head.
        split: Whether ranks divide the layers.
        quantizable: Whether the engine builds the tower with the checkpoint's quantization scheme.
        only_whole_heads: Whether every rank holds the layers whole where the ranks do not divide the heads (vLLM 0.33.0
            `is_vit_use_data_parallel`).
    """

    prefix: str
    depth: int
    hidden_size: int
    intermediate_size: int
    num_heads: int
    head_dim: int | None = None
    num_kv_heads: int | None = None
    group: str = VISION
    attention: str = "self_attn."
    qkv: str = "qkv_proj"
    output: str = "out_proj"
    mlp: str = "mlp."
    mlp_names: tuple[str, ...] = ("fc1", "fc2")
    gated: bool = False
    bias: bool = True
    output_bias: bool | None = None
    mlp_bias: bool | None = None
    norms: int = 2
    norm_bias: bool = True
    qk_norms: bool = False
    split: bool = True
    quantizable: bool = True
    only_whole_heads: bool = False

    def modules(self) -> tuple[Module, ...]:
        """Modules of all layers with their full paths."""
        modules = [module for index in range(self.depth) for module in self._layer(f"{self.prefix}.{index}.")]
        if not self.only_whole_heads:
            return tuple(modules)
        return tuple(
            dataclasses.replace(module, divides=self.num_heads) if isinstance(module, Linear) else module
            for module in modules
        )

    def _layer(self, prefix: str) -> tuple[Module, ...]:
        head = self.head_dim or self.hidden_size // self.num_heads
        heads, kv_heads = self.num_heads, self.num_kv_heads or self.num_heads
        mlp_bias = self.bias if self.mlp_bias is None else self.mlp_bias
        fused = Linear(
            name=f"{prefix}{self.attention}{self.qkv}",
            group=self.group,
            inputs=self.hidden_size,
            outputs=(
                Output(name="q_proj", size=heads * head, heads=None),
                Output(name="k_proj", size=kv_heads * head, heads=kv_heads if kv_heads != heads else None),
                Output(name="v_proj", size=kv_heads * head, heads=kv_heads if kv_heads != heads else None),
            ),
            split="column" if self.split else "whole",
            bias=self.bias,
            quantizable=self.quantizable,
        )
        output = linear(
            f"{prefix}{self.attention}{self.output}", self.group, heads * head, self.hidden_size,
            split="row" if self.split else "whole", bias=self.bias if self.output_bias is None else self.output_bias,
            quantizable=self.quantizable,
        )  # fmt: skip
        modules: list[Module] = [fused, output]
        if self.gated:
            names = (
                self.mlp_names if len(self.mlp_names) == 4 else ("gate_up_proj", "gate_proj", "up_proj", "down_proj")
            )
            modules += gated_layers(prefix + self.mlp, self.hidden_size, self.intermediate_size, bias=mlp_bias,
                                    group=self.group, split=self.split, quantizable=self.quantizable, names=(names[0], names[1], names[2], names[3]))  # fmt: skip
        else:
            modules += plain_layers(prefix + self.mlp, self.hidden_size, self.intermediate_size, bias=mlp_bias,
                                    group=self.group, split=self.split, quantizable=self.quantizable, names=(self.mlp_names[0], self.mlp_names[1]))  # fmt: skip
        modules.append(norm(f"{prefix}norms", self.norms * self.hidden_size, bias=self.norm_bias, group=self.group))
        if self.qk_norms:
            modules.append(norm(f"{prefix}qk_norms", 2 * head, group=self.group))
        return tuple(modules)


def plain_tensor(
    name: str, size: int, *, group: str = VISION, dtype: str | None = None, counted: bool = True
) -> Parameter:
    """A tensor of a tower that stands on every rank: positions, patch embeddings, norms."""
    return Parameter(name=name, group=group, size=size, dtype=dtype, counted=counted)


def column_row(
    prefix: str, inputs: int, between: int, outputs: int, *, bias: bool = True, split: bool = True,
    names: tuple[str, str] = ("linear_fc1", "linear_fc2"), group: str = VISION, quantizable: bool = True,
) -> tuple[Linear, Linear]:  # fmt: skip
    """Two projections in a row, the first divided by outputs and the second by inputs."""
    first, second = names
    return (
        linear(
            prefix + first,
            group,
            inputs,
            between,
            bias=bias,
            split="column" if split else "whole",
            quantizable=quantizable,
        ),
        linear(
            prefix + second,
            group,
            between,
            outputs,
            bias=bias,
            split="row" if split else "whole",
            quantizable=quantizable,
        ),
    )


def whole(name: str, inputs: int, outputs: int, *, bias: bool = True, group: str = VISION) -> Linear:
    """A projection that stands on every rank."""
    return linear(name, group, inputs, outputs, split="whole", bias=bias)
