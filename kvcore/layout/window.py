"""Sliding windows and chunks over keys and values: which layers have one, and what such a layer keeps."""

from collections.abc import Sequence

from kvcore.config import ModelConfig
from kvcore.errors import ConfigError, config_error
from kvcore.layout.cache import ChunkedLocalCache, SlidingWindowCache
from kvcore.layout.layer_kinds import LayerKinds
from kvcore.layout.layer_types import CHUNKED, FULL, SLIDING, layer_types, no_rope_layers, sliding_window


def attention_kinds(*, interleaved: bool = False, model_window: bool = True) -> LayerKinds:
    """Kinds of a decoder of keys and values: ``full_attention`` or ``sliding_attention`` per layer.

    A window of the model applies to every layer unless ``layer_types`` mixes types (vLLM 0.33.0
    `EngineArgs.create_engine_config` sets `CacheConfig.sliding_window` from it). Where they mix, only classes that read
    ``layer_types`` window their sliding layers.

    Args:
        interleaved: The engine's class passes a window to the layers whose type is ``sliding_attention``.
        model_window: Layers without a window of their own take the model's; some classes switch this off.
    """

    def kinds(config: ModelConfig) -> Sequence[str]:
        types = layer_types(config)
        window = sliding_window(config)
        if types is None:
            return (SLIDING if window is not None and model_window else FULL,) * config.num_hidden_layers
        _check_types(config, types)
        if window is None:
            if interleaved and SLIDING in types:
                raise _no_window(config)
            return (FULL,) * len(types)
        if interleaved:
            return tuple(types)
        all_slide = model_window and set(types) == {SLIDING}
        return (SLIDING if all_slide else FULL,) * len(types)

    return kinds


def chunked_kinds(config: ModelConfig) -> Sequence[str]:
    """Llama 4: layers with RoPE keep the current chunk, the others every token (vLLM 0.33.0 `Llama4Attention`)."""
    chunks = config.get("attention_chunk_size")
    return tuple(CHUNKED if rope and chunks else FULL for rope in no_rope_layers(config))


def sliding_attention(config: ModelConfig, layer_index: int) -> SlidingWindowCache:
    """The cache of one layer that keeps the model's window.

    Raises:
        ConfigError: The config states no window, head count or head size.
    """
    return _window_cache(config, 0)


def sliding_attention_plus_one(config: ModelConfig, layer_index: int) -> SlidingWindowCache:
    """As :func:`sliding_attention` for classes whose window leaves out the query (vLLM 0.33.0 `CohereAttention`)."""
    return _window_cache(config, 1)


def chunked_attention(config: ModelConfig, layer_index: int) -> ChunkedLocalCache:
    """The cache of one layer that keeps the current chunk.

    Raises:
        ConfigError: The chunk is not a positive number of tokens.
    """
    return ChunkedLocalCache(
        name="chunked attention",
        num_kv_heads=config.num_key_value_heads,
        head_size=config.head_dim,
        head_size_v=config.head_dim,
        attention_chunk_size=config.integer("attention_chunk_size"),
    )


def _window_cache(config: ModelConfig, more: int) -> SlidingWindowCache:
    window = sliding_window(config)
    if window is None:
        raise _no_window(config)
    return SlidingWindowCache(
        name="sliding attention",
        num_kv_heads=config.num_key_value_heads,
        head_size=config.head_dim,
        head_size_v=config.head_dim,
        sliding_window=window + more,
    )


def _check_types(config: ModelConfig, types: Sequence[str]) -> None:
    for index, kind in enumerate(types):
        if kind not in {FULL, SLIDING}:
            rule = f"layer {index} is of a type that {config.architecture} is not known to have"
            source = "The model's code in the engine would settle what such a layer caches."
            raise config_error(config.path("layer_types"), kind, rule, source)


def _no_window(config: ModelConfig) -> ConfigError:
    rule = "some layers are sliding_attention, but the config states no window"
    return config_error(config.path("sliding_window"), config.get("sliding_window"), rule, "Add the window in tokens.")
