"""Mamba-1: a convolution window and a diagonal state per channel of the inner width."""

from dataclasses import dataclass

from kvcore.config import ModelConfig
from kvcore.layout.cache import StateCache, StateTensor, per_rank


@dataclass(frozen=True, kw_only=True)
class Mamba1Cache(StateCache):
    """The state of one Mamba-1 mixer (vLLM 0.33.0 `MambaStateShapeCalculator.mamba1_state_shape`).

    Attributes:
        intermediate_size: Channels of the inner width.
        state_size: State elements per channel.
        conv_kernel: Inputs the convolution sees, the current one included.
    """

    intermediate_size: int
    state_size: int
    conv_kernel: int

    def tensors(self, tensor_parallel_size: int, draft_columns: int) -> tuple[StateTensor, ...]:
        """The convolution window and the recurrent state; speculation adds no columns to this window."""
        channels = per_rank(self.intermediate_size, tensor_parallel_size, "the inner width of the Mamba mixer")
        width = f"{self.intermediate_size} / {tensor_parallel_size}"
        return (
            StateTensor(
                "conv",
                (self.conv_kernel - 1, channels),
                "(conv_kernel − 1) × intermediate_size / tp",
                f"({self.conv_kernel} − 1) × {width}",
            ),
            StateTensor(
                "temporal",
                (channels, self.state_size),
                "intermediate_size / tp × state_size",
                f"{width} × {self.state_size}",
            ),
        )


def mamba1(config: ModelConfig, layer_index: int) -> Mamba1Cache:
    """The state of a Mamba or FalconMamba layer.

    Raises:
        ConfigError: A dimension is absent or not a positive number.
    """
    hidden = config.hidden_size
    return Mamba1Cache(
        name="mamba",
        intermediate_size=config.integer("intermediate_size", config.integer("expand", 2) * hidden),
        state_size=config.integer("state_size"),
        conv_kernel=config.integer("conv_kernel"),
    )


def jamba_mamba(config: ModelConfig, layer_index: int) -> Mamba1Cache:
    """The state of a Jamba Mamba layer.

    Raises:
        ConfigError: A dimension is absent or not a positive number.
    """
    return Mamba1Cache(
        name="mamba",
        intermediate_size=config.integer("mamba_expand") * config.hidden_size,
        state_size=config.integer("mamba_d_state"),
        conv_kernel=config.integer("mamba_d_conv"),
    )
