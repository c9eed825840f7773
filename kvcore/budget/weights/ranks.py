"""What one GPU holds of a module: divided, replicated or padded as vLLM's parallel layers do."""

from dataclasses import dataclass

from kvcore.arithmetic import cdiv, round_up
from kvcore.budget.weights.modules import Experts, Linear, Output, Parameter, Vocabulary
from kvcore.errors import refusal


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """The deployment's parallel sizes, as far as weights are concerned.

    Without expert parallelism the data-parallel ranks share the experts as further tensor-parallel ranks; with it, all
    of them hold whole experts (vLLM 0.33.0 `FusedMoEParallelConfig.make`).

    Attributes:
        tensor: Tensor-parallel ranks.
        data: Data-parallel ranks.
        expert_parallel: Whether ranks hold whole experts.
        widens_narrow_experts: Whether the release pads narrow shares of experts where a model asks for it.
        towers_everywhere: Whether the release builds towers on every pipeline stage, not only on the first.
    """

    tensor: int = 1
    data: int = 1
    expert_parallel: bool = False
    widens_narrow_experts: bool = True
    towers_everywhere: bool = False

    @property
    def expert_ranks(self) -> int:
        """Ranks that divide the experts by number."""
        return self.tensor * self.data if self.expert_parallel else 1

    @property
    def intermediate_ranks(self) -> int:
        """Ranks that divide every expert's intermediate width."""
        return 1 if self.expert_parallel else self.tensor * self.data


@dataclass(frozen=True, kw_only=True)
class LinearShape:
    """A linear layer on one GPU: inputs, outputs per fused projection, and whether its inputs are divided."""

    inputs: int
    outputs: tuple[int, ...]
    whole_inputs: int

    @property
    def size(self) -> int:
        """Outputs of all projections."""
        return sum(self.outputs)


@dataclass(frozen=True, kw_only=True)
class ExpertShape:
    """The routed experts on one GPU."""

    count: int
    inputs: int
    intermediate: int
    projections: int
    bias: bool
    whole_intermediate: int


def linear_shape(module: Linear, ranks: Ranks) -> LinearShape:
    """One GPU's part of a linear layer.

    Raises:
        EngineRefusal: The layer does not divide evenly over the ranks.
    """
    if module.split == "whole" or (module.divides is not None and module.divides % ranks.tensor):
        return LinearShape(
            inputs=module.inputs, outputs=tuple(output.size for output in module.outputs), whole_inputs=module.inputs
        )
    if module.split == "row":
        inputs = divided(module.inputs, ranks.tensor, f"the {module.inputs:,} inputs of {module.name}")
        return LinearShape(
            inputs=inputs, outputs=tuple(output.size for output in module.outputs), whole_inputs=module.inputs
        )
    outputs = tuple(_output(output, ranks.tensor) for output in module.outputs)
    if padding := -sum(outputs) % module.pads_to:
        outputs = (*outputs, padding)
    return LinearShape(inputs=module.inputs, outputs=outputs, whole_inputs=module.inputs)


def expert_shape(module: Experts, ranks: Ranks) -> ExpertShape:
    """The fullest GPU's part of a layer's routed experts.

    Raises:
        EngineRefusal: The experts' width does not divide evenly over the ranks.
    """
    what = f"the intermediate width {module.intermediate:,} of the experts"
    at_least = module.intermediate_at_least if ranks.intermediate_ranks > 1 and ranks.widens_narrow_experts else 1
    return ExpertShape(
        count=cdiv(module.count, ranks.expert_ranks),
        inputs=module.inputs,
        intermediate=max(divided(module.intermediate, ranks.intermediate_ranks, what), at_least),
        projections=module.projections,
        bias=module.bias,
        whole_intermediate=module.intermediate,
    )


def vocabulary_rows(module: Vocabulary, ranks: Ranks) -> int:
    """Rows on one GPU, padding included."""
    return divided(round_up(module.rows, module.padding), ranks.tensor, f"the padded rows of {module.name}")


def parameter_elements(module: Parameter, ranks: Ranks) -> int:
    """Elements of one GPU's part of a plain tensor."""
    if not module.split:
        return module.size
    return max(module.at_least, _output(Output(name=module.name, size=module.size, heads=module.heads), ranks.tensor))


def _output(output: Output, ranks: int) -> int:
    if output.heads is None:
        return divided(output.size, ranks, f"the {output.size:,} outputs of {output.name}")
    per_head = output.size // output.heads
    if ranks >= output.heads:
        divided(ranks, output.heads, f"{ranks} ranks over the {output.heads} heads of {output.name}")
        return per_head
    return divided(output.heads, ranks, f"the {output.heads} heads of {output.name}") * per_head


def divided(value: int, ranks: int, what: str) -> int:
    """One rank's equal share.

    Raises:
        EngineRefusal: vLLM's `divide` asserts that nothing is left over.
    """
    if value % ranks:
        rule = f"{what} do not divide evenly over the ranks, so vLLM cannot split this architecture so"
        raise refusal("tensor_parallel_size", ranks, rule, "Use a size that divides them.")
    return value // ranks
