"""Gated DeltaNet: a convolution window over queries, keys and values, and one matrix state per value head."""

from dataclasses import dataclass
from typing import Literal

from kvcore.config import ModelConfig
from kvcore.layout.cache import StateCache, StateTensor, per_rank
from kvcore.layout.state_dtype import state_dtype

DTYPE_DECLARING_ARCHITECTURES = (
    "Qwen3_5ForCausalLM",
    "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForCausalLM",
    "Qwen3_5MoeForConditionalGeneration",
)
"""Architectures whose ``mamba_ssm_dtype`` vLLM reads (0.33.0 `MODELS_CONFIG_MAP`); wrappers of the same model it does not."""


@dataclass(frozen=True, kw_only=True)
class GatedDeltaNetCache(StateCache):
    """The state of one Gated DeltaNet layer (vLLM 0.33.0 `MambaStateShapeCalculator.gated_delta_net_state_shape`).

    Attributes:
        num_k_heads: Heads of queries and keys.
        num_v_heads: Heads of values, which the recurrent state has too.
        head_k_dim: Elements of one key head.
        head_v_dim: Elements of one value head.
        conv_kernel_size: Inputs the convolution sees, the current one included.
        family: Model family whose layer class it is; engines choose prefill kernels by it.
    """

    num_k_heads: int
    num_v_heads: int
    head_k_dim: int
    head_v_dim: int
    conv_kernel_size: int
    family: Literal["qwen", "olmo"]

    def tensors(self, tensor_parallel_size: int, draft_columns: int) -> tuple[StateTensor, ...]:
        """The convolution window over q, k and v, and the recurrent state."""
        width = 2 * self.head_k_dim * self.num_k_heads + self.head_v_dim * self.num_v_heads
        channels = per_rank(width, tensor_parallel_size, "the convolution width of Gated DeltaNet")
        heads = per_rank(self.num_v_heads, tensor_parallel_size, "the value heads of Gated DeltaNet")
        return (
            StateTensor(
                "conv",
                (self.conv_kernel_size - 1 + draft_columns, channels),
                "(conv_kernel − 1 + draft tokens) × (2 × key_heads × key_dim + value_heads × value_dim) / tp",
                f"({self.conv_kernel_size} − 1 + {draft_columns}) × (2 × {self.num_k_heads} × {self.head_k_dim} + "
                f"{self.num_v_heads} × {self.head_v_dim}) / {tensor_parallel_size}",
            ),
            StateTensor(
                "temporal",
                (heads, self.head_v_dim, self.head_k_dim),
                "value_heads / tp × value_dim × key_dim",
                f"{self.num_v_heads} / {tensor_parallel_size} × {self.head_v_dim} × {self.head_k_dim}",
            ),
        )


def qwen_gated_delta_net(config: ModelConfig, layer_index: int) -> GatedDeltaNetCache:
    """The state of a Qwen3-Next or Qwen3.5 linear-attention layer.

    ``mamba_ssm_dtype`` of Qwen3.5's config decides the recurrent state's element type
    (vLLM 0.33.0 `Qwen3_5ForConditionalGenerationConfig`); Qwen3-Next has no such key, and other wrappers ignore it.

    Raises:
        ConfigError: A dimension is absent or not a positive number.
    """
    declares = config.architecture in DTYPE_DECLARING_ARCHITECTURES
    return GatedDeltaNetCache(
        name="gated delta net",
        temporal_dtype=state_dtype(config, "mamba_ssm_dtype", None) if declares else None,
        num_k_heads=config.integer("linear_num_key_heads"),
        num_v_heads=config.integer("linear_num_value_heads"),
        head_k_dim=config.integer("linear_key_head_dim"),
        head_v_dim=config.integer("linear_value_head_dim"),
        conv_kernel_size=config.integer("linear_conv_kernel_dim"),
        family="qwen",
    )


def olmo_gated_delta_net(config: ModelConfig, layer_index: int) -> GatedDeltaNetCache:
    """The state of an OLMo hybrid linear-attention layer; absent dimensions follow from the hidden width.

    Source: transformers 5.16 `OlmoHybridConfig.__post_init__`.

    Raises:
        ConfigError: A dimension is absent or not a positive number.
    """
    num_k_heads = config.integer("linear_num_key_heads", config.num_attention_heads)
    head_k_dim = config.integer("linear_key_head_dim", config.hidden_size * 3 // (4 * num_k_heads))
    return GatedDeltaNetCache(
        name="gated delta net",
        num_k_heads=num_k_heads,
        num_v_heads=config.integer("linear_num_value_heads", config.num_attention_heads),
        head_k_dim=head_k_dim,
        head_v_dim=config.integer("linear_value_head_dim", 2 * head_k_dim),
        conv_kernel_size=config.integer("linear_conv_kernel_dim"),
        family="olmo",
    )
