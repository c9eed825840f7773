"""Attention layers with queries, keys and values: grouped-query in its many dresses."""

from dataclasses import dataclass

from kvcore.budget.weights.modules import Linear, Module, Output, Parameter, norm
from kvcore.budget.weights.parts.facts import Flag, LayerBlock, flag
from kvcore.config import ModelConfig

GROUP = "attention"


@dataclass(frozen=True, kw_only=True)
class AttentionSizes:
    """Sizes of one attention layer."""

    hidden_size: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    v_head_dim: int

    @property
    def output_inputs(self) -> int:
        """Features the output projection reads."""
        return self.num_heads * self.v_head_dim


def sizes_of(config: ModelConfig) -> AttentionSizes:
    """Sizes stated for all layers alike."""
    return AttentionSizes(
        hidden_size=config.hidden_size,
        num_heads=config.num_attention_heads,
        num_kv_heads=config.num_key_value_heads,
        head_dim=config.head_dim,
        v_head_dim=config.head_dim,
    )


def qkv(
    name: str, sizes: AttentionSizes, *, bias: bool = False, gate: bool = False, quantizable: bool = True
) -> Linear:
    """Queries, keys and values in one layer (vLLM 0.33.0 `QKVParallelLinear`); a gate doubles the queries."""
    queries = sizes.num_heads * (2 if gate else 1)
    return Linear(
        name=name,
        group=GROUP,
        inputs=sizes.hidden_size,
        outputs=(
            Output(name="q_proj", size=queries * sizes.head_dim),
            Output(name="k_proj", size=sizes.num_kv_heads * sizes.head_dim, heads=sizes.num_kv_heads),
            Output(name="v_proj", size=sizes.num_kv_heads * sizes.v_head_dim, heads=sizes.num_kv_heads),
        ),
        bias=bias,
        quantizable=quantizable,
        attends="keys",
    )


def output_projection(name: str, sizes: AttentionSizes, *, bias: bool = False) -> Linear:
    """From the heads back to the residual stream."""
    projection = Output(name=name.rpartition(".")[2], size=sizes.hidden_size)
    return Linear(name=name, group=GROUP, inputs=sizes.output_inputs, outputs=(projection,), split="row", bias=bias)


def head_norms(prefix: str, head_dim: int) -> tuple[Parameter, ...]:
    """Norms over single heads of queries and keys."""
    return norm(f"{prefix}q_norm", head_dim), norm(f"{prefix}k_norm", head_dim)


def full_norms(prefix: str, sizes: AttentionSizes, *, split: bool = True) -> tuple[Parameter, ...]:
    """Norms over all heads of queries and of keys."""
    keys = sizes.num_kv_heads * sizes.head_dim
    return (
        Parameter(name=f"{prefix}q_norm", group="norms", size=sizes.num_heads * sizes.head_dim, split=split),
        Parameter(name=f"{prefix}k_norm", group="norms", size=keys, split=split, heads=sizes.num_kv_heads),
    )


def sinks(prefix: str, num_heads: int, dtype: str | None = None) -> Parameter:
    """One learned logit per head."""
    return Parameter(name=f"{prefix}sinks", group=GROUP, size=num_heads, split=True, dtype=dtype)


def grouped_query(
    *,
    qkv_bias: Flag = False,
    output_bias: Flag = False,
    qk_norm: Flag | str = False,
    norms: str = "head",
    gate: Flag = False,
    with_sinks: Flag = False,
    prefix: str = "self_attn.",
    qkv_name: str = "qkv_proj",
    output_name: str = "o_proj",
) -> LayerBlock:
    """Attention of one shape in every layer.

    Args:
        qkv_bias: Bias on queries, keys and values.
        output_bias: Bias on the output projection.
        qk_norm: Whether queries and keys are normalized.
        norms: ``head``: one norm over single heads; ``full``: over all heads, divided over ranks; ``whole``: over all
            heads, on every rank.
        gate: Queries carry an output gate of the same size.
        with_sinks: One learned logit per head.
        prefix: Path of the attention module.
        qkv_name: Name of the fused projection.
        output_name: Name of the output projection.
    """

    def build(config: ModelConfig, index: int) -> tuple[Module, ...]:
        sizes = sizes_of(config)
        modules: list[Module] = [
            qkv(prefix + qkv_name, sizes, bias=flag(config, qkv_bias), gate=flag(config, gate)),
            output_projection(prefix + output_name, sizes, bias=flag(config, output_bias)),
        ]
        if flag(config, qk_norm):
            normed = (
                head_norms(prefix, sizes.head_dim)
                if norms == "head"
                else full_norms(prefix, sizes, split=norms == "full")
            )
            modules.extend(normed)
        if flag(config, with_sinks):
            modules.append(sinks(prefix, sizes.num_heads))
        return tuple(modules)

    return build
