"""Mamba layers of both generations."""

from collections.abc import Sequence
from dataclasses import dataclass

from kvcore.budget.weights.modules import Linear, Module, Output, Parameter, linear
from kvcore.budget.weights.parts.facts import LayerBlock, size
from kvcore.config import ModelConfig

GROUP = "state"


@dataclass(frozen=True, kw_only=True)
class Mamba2Sizes:
    """Sizes of one Mamba 2 layer."""

    hidden_size: int
    num_heads: int
    head_dim: int
    groups: int
    state_size: int
    kernel: int
    conv_bias: bool = True
    bias: bool = False

    @property
    def intermediate(self) -> int:
        """Width of the state's inputs."""
        return self.num_heads * self.head_dim


def mamba2_modules(prefix: str, sizes: Mamba2Sizes, *, norm: bool = True) -> tuple[Module, ...]:
    """One Mamba 2 layer (vLLM 0.33.0 `MambaMixer2`); groups fewer than ranks are held several times."""
    wide = sizes.groups * sizes.state_size
    # One projection in the checkpoint: its parts have no names a list of modules could mean.
    conv = [
        Output(name="in_proj", size=sizes.intermediate),
        Output(name="in_proj", size=wide, heads=sizes.groups),
        Output(name="in_proj", size=wide, heads=sizes.groups),
    ]
    gate = Output(name="in_proj", size=sizes.intermediate)
    steps = Output(name="in_proj", size=sizes.num_heads)
    modules: list[Module] = [
        Linear(
            name=f"{prefix}in_proj",
            group=GROUP,
            inputs=sizes.hidden_size,
            outputs=(gate, *conv, steps),
            bias=sizes.bias,
        ),
        Linear(
            name=f"{prefix}conv1d",
            group=GROUP,
            inputs=sizes.kernel,
            outputs=tuple(conv),
            bias=sizes.conv_bias,
            quantizable=False,
        ),
        Parameter(name=f"{prefix}A", group=GROUP, size=sizes.num_heads, split=True, dtype="float32"),
        Parameter(name=f"{prefix}D", group=GROUP, size=sizes.num_heads, split=True),
        Parameter(name=f"{prefix}dt_bias", group=GROUP, size=sizes.num_heads, split=True),
        linear(f"{prefix}out_proj", GROUP, sizes.intermediate, sizes.hidden_size, split="row", bias=sizes.bias),
    ]
    if norm:
        modules.append(Parameter(name=f"{prefix}norm", group="norms", size=sizes.intermediate, split=True))
    return tuple(modules)


def mamba1_modules(
    prefix: str, hidden: int, inner: int, state: int, kernel: int, steps: int, *, conv_bias: bool, bias: bool,
    norms: Sequence[int] = (),
) -> tuple[Module, ...]:  # fmt: skip
    """One Mamba layer (vLLM 0.33.0 `MambaMixer`)."""
    return (
        linear(f"{prefix}in_proj", GROUP, hidden, (inner, inner), bias=bias),
        linear(f"{prefix}conv1d", GROUP, kernel, inner, bias=conv_bias, quantizable=False),
        linear(f"{prefix}x_proj", GROUP, inner, steps + 2 * state, split="row"),
        linear(f"{prefix}dt_proj", GROUP, steps, inner, bias=True),
        Parameter(name=f"{prefix}A", group=GROUP, size=inner * state, split=True, dtype="float32"),
        Parameter(name=f"{prefix}D", group=GROUP, size=inner, split=True),
        linear(f"{prefix}out_proj", GROUP, inner, hidden, split="row", bias=bias),
        *(Parameter(name=f"{prefix}norm.{index}", group="norms", size=width) for index, width in enumerate(norms)),
    )


def mamba2(sizes: LayerBlock | None = None, *, prefix: str = "mixer.") -> LayerBlock:
    """Mamba 2 under the keys of Hugging Face `Mamba2Config`."""

    def build(config: ModelConfig, index: int) -> tuple[Module, ...]:
        return mamba2_modules(
            prefix,
            Mamba2Sizes(
                hidden_size=config.hidden_size,
                num_heads=size(config, "num_heads"),
                head_dim=size(config, "head_dim"),
                groups=size(config, "n_groups"),
                state_size=size(config, "state_size"),
                kernel=size(config, "conv_kernel"),
                conv_bias=bool(config.get("use_conv_bias", True)),
                bias=bool(config.get("use_bias", False)),
            ),
        )

    return build
