"""Mixtures of experts: router, routed experts, shared experts."""

from kvcore.budget.weights.modules import Experts, Linear, Module, Parameter, linear
from kvcore.budget.weights.parts.facts import Flag, LayerBlock, Size, flag, size
from kvcore.budget.weights.parts.feed_forward import gated_layers, plain_layers
from kvcore.config import ModelConfig

EXPERT_COUNT = "num_experts|n_routed_experts|num_local_experts"
EXPERT_WIDTH = "moe_intermediate_size|intermediate_size"


def router(
    name: str,
    hidden_size: int,
    experts: int,
    *,
    dtype: str | None = None,
    bias: bool = False,
    quantizable: bool = False,
) -> Linear:
    """Scores of the experts, on every rank and in most classes never quantized."""
    return linear(name, "router", hidden_size, experts, split="whole", dtype=dtype, bias=bias, quantizable=quantizable)


def score_bias(name: str, experts: int, dtype: str | None = "float32", *, counted: bool = False) -> Parameter:
    """The routing correction, which most checkpoints keep as a buffer: not a published parameter."""
    return Parameter(name=name, group="router", size=experts, dtype=dtype, counted=counted)


def mixture(
    *,
    count: Size = EXPERT_COUNT,
    intermediate: Size = EXPERT_WIDTH,
    gated: bool = True,
    expert_bias: bool = False,
    router_dtype: str | None = None,
    router_name: str = "gate",
    router_bias: bool = False,
    router_quantizable: bool = False,
    correction: Flag = False,
    correction_name: str = "gate.e_score_correction_bias",
    correction_dtype: str | None = "float32",
    correction_counted: bool = False,
    shared: Size | None = None,
    shared_count: str | None = None,
    shared_name: str = "shared_experts.",
    shared_gate: bool = False,
    prefix: str = "mlp.",
) -> LayerBlock:
    """A mixture of experts of one shape in every layer.

    Args:
        count: Routed experts.
        intermediate: Width of one routed expert.
        gated: Whether experts have a gate projection.
        expert_bias: Whether routed experts have biases.
        router_dtype: Element type of the router where it is not the model's.
        router_name: Name of the router below the prefix.
        router_bias: Whether the router has a bias.
        router_quantizable: Whether the engine builds the router with the checkpoint's quantization scheme.
        correction: Whether the layer keeps a routing correction.
        correction_name: Name of the correction below the prefix.
        correction_dtype: Element type of the correction.
        correction_counted: Whether the published count includes the correction.
        shared: Width of the shared experts; None: as ``intermediate``.
        shared_count: Config key of the number of shared experts; None: one where ``shared`` is set, else none.
        shared_name: Name of the shared experts below the prefix.
        shared_gate: Whether the shared expert has a gate of its own.
        prefix: Path of the mixture.
    """

    def build(config: ModelConfig, index: int) -> tuple[Module, ...]:
        hidden, experts, width = config.hidden_size, size(config, count), size(config, intermediate)
        modules: list[Module] = [
            router(
                prefix + router_name,
                hidden,
                experts,
                dtype=router_dtype,
                bias=router_bias,
                quantizable=router_quantizable,
            ),
            Experts(
                name=f"{prefix}experts",
                group="experts",
                count=experts,
                inputs=hidden,
                intermediate=width,
                gated=gated,
                bias=expert_bias,
            ),
        ]
        if flag(config, correction):
            modules.append(score_bias(prefix + correction_name, experts, correction_dtype, counted=correction_counted))
        copies = (config.optional_integer(shared_count) or 0) if shared_count else (0 if shared is None else 1)
        shared_width = copies * (width if shared is None else size(config, shared))
        if shared_width:
            layers = gated_layers if gated else plain_layers
            modules.extend(layers(prefix + shared_name, hidden, shared_width, group="shared_experts"))
            if shared_gate:
                modules.append(
                    linear(f"{prefix}shared_expert_gate", "router", hidden, 1, split="whole", quantizable=False)
                )
        return tuple(modules)

    return build
