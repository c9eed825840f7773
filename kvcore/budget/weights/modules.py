"""Modules that hold weights, described as vLLM creates them: fused projections, expert stacks, vocabularies, parameters.

A module states whole-model sizes and how ranks share them; :mod:`kvcore.budget.weights.ranks` cuts out one GPU's part and
:mod:`kvcore.budget.weights.scheme` says how many bytes its elements take.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Split = Literal["column", "row", "whole"]
"""How tensor-parallel ranks share a linear layer: its outputs, its inputs, or not at all (replicated)."""

TOWERS = frozenset({"vision", "audio"})
"""Groups of what encodes pictures and sound before the language model."""

VOCABULARY_PADDING = 64
"""Rows of a vocabulary are padded to this multiple before ranks divide them (vLLM 0.33.0 `DEFAULT_VOCAB_PADDING_SIZE`)."""


@dataclass(frozen=True, kw_only=True)
class Output:
    """One projection of a fused linear layer.

    Attributes:
        name: The projection's name in the checkpoint, which lists of unquantized modules use.
        size: Outputs over all ranks.
        heads: Heads that are kept whole: with more ranks than heads, several ranks hold the same head. None: any cut.
    """

    name: str
    size: int
    heads: int | None = None


@dataclass(frozen=True, kw_only=True)
class Linear:
    """A (fused) linear layer, which a quantization scheme may store in fewer bytes.

    Attributes:
        name: Module path below its layer, or the whole path for modules outside the layers.
        group: What the weights are for, such as ``attention``.
        inputs: Input features over all ranks.
        outputs: The fused projections.
        split: How ranks share the layer.
        bias: Whether a bias in the model dtype is stored.
        quantizable: Whether the engine builds the layer with the checkpoint's quantization scheme.
        dtype: Element type where it is not the model's.
        counted: Whether the published parameter count includes it.
        copied: Outputs the engine stores although the checkpoint does not: copies of another projection.
        attends: Feeds an attention module (``keys``: with keys and values; ``latent``: with latents), for whose cache a
            quantized checkpoint stores scales; empty: does not.
        pads_to: Multiple that a rank's outputs are padded to.
        divides: Ranks share the layer only where they divide this number; else every rank holds it whole.
    """

    name: str
    group: str
    inputs: int
    outputs: tuple[Output, ...]
    split: Split = "column"
    bias: bool = False
    quantizable: bool = True
    dtype: str | None = None
    counted: bool = True
    copied: int = 0
    attends: Literal["", "keys", "latent"] = ""
    divides: int | None = None
    pads_to: int = 1

    @property
    def size(self) -> int:
        """Outputs of all projections."""
        return sum(output.size for output in self.outputs)

    @property
    def params(self) -> int:
        """Published parameters."""
        own = self.size - self.copied
        return own * self.inputs + (own if self.bias else 0)


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """An embedding or output head: one row per token of the vocabulary, padded and divided over the ranks."""

    name: str
    group: str
    rows: int
    width: int
    bias: bool = False
    counted: bool = True
    quantizable: bool = False
    padding: int = VOCABULARY_PADDING

    @property
    def params(self) -> int:
        """Parameters without padding."""
        return self.rows * (self.width + (1 if self.bias else 0))


@dataclass(frozen=True, kw_only=True)
class Experts:
    """The routed experts of one layer (vLLM 0.33.0 `FusedMoE`).

    Attributes:
        count: Experts over all ranks.
        inputs: Width the experts read and write.
        intermediate: Width between the two projections.
        gated: Whether a gate projection is fused with the first one.
        bias: Whether both projections have a bias.
        intermediate_at_least: Width a rank holds at least: narrower shares are padded to it.
    """

    name: str
    group: str
    count: int
    inputs: int
    intermediate: int
    gated: bool = True
    bias: bool = False
    counted: bool = True
    quantizable: bool = True
    intermediate_at_least: int = 1

    @property
    def projections(self) -> int:
        """Projections that widen: two where a gate is fused."""
        return 2 if self.gated else 1

    @property
    def params(self) -> int:
        """Parameters over all ranks."""
        wide = self.projections * self.intermediate
        return self.count * ((wide + self.intermediate) * self.inputs + (wide + self.inputs if self.bias else 0))


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A tensor no scheme touches: norms, sinks, convolution kernels, biases on scores.

    Attributes:
        size: Elements over all ranks.
        split: Whether ranks divide it.
        heads: As in :class:`Output`, for divided tensors.
        dtype: Element type where it is not the model's.
        counted: Whether the published parameter count includes it.
        at_least: Elements a rank holds at least.
    """

    name: str
    group: str
    size: int
    split: bool = False
    heads: int | None = None
    dtype: str | None = None
    counted: bool = True
    at_least: int = 0

    @property
    def params(self) -> int:
        """Elements over all ranks."""
        return self.size


Module = Linear | Vocabulary | Experts | Parameter


@dataclass(frozen=True, kw_only=True)
class Network:
    """All modules of a model, by where pipeline stages place them.

    Attributes:
        layers: Modules of each layer.
        first: Modules on the first stage: embeddings, towers.
        last: Modules on the last stage: final norm, output head.
        every: Modules on every stage.
        layer_prefix: Path of the layers, to which the index and a module's name are appended.
        tied: The output head is the embedding: counted once, and stored again where it stands on another stage.
        unloaded_params: Parameters the published count includes but the engine does not load; None: not known.
        tables: Bytes of tables filled at load time (RoPE), by what for; see :mod:`kvcore.budget.weights.extras`.
    """

    layers: tuple[tuple[Module, ...], ...]
    first: tuple[Module, ...]
    last: tuple[Module, ...]
    every: tuple[Module, ...] = ()
    layer_prefix: str = "model.layers"
    tied: Vocabulary | None = None
    unloaded_params: int | None = 0
    tables: Mapping[str, int] = field(default_factory=dict)

    def named(self) -> Iterable[tuple[str, Module]]:
        """Every module of the model proper with its full path."""
        for module in (*self.first, *self.every, *self.last):
            yield module.name, module
        for index, layer in enumerate(self.layers):
            for module in layer:
                yield f"{self.layer_prefix}.{index}.{module.name}", module


def linear(
    name: str,
    group: str,
    inputs: int,
    outputs: int | Mapping[str, int] | Sequence[int],
    *,
    split: Split = "column",
    bias: bool = False,
    quantizable: bool = True,
    dtype: str | None = None,
    counted: bool = True,
) -> Linear:
    """A linear layer of one projection, of several by name and size, or of several the checkpoint keeps as one."""
    projections: tuple[Output, ...]
    if isinstance(outputs, int):
        projections = (Output(name=name.rpartition(".")[2], size=outputs),)
    elif isinstance(outputs, Mapping):
        projections = tuple(Output(name=part, size=size) for part, size in outputs.items())
    else:
        projections = tuple(Output(name=name.rpartition(".")[2], size=size) for size in outputs)
    return Linear(
        name=name, group=group, inputs=inputs, outputs=projections, split=split, bias=bias, quantizable=quantizable,
        dtype=dtype, counted=counted,
    )  # fmt: skip


def norm(name: str, size: int, *, bias: bool = False, counted: bool = True, group: str = "norms") -> Parameter:
    """A normalization's weight, and its bias where it has one."""
    return Parameter(name=name, group=group, size=size * 2 if bias else size, counted=counted)


def parameters_of(modules: Iterable[Module]) -> int:
    """Published parameters of some modules."""
    return sum(module.params for module in modules if module.counted)
