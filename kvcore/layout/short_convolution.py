"""Short convolution: only a window of inputs (LFM2)."""

from dataclasses import dataclass

from kvcore.config import ModelConfig
from kvcore.layout.cache import StateCache, StateTensor, per_rank


@dataclass(frozen=True, kw_only=True)
class ShortConvolutionCache(StateCache):
    """The window of one short convolution (vLLM 0.33.0 `MambaStateShapeCalculator.short_conv_state_shape`).

    Attributes:
        conv_dim: Channels.
        conv_kernel: Inputs the convolution sees, the current one included.
    """

    conv_dim: int
    conv_kernel: int

    def tensors(self, tensor_parallel_size: int, draft_columns: int) -> tuple[StateTensor, ...]:
        """The window of inputs."""
        channels = per_rank(self.conv_dim, tensor_parallel_size, "the channels of the short convolution")
        return (
            StateTensor(
                "conv",
                (self.conv_kernel - 1 + draft_columns, channels),
                "(conv_L_cache − 1 + draft tokens) × conv_dim / tp",
                f"({self.conv_kernel} − 1 + {draft_columns}) × {self.conv_dim} / {tensor_parallel_size}",
            ),
        )


def short_convolution(config: ModelConfig, layer_index: int) -> ShortConvolutionCache:
    """The window of an LFM2 convolution layer.

    Raises:
        ConfigError: ``conv_dim`` is absent.
    """
    return _window(config, config.integer("conv_dim"))


def moe_short_convolution(config: ModelConfig, layer_index: int) -> ShortConvolutionCache:
    """The window of an LFM2-MoE convolution layer, which is as wide as the model."""
    return _window(config, config.hidden_size)


def _window(config: ModelConfig, conv_dim: int) -> ShortConvolutionCache:
    return ShortConvolutionCache(
        name="short convolution", conv_dim=conv_dim, conv_kernel=config.integer("conv_L_cache")
    )
