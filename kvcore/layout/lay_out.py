"""Lay out: from a configuration to the tensors that persist between decode steps."""

from collections.abc import Callable

from kvcore.config import ModelConfig
from kvcore.errors import ConfigError, config_error
from kvcore.layout.architecture import Architecture
from kvcore.layout.architectures import ARCHITECTURES
from kvcore.layout.block_sparse import IndexKeyCache
from kvcore.layout.cache import (
    AttentionCache,
    Cache,
    ChunkedLocalCache,
    LatentCache,
    SlidingWindowCache,
    StateCache,
)
from kvcore.layout.compressed import CompressedLatentCache, WindowLatentCache
from kvcore.layout.drafters import drafter_layers
from kvcore.layout.grouped_query import attention_label
from kvcore.layout.indexer import IndexerCache
from kvcore.layout.layout import LayerCache, Layout
from kvcore.layout.resolve import architecture_of


def lay_out(
    config: ModelConfig,
    *,
    speculative_method: str | None = None,
    num_speculative_tokens: int = 0,
    drafter: ModelConfig | None = None,
) -> Layout:
    """Lays out a model's caches.

    Args:
        config: The checkpoint.
        speculative_method: Method of speculative decoding; ``mtp`` adds the checkpoint's own drafter layers.
        num_speculative_tokens: Tokens the drafter proposes per step.
        drafter: The drafter's own checkpoint, where it has one.

    Returns:
        The layout over the whole model, before any parallelism.

    Raises:
        ConfigError: The config lacks a fact or uses an unknown mechanism.
        EngineRefusal: The engine has no such speculative method for this model.
    """
    row = architecture_of(config)
    kinds = row.layer_kinds(config)
    layers: list[LayerCache] = []
    for index, kind in enumerate(kinds):
        builders = row.caches.get(kind)
        if builders is None:
            rule = f"layer {index} is of kind {kind!r}, which kvcore does not know for {config.architecture}"
            source = "The model's code in the engine would settle what such a layer caches."
            raise config_error(config.path("layer_types"), kind, rule, source)
        caches = [cache for builder in builders if (cache := builder(config, index)) is not None]
        layers.extend(LayerCache(layer_index=index, cache=cache) for cache in caches)
    retained = 0
    if speculative_method is not None:
        drafts, retained = drafter_layers(
            config,
            row,
            method=speculative_method,
            num_speculative_tokens=num_speculative_tokens,
            drafter=drafter,
            architectures=ARCHITECTURES,
        )
        layers.extend(drafts)
    return Layout(
        attention_kind=_attention_kind(config, [layer.cache for layer in layers]),
        num_hidden_layers=len(kinds),
        layers=tuple(layers),
        notes=_notes(config),
        shared_layers=tuple(row.shares(config)) if row.shares is not None else (),
        tower_sizes=_tower_sizes(config, row.tower_keys),
        num_attention_heads=config.optional_integer("num_attention_heads"),
        num_key_value_heads=_model_heads(row, layers) or _stated(lambda: config.num_key_value_heads),
        head_size=_model_head_size(row, layers) or _stated(lambda: config.head_dim),
        soft_capping=bool(config.get("attn_logit_softcapping")),
        extra_retained_tokens=retained,
    )


def _tower_sizes(config: ModelConfig, keys: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Sizes of the towers as far as the config states them; those left to a class default are not checked."""
    values = ((key, config.root_value(key)) for key in keys)
    return tuple((key, value) for key, value in values if isinstance(value, int) and value > 0)


def _model_heads(row: Architecture, layers: list[LayerCache]) -> int | None:
    """KV heads of the whole model where layers differ: the most of any (vLLM 0.33.0 `ModelArchitectureConfig`)."""
    if not row.heads_per_layer:
        return None
    return max((layer.cache.num_kv_heads for layer in layers if isinstance(layer.cache, AttentionCache)), default=None)


def _model_head_size(row: Architecture, layers: list[LayerCache]) -> int | None:
    """Head size of the whole model where layers differ: the largest of any."""
    if not row.heads_per_layer:
        return None
    return max((layer.cache.head_size for layer in layers if isinstance(layer.cache, AttentionCache)), default=None)


def _stated(read: Callable[[], int]) -> int | None:
    """A fact only kernels depend on: its absence is no error."""
    try:
        return read()
    except ConfigError:
        return None


def _attention_kind(config: ModelConfig, caches: list[Cache]) -> str:
    """What the layers do, then what is special about how much of it they keep."""
    kinds = dict.fromkeys(label for cache in caches if (label := _label(config, cache)))
    special = dict.fromkeys(label for cache in caches for kind, label in _SPECIAL if isinstance(cache, kind))
    if not kinds:
        return "no cache"
    first, *others = (*kinds, *special)
    return f"{first} with {' and '.join(others)}" if others else first


def _label(config: ModelConfig, cache: Cache) -> str:
    match cache:
        case AttentionCache():
            return attention_label(config.num_attention_heads, cache.num_kv_heads)
        case LatentCache():
            return "multi-head latent attention"
        case CompressedLatentCache() | WindowLatentCache():
            return "compressed latent attention"
        case StateCache():
            return cache.name
        case _:
            return ""


_SPECIAL: tuple[tuple[type[Cache], str], ...] = (
    (SlidingWindowCache, "sliding windows"),
    (WindowLatentCache, "sliding windows"),
    (ChunkedLocalCache, "local chunks"),
    (IndexerCache, "a sparse indexer"),
    (IndexKeyCache, "a sparse indexer"),
)


def _notes(config: ModelConfig) -> tuple[str, ...]:
    notes = []
    if not config.architecture:
        kind = "latents" if config.get("kv_lora_rank") is not None else "keys and values"
        notes.append(f"The config names no architectures: every layer is taken to keep {kind} of every token.")
    if config.is_multimodal:
        notes.append(f"Only the language model ({config.text_path}) is counted; vision and audio towers keep no cache.")
    return tuple(notes)
