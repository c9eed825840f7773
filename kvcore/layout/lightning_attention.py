"""Lightning attention: one square state per head and no convolution (Ling 2.5)."""

from dataclasses import dataclass

from kvcore.config import ModelConfig
from kvcore.errors import refusal
from kvcore.layout.cache import StateCache, StateTensor, per_rank
from kvcore.layout.hybrid_attention import bailing_linear_head_dim


@dataclass(frozen=True, kw_only=True)
class LightningAttentionCache(StateCache):
    """The state of one lightning-attention layer (vLLM 0.33.0 `linear_attention_state_shape`).

    Attributes:
        num_heads: Heads.
        head_dim: Elements of one head.
        group_norm_size: Groups of the output norm, which the ranks must divide too.
    """

    num_heads: int
    head_dim: int
    group_norm_size: int

    def tensors(self, tensor_parallel_size: int, draft_columns: int) -> tuple[StateTensor, ...]:
        """The recurrent state."""
        if self.group_norm_size % tensor_parallel_size:
            rule = f"vLLM needs the {self.group_norm_size} groups of the output norm to divide evenly over the ranks"
            remedy = f"Use a divisor of {self.group_norm_size}."
            raise refusal("tensor_parallel_size", tensor_parallel_size, rule, remedy)
        heads = per_rank(self.num_heads, tensor_parallel_size, "the heads of lightning attention")
        return (
            StateTensor(
                "temporal",
                (heads, self.head_dim, self.head_dim),
                "num_heads / tp × head_dim × head_dim",
                f"{self.num_heads} / {tensor_parallel_size} × {self.head_dim} × {self.head_dim}",
            ),
        )


def lightning_attention(config: ModelConfig, layer_index: int) -> LightningAttentionCache:
    """The state of a Bailing MoE v2.5 linear-attention layer.

    Raises:
        ConfigError: A dimension is absent or not a positive number.
    """
    return LightningAttentionCache(
        name="lightning attention",
        num_heads=config.num_attention_heads,
        head_dim=bailing_linear_head_dim(config),
        group_norm_size=config.integer("group_norm_size", 1),
    )
