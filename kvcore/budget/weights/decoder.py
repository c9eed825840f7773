"""Decoder: a language model composed of blocks, with its embedding, final norm and output head."""

from collections.abc import Callable
from dataclasses import dataclass

from kvcore.budget.weights.modules import Module, Network, Vocabulary, norm
from kvcore.budget.weights.parts.facts import LayerBlock, ModelBlock
from kvcore.config import ModelConfig

EVERYWHERE = frozenset({"embedding", "norm", "head"})
"""All a class can build on every stage: those of vLLM whose pipeline stages leave nothing out."""

Builder = Callable[[ModelConfig], Network]
"""Builds the network of a configuration."""


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """What sets one decoder apart from another: a row of the family tables.

    Attributes:
        blocks: Blocks of every layer.
        norms: Norms of the residual width in every layer.
        norm_bias: Whether these norms and the final one have biases.
        prefix: Path of the layers.
        embedding: Path of the embedding.
        nested: Whether the language model stands in a wrapper, so that its paths start with ``language_model``.
        tied_by_default: Whether the head is the embedding where the config says nothing.
        always_tied: The engine's class has no head of its own, whatever the config says.
        never_tied: The engine's class builds a head of its own, whatever the config says.
        head_bias: Whether the output head has a bias.
        headless: The engine's class has no output head: embedding, reward and classification models.
        everywhere: Which of ``embedding``, ``norm`` and ``head`` the engine's class builds on every pipeline stage,
            not only where it is used.
        final_norm: Whether a norm follows the last layer.
        norm_weights: Whether norms have weights at all.
        first: Further modules on the first stage, such as towers.
        last: Further modules on the last stage.
        every: Further modules on every stage.
        unloaded: Published parameters the engine does not load.
    """

    blocks: tuple[LayerBlock, ...]
    norms: int = 2
    norm_bias: bool = False
    prefix: str = "model.layers"
    embedding: str = "model.embed_tokens"
    nested: bool = False
    tied_by_default: bool = False
    always_tied: bool = False
    never_tied: bool = False
    head_bias: bool = False
    headless: bool = False
    everywhere: frozenset[str] = frozenset()
    final_norm: bool = True
    norm_weights: bool = True
    first: tuple[ModelBlock, ...] = ()
    last: tuple[ModelBlock, ...] = ()
    every: tuple[ModelBlock, ...] = ()
    unloaded: Callable[[ModelConfig], int | None] | None = None

    def __call__(self, config: ModelConfig) -> Network:
        """Builds the network.

        Raises:
            ConfigError: The config lacks a size.
        """
        rows, hidden = config.integer("vocab_size"), config.hidden_size
        wrapper = "language_model." if self.nested else ""
        embedding = Vocabulary(name=wrapper + self.embedding, group="embedding", rows=rows, width=hidden)
        tied = not self.never_tied and (self.always_tied or is_tied(config, default=self.tied_by_default))
        places: dict[str, list[Module]] = {"first": [], "last": [], "every": []}
        self._place(places, "embedding", "first", embedding)
        if self.final_norm and self.norm_weights:
            self._place(places, "norm", "last", norm("norm", hidden, bias=self.norm_bias))
        if not tied and not self.headless:
            head = Vocabulary(
                name=f"{wrapper}lm_head",
                group="lm_head",
                rows=rows,
                width=hidden,
                bias=self.head_bias,
                quantizable=True,
                counted=not (self.never_tied and is_tied(config, default=self.tied_by_default)),
            )
            self._place(places, "head", "last", head)
        is_shared = tied and not self.headless and "embedding" not in self.everywhere
        return Network(
            first=(*places["first"], *_all(self.first, config)),
            layers=tuple(self._layer(config, index) for index in range(config.num_hidden_layers)),
            last=(*places["last"], *_all(self.last, config)),
            every=(*places["every"], *_all(self.every, config)),
            layer_prefix=wrapper + self.prefix,
            tied=embedding if is_shared else None,
            unloaded_params=self.unloaded(config) if self.unloaded is not None else 0,
        )

    def _place(self, places: dict[str, list[Module]], what: str, where: str, module: Module) -> None:
        places["every" if what in self.everywhere else where].append(module)

    def _layer(self, config: ModelConfig, index: int) -> tuple[Module, ...]:
        modules: list[Module] = [module for block in self.blocks for module in block(config, index)]
        if self.norms and self.norm_weights:
            modules.append(norm("norms", self.norms * config.hidden_size, bias=self.norm_bias))
        return tuple(modules)


def is_tied(config: ModelConfig, *, default: bool) -> bool:
    """Whether embedding and output head share their weights (Hugging Face `tie_word_embeddings`)."""
    for mapping in (config.text, config.root):
        value = mapping.get("tie_word_embeddings")
        if isinstance(value, bool):
            return value
    return default


def _all(blocks: tuple[ModelBlock, ...], config: ModelConfig) -> tuple[Module, ...]:
    return tuple(module for block in blocks for module in block(config))
