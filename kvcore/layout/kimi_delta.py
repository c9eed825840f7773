"""Kimi Delta Attention: a convolution window over queries, keys and values, and one square state per head."""

from dataclasses import dataclass
from typing import Literal

from kvcore.config import ModelConfig
from kvcore.errors import config_error
from kvcore.layout.cache import StateCache, StateTensor, per_rank
from kvcore.layout.hybrid_attention import bailing_linear_head_dim

Family = Literal["kimi_linear", "kimi_k3", "glm5_next", "bailing_v3"]


@dataclass(frozen=True, kw_only=True)
class KimiDeltaCache(StateCache):
    """The state of one KDA layer (vLLM 0.33.0 `MambaStateShapeCalculator.kda_state_shape`).

    Attributes:
        num_heads: Heads of queries, keys, values and of the recurrent state.
        head_dim: Elements of one head.
        conv_kernel_size: Inputs the convolution sees, the current one included.
        has_bounded_gate: Whether the decay gate has a lower bound, on which engines' prefill kernels depend.
        family: Model family whose layer class it is; engines choose kernels and dtypes by it.
    """

    num_heads: int
    head_dim: int
    conv_kernel_size: int
    has_bounded_gate: bool
    family: Family

    def tensors(self, tensor_parallel_size: int, draft_columns: int) -> tuple[StateTensor, ...]:
        """The convolution window over q, k and v, and the recurrent state."""
        heads = per_rank(self.num_heads, tensor_parallel_size, "the heads of Kimi Delta Attention")
        return (
            StateTensor(
                "conv",
                (self.conv_kernel_size - 1 + draft_columns, 3 * heads * self.head_dim),
                "(conv_kernel − 1 + draft tokens) × 3 × num_heads / tp × head_dim",
                f"({self.conv_kernel_size} − 1 + {draft_columns}) × 3 × {self.num_heads} / {tensor_parallel_size} × "
                f"{self.head_dim}",
            ),
            StateTensor(
                "temporal",
                (heads, self.head_dim, self.head_dim),
                "num_heads / tp × head_dim × head_dim",
                f"{self.num_heads} / {tensor_parallel_size} × {self.head_dim} × {self.head_dim}",
            ),
        )


def kimi_delta(config: ModelConfig, layer_index: int) -> KimiDeltaCache:
    """The state of a Kimi-Linear or Kimi K3 layer; a full-rank gate marks K3's layer class.

    Raises:
        ConfigError: ``linear_attn_config`` or one of its dimensions is absent.
    """
    linear = config.mapping("linear_attn_config")
    is_k3 = bool(linear.get("use_full_rank_gate", False))
    return KimiDeltaCache(
        name="kimi delta attention",
        temporal_dtype="float32",
        num_heads=_dimension(config, "num_heads"),
        head_dim=_dimension(config, "head_dim"),
        conv_kernel_size=_dimension(config, "short_conv_kernel_size"),
        has_bounded_gate=linear.get("gate_lower_bound") is not None,
        family="kimi_k3" if is_k3 else "kimi_linear",
    )


def glm_kimi_delta(config: ModelConfig, layer_index: int) -> KimiDeltaCache:
    """The state of a GLM-5.3-Flash linear-attention layer.

    ``linear_attn_config`` outranks the flat keys; a gate without bound gets one unless ``safe_gate`` is off
    (transformers 5.16 `Glm5NextTextConfig.__post_init__`).

    Raises:
        ConfigError: A dimension is not a positive number.
    """
    linear = config.mapping("linear_attn_config")
    bound = linear.get("gate_lower_bound", config.get("linear_lower_bound", -5.0))
    return KimiDeltaCache(
        name="kimi delta attention",
        temporal_dtype="float32",
        num_heads=_dimension(config, "num_heads", config.integer("linear_num_heads", 64)),
        head_dim=_dimension(config, "head_dim", config.integer("linear_head_dim", 128)),
        conv_kernel_size=_dimension(config, "short_conv_kernel_size", config.integer("linear_conv_kernel_dim", 4)),
        has_bounded_gate=bound is not None or bool(linear.get("safe_gate", True)),
        family="glm5_next",
    )


def bailing_kimi_delta(config: ModelConfig, layer_index: int) -> KimiDeltaCache:
    """The state of a Bailing MoE v3 linear-attention layer.

    Raises:
        ConfigError: A dimension is absent, or the low-rank gate is used, which the engine does not support.
    """
    if not config.get("no_kda_lora", False):
        rule = "vLLM's class for this architecture expects true"
        raise config_error(config.path("no_kda_lora"), config.get("no_kda_lora"), rule, "Give it unchanged.")
    return KimiDeltaCache(
        name="kimi delta attention",
        temporal_dtype="float32",
        num_heads=config.num_attention_heads,
        head_dim=bailing_linear_head_dim(config),
        conv_kernel_size=config.integer("short_conv_kernel_size"),
        has_bounded_gate=config.get("kda_lower_bound", -5.0) is not None,
        family="bailing_v3",
    )


def _dimension(config: ModelConfig, key: str, default: int | None = None) -> int:
    """A positive number under ``linear_attn_config``."""
    return config.integer(f"linear_attn_config.{key}", default)
