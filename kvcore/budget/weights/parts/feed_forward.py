"""Dense feed-forward layers."""

from collections.abc import Callable

from kvcore.budget.weights.modules import Linear, Module, Output, linear
from kvcore.budget.weights.parts.facts import Flag, LayerBlock, Size, flag, size
from kvcore.config import ModelConfig

GROUP = "mlp"


def gated_layers(
    prefix: str, hidden_size: int, intermediate: int, *, bias: bool = False, group: str = GROUP, split: bool = True,
    quantizable: bool = True,
    names: tuple[str, str, str, str] = ("gate_up_proj", "gate_proj", "up_proj", "down_proj"),
) -> tuple[Linear, Linear]:  # fmt: skip
    """Gate and up projection in one layer, and the way back."""
    fused, gate, up, down = names
    outputs = (Output(name=gate, size=intermediate), Output(name=up, size=intermediate))
    return (
        Linear(name=prefix + fused, group=group, inputs=hidden_size, outputs=outputs, bias=bias,
               split="column" if split else "whole", quantizable=quantizable),
        linear(prefix + down, group, intermediate, hidden_size, split="row" if split else "whole", bias=bias,
               quantizable=quantizable),
    )  # fmt: skip


def plain_layers(
    prefix: str, hidden_size: int, intermediate: int, *, bias: bool = False, group: str = GROUP, split: bool = True,
    quantizable: bool = True,
    names: tuple[str, str] = ("up_proj", "down_proj"),
) -> tuple[Linear, Linear]:  # fmt: skip
    """One projection out and one back, without a gate."""
    up, down = names
    return (
        linear(prefix + up, group, hidden_size, intermediate, bias=bias, split="column" if split else "whole",
               quantizable=quantizable),
        linear(prefix + down, group, intermediate, hidden_size, bias=bias, split="row" if split else "whole",
               quantizable=quantizable),
    )  # fmt: skip


def gated_mlp(
    *, intermediate: Size = "intermediate_size", bias: Flag = False, prefix: str = "mlp.",
    names: tuple[str, str, str, str] = ("gate_up_proj", "gate_proj", "up_proj", "down_proj"),
) -> LayerBlock:  # fmt: skip
    """A gated feed-forward layer (SwiGLU and kin)."""

    def build(config: ModelConfig, index: int) -> tuple[Module, ...]:
        return gated_layers(
            prefix, config.hidden_size, size(config, intermediate), bias=flag(config, bias), names=names
        )

    return build


def plain_mlp(
    *, intermediate: Size = "intermediate_size", bias: Flag = True, prefix: str = "mlp.",
    names: tuple[str, str] = ("up_proj", "down_proj"),
) -> LayerBlock:  # fmt: skip
    """A feed-forward layer without a gate."""

    def build(config: ModelConfig, index: int) -> tuple[Module, ...]:
        return plain_layers(
            prefix, config.hidden_size, size(config, intermediate), bias=flag(config, bias), names=names
        )

    return build


def by_layer(choose: Callable[[ModelConfig, int], bool], when: LayerBlock, otherwise: LayerBlock) -> LayerBlock:
    """One block on the layers that are chosen, another on the rest."""

    def build(config: ModelConfig, index: int) -> tuple[Module, ...]:
        return (when if choose(config, index) else otherwise)(config, index)

    return build
