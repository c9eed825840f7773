"""Drafter: the shapes of networks that propose tokens, with the tables they share with the model."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kvcore.budget.weights.decoder import is_tied
from kvcore.budget.weights.modules import Module, Vocabulary, linear, norm
from kvcore.budget.weights.parts.facts import LayerBlock, ModelBlock
from kvcore.config import ModelConfig

GROUP = "drafter"
NEXTN = "num_nextn_predict_layers"
BLOCK_NORMS = 2
"""Norms around attention and feed-forward in every layer of these families."""


@dataclass(frozen=True, kw_only=True)
class DrafterNetwork:
    """A drafter's modules by path.

    Attributes:
        config: The checkpoint that says how the modules are stored.
        modules: What is the drafter's alone.
        embedding: Its embedding, which the model's replaces where one stage holds both (vLLM 0.33.0
            `maybe_share_target_embed`); None: it has none, or it keeps its own, among the modules.
        heads: Its output heads, created and then replaced by the model's (vLLM 0.33.0 `load_eagle_model`).
    """

    config: ModelConfig = field(compare=False)
    modules: tuple[tuple[str, Module], ...]
    embedding: Vocabulary | None = None
    heads: tuple[Vocabulary, ...] = ()

    def created(self) -> tuple[tuple[str, Module], ...]:
        """Every module as the engine creates it, before anything is shared."""
        tables = self.heads if self.embedding is None else (self.embedding, *self.heads)
        return (*self.modules, *((table.name, table) for table in tables))

    def kept(self, stages: int) -> tuple[tuple[str, Module], ...]:
        """The modules that stay on the last of some pipeline stages: heads never, the embedding beyond one stage."""
        if self.embedding is None or stages == 1:
            return self.modules
        return (*self.modules, (self.embedding.name, self.embedding))


DrafterBuilder = Callable[[ModelConfig], DrafterNetwork]
"""Builds the drafter inside a checkpoint."""


def head_per_layer(blocks: tuple[LayerBlock, ...], fusion: ModelBlock) -> DrafterBuilder:
    """Layers that each fuse, normalize and have a head of their own (vLLM 0.33.0 `DeepSeekMultiTokenPredictorLayer`)."""

    def build(config: ModelConfig) -> DrafterNetwork:
        first = config.num_hidden_layers
        indices = range(first, first + config.integer(NEXTN))
        return DrafterNetwork(
            config=config,
            modules=tuple(
                (f"model.layers.{index}.{module.name}", module)
                for index in indices
                for module in layer(config, blocks, index, fusion(config), norms=3)
            ),
            embedding=table(config, "model.embed_tokens"),
            heads=tuple(table(config, f"model.layers.{index}.head", quantizable=True) for index in indices),
        )

    return build


def one_head(
    blocks: tuple[LayerBlock, ...],
    count: Callable[[ModelConfig], int],
    *,
    quantizable_head: bool,
    quantizes_fusion: Callable[[ModelConfig], bool],
) -> DrafterBuilder:
    """Layers behind one fusion with three norms (vLLM 0.33.0 `Qwen3_5MultiTokenPredictor`)."""

    def build(config: ModelConfig) -> DrafterNetwork:
        hidden = config.hidden_size
        fusion = linear("fc", GROUP, 2 * hidden, hidden, quantizable=quantizes_fusion(config))
        layers = (
            (f"mtp.layers.{index}.{module.name}", module)
            for index in range(count(config))
            for module in layer(config, blocks, index, (), norms=0)
        )
        head = table(config, "lm_head", quantizable=quantizable_head)
        return DrafterNetwork(
            config=config,
            modules=(("mtp.fc", fusion), ("mtp.norms", norm("norms", 3 * hidden)), *layers),
            embedding=table(config, "mtp.embed_tokens"),
            heads=() if is_tied(config, default=False) else (head,),
        )

    return build


def layer(
    config: ModelConfig, blocks: Iterable[LayerBlock], index: int, fusion: tuple[Module, ...], *, norms: int
) -> tuple[Module, ...]:
    """A layer like the model's, with ``norms`` more of the residual width."""
    modules = (module for block in blocks for module in block(config, index))
    return (*fusion, *modules, norm("norms", (BLOCK_NORMS + norms) * config.hidden_size))


def plain_fusion(config: ModelConfig) -> tuple[Module, ...]:
    """The embedding and the model's output, side by side, to the residual width: whole and never quantized."""
    hidden = config.hidden_size
    return (linear("eh_proj", GROUP, 2 * hidden, hidden, split="whole", quantizable=False),)


def layer_count(key: str) -> Callable[[ModelConfig], int]:
    """Layers a key states, 1 where it is absent."""
    return lambda config: config.integer(key, 1)


def table(config: ModelConfig, path: str, *, quantizable: bool = False) -> Vocabulary:
    """An embedding or a head over the model's vocabulary."""
    rows = config.integer("vocab_size")
    return Vocabulary(name=path, group=GROUP, rows=rows, width=config.hidden_size, quantizable=quantizable)
