"""Further drafters inside checkpoints: one row per architecture, in the shapes of :mod:`kvcore.budget.weights.drafter`."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kvcore.budget.weights.decoder import is_tied
from kvcore.budget.weights.drafter import (
    NEXTN,
    DrafterBuilder,
    DrafterNetwork,
    head_per_layer,
    layer,
    plain_fusion,
    table,
)
from kvcore.budget.weights.families.bailing import bailing_mixture, gated_latents, latents, v3_experts
from kvcore.budget.weights.families.deepseek import ALWAYS_CORRECTED, indexer
from kvcore.budget.weights.families.glm_next import key_pool, plain_latents
from kvcore.budget.weights.families.latent_others import PANGU_MIXTURE, sandwich_norms
from kvcore.budget.weights.families.mixture_others import HY_MIXTURE
from kvcore.budget.weights.families.mixtures import mimo_v2_window
from kvcore.budget.weights.families.sparse_others import MINIMAX_M3_MIXTURE, minimax_m3_sparse_attention
from kvcore.budget.weights.families.text import LLAMA_BLOCKS
from kvcore.budget.weights.modules import Linear, Module
from kvcore.budget.weights.parts.attention import grouped_query
from kvcore.budget.weights.parts.facts import LayerBlock
from kvcore.budget.weights.parts.feed_forward import gated_mlp
from kvcore.budget.weights.parts.latent_attention import latent_attention
from kvcore.budget.weights.quantization import quantization_section
from kvcore.config import ModelConfig

MaybeBuilder = Callable[[ModelConfig], DrafterNetwork | None]


def unquantized(build: DrafterBuilder) -> MaybeBuilder:
    """The drafter of checkpoints in plain element types; None where a scheme stores them, which was not held against it."""

    def checked(config: ModelConfig) -> DrafterNetwork | None:
        return None if quantization_section(config) else build(config)

    return checked


def at(
    config: ModelConfig, prefix: str, blocks: tuple[LayerBlock, ...], index: int, norms: int
) -> list[tuple[str, Module]]:
    """Modules by path of one layer of a drafter, with its fusion."""
    return [
        (f"{prefix}.{module.name}", module)
        for module in layer(config, blocks, index, plain_fusion(config), norms=norms)
    ]


def ernie(config: ModelConfig) -> DrafterNetwork:
    """Dense layers with two norms before the fusion and one head (vLLM 0.33.0 `ErnieMTP`)."""
    first = config.num_hidden_layers
    modules = [
        named
        for index in range(first, first + config.integer(NEXTN))
        for named in at(config, f"model.layers.{index}", LLAMA_BLOCKS, index, norms=2)
    ]
    return DrafterNetwork(
        config=config,
        modules=tuple(modules),
        embedding=table(config, "model.embed_tokens"),
        heads=() if is_tied(config, default=True) else (table(config, "lm_head"),),
    )


def longcat(config: ModelConfig) -> DrafterNetwork:
    """One dense layer with latent attention and one head (vLLM 0.33.0 `LongCatFlashMTP`)."""
    index = config.optional_integer("num_layers") or config.num_hidden_layers // 2
    blocks = (latent_attention(), gated_mlp(intermediate="ffn_hidden_size|intermediate_size"))
    return DrafterNetwork(
        config=config,
        modules=tuple(at(config, f"model.layers.{2 * index}", blocks, 2 * index, norms=3)),
        embedding=table(config, "model.embed_tokens"),
        heads=(table(config, "lm_head", quantizable=True),),
    )


def plain_output(config: ModelConfig, index: int) -> tuple[Module, ...]:
    """A window layer whose output projection no scheme touches (vLLM 0.33.0 `MiMoV2Attention` below ``mtp.layers``)."""
    fused, output, *rest = mimo_v2_window(config, index)
    return (fused, replace(output, quantizable=False) if isinstance(output, Linear) else output, *rest)


def mimo_v2(config: ModelConfig) -> DrafterNetwork:
    """One dense layer that looks back a window, whatever the config counts (vLLM 0.33.0 `MiMoV2MTP`)."""
    return DrafterNetwork(
        config=config,
        modules=tuple(at(config, "model.mtp.layers.0", (plain_output, gated_mlp()), 0, norms=3)),
        embedding=table(config, "model.embed_tokens"),
        heads=(table(config, "lm_head", quantizable=True),),
    )


def minimax_m3(config: ModelConfig) -> DrafterNetwork:
    """Sparse layers, each with its fusion, and one head (vLLM 0.33.0 `MiniMaxM3MTP`)."""
    blocks = (minimax_m3_sparse_attention, MINIMAX_M3_MIXTURE)
    modules = [
        named
        for index in range(config.integer("num_mtp_modules", 1))
        for named in at(config, f"model.layers.{index}", blocks, index, norms=3)
    ]
    return DrafterNetwork(
        config=config,
        modules=tuple(modules),
        embedding=table(config, "model.embed_tokens"),
        heads=(table(config, "lm_head", quantizable=True),),
    )


def glm_next(config: ModelConfig) -> DrafterNetwork:
    """Indexed latent layers without hyper-connections and without a head (vLLM 0.33.0 `Glm5NextMTP`)."""
    blocks = (plain_latents, indexer, key_pool, ALWAYS_CORRECTED)
    first = config.num_hidden_layers
    modules = [
        named
        for index in range(first, first + config.integer(NEXTN))
        for named in at(config, f"model.layers.{index}", blocks, index, norms=3)
    ]
    return DrafterNetwork(config=config, modules=tuple(modules), embedding=table(config, "model.embed_tokens"))


LONGCAT = unquantized(longcat)
DRAFTER_OTHERS: Mapping[str, MaybeBuilder] = {
    "Ernie4_5_MoeForCausalLM": unquantized(ernie),
    "HYV3ForCausalLM": unquantized(head_per_layer((grouped_query(qk_norm="qk_norm"), HY_MIXTURE), plain_fusion)),
    "BailingMoeV2_5ForCausalLM": unquantized(
        head_per_layer((latents, bailing_mixture(router_default="float32")), plain_fusion)
    ),
    "BailingMoeV3ForCausalLM": unquantized(head_per_layer((gated_latents, v3_experts), plain_fusion)),
    "PanguUltraMoEForCausalLM": unquantized(
        head_per_layer((latent_attention(bias=False), sandwich_norms, PANGU_MIXTURE), plain_fusion)
    ),
    "LongcatFlashForCausalLM": LONGCAT,
    "LongcatFlashNgramForCausalLM": LONGCAT,
    "MiMoV2ForCausalLM": mimo_v2,
    "MiMoV2FlashForCausalLM": mimo_v2,
    "MiniMaxM3SparseForConditionalGeneration": unquantized(minimax_m3),
    "Glm5NextForConditionalGeneration": glm_next,
}
"""Further drafters inside checkpoints, by the model's architecture."""
