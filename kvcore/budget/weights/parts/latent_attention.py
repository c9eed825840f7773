"""Multi-head latent attention: low-rank projections on every rank, heads divided over them."""

from collections.abc import Mapping
from dataclasses import dataclass

from kvcore.budget.weights.modules import Linear, Module, Output, linear, norm
from kvcore.budget.weights.parts.facts import Flag, LayerBlock, flag
from kvcore.config import ModelConfig

GROUP = "attention"


@dataclass(frozen=True, kw_only=True)
class LatentSizes:
    """Sizes of one latent-attention layer."""

    hidden_size: int
    num_heads: int
    q_lora_rank: int | None
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int

    @property
    def qk_head_dim(self) -> int:
        """Size of one query or key head."""
        return self.qk_nope_head_dim + self.qk_rope_head_dim

    @property
    def up_projected(self) -> int:
        """Keys without position and values of all heads, which ``kv_b_proj`` restores from the latent."""
        return self.num_heads * (self.qk_nope_head_dim + self.v_head_dim)


def latent_sizes(config: ModelConfig) -> LatentSizes:
    """Sizes stated for all latent layers alike."""
    heads = config.num_attention_heads
    return LatentSizes(
        hidden_size=config.hidden_size,
        num_heads=heads,
        q_lora_rank=config.optional_integer("q_lora_rank") or None,
        kv_lora_rank=config.integer("kv_lora_rank"),
        qk_nope_head_dim=config.integer("qk_nope_head_dim", minimum=0),
        qk_rope_head_dim=config.integer("qk_rope_head_dim", minimum=0),
        v_head_dim=config.integer("v_head_dim", config.hidden_size // heads),
    )


def latent_modules(sizes: LatentSizes, prefix: str, *, bias: bool = False, fused: bool = True) -> tuple[Module, ...]:
    """The projections of one latent layer.

    Args:
        sizes: Its sizes.
        prefix: Path of the attention module.
        bias: Whether the low-rank projections have biases.
        fused: Whether both low-rank projections stand in one layer (vLLM 0.33.0 `fused_qkv_a_proj`).
    """
    latent = sizes.kv_lora_rank + sizes.qk_rope_head_dim
    modules: list[Module] = []
    if sizes.q_lora_rank is None:
        modules.append(linear(f"{prefix}q_proj", GROUP, sizes.hidden_size, sizes.num_heads * sizes.qk_head_dim))
        modules.append(
            _whole(f"{prefix}kv_a_proj_with_mqa", sizes.hidden_size, {"kv_a_proj_with_mqa": latent}, bias=bias)
        )
    else:
        low = {"q_a_proj": sizes.q_lora_rank, "kv_a_proj_with_mqa": latent}
        if fused:
            modules.append(_whole(f"{prefix}fused_qkv_a_proj", sizes.hidden_size, low, bias=bias))
        else:
            modules.extend(
                _whole(prefix + name, sizes.hidden_size, {name: size}, bias=bias) for name, size in low.items()
            )
        modules.append(norm(f"{prefix}q_a_layernorm", sizes.q_lora_rank))
        modules.append(linear(f"{prefix}q_b_proj", GROUP, sizes.q_lora_rank, sizes.num_heads * sizes.qk_head_dim))
    output = linear(
        f"{prefix}o_proj", GROUP, sizes.num_heads * sizes.v_head_dim, sizes.hidden_size, split="row", bias=bias
    )
    modules += [
        norm(f"{prefix}kv_a_layernorm", sizes.kv_lora_rank),
        Linear(
            name=f"{prefix}kv_b_proj",
            group=GROUP,
            inputs=sizes.kv_lora_rank,
            outputs=(Output(name="kv_b_proj", size=sizes.up_projected),),
            attends="latent",
        ),
        output,
    ]
    return tuple(modules)


def _whole(name: str, inputs: int, outputs: Mapping[str, int], *, bias: bool) -> Linear:
    projections = tuple(Output(name=part, size=size) for part, size in outputs.items())
    return Linear(name=name, group=GROUP, inputs=inputs, outputs=projections, split="whole", bias=bias)


def latent_attention(*, bias: Flag = "attention_bias", prefix: str = "self_attn.", fused: bool = True) -> LayerBlock:
    """Latent attention of one shape in every layer (vLLM 0.33.0 `DeepseekV2MLAAttention`)."""

    def build(config: ModelConfig, index: int) -> tuple[Module, ...]:
        return latent_modules(latent_sizes(config), prefix, bias=flag(config, bias), fused=fused)

    return build
