"""Sliding windows and chunks over keys and values: which layers have one, and what such a layer keeps."""

import dataclasses
from collections.abc import Sequence

from kvcore.config import ModelConfig
from kvcore.errors import ConfigError, config_error
from kvcore.layout.cache import AttentionCache, ChunkedLocalCache, SlidingWindowCache
from kvcore.layout.grouped_query import grouped_query
from kvcore.layout.layer_kinds import LayerKinds
from kvcore.layout.layer_types import CHUNKED, FULL, SLIDING, layer_types, no_rope_layers, sliding_window
from kvcore.layout.stated_window import REQUIRED_WINDOW


def attention_kinds(*, interleaved: bool = False, model_window: bool = True, refuses_mixed: bool = False) -> LayerKinds:
    """Kinds of a decoder of keys and values: ``full_attention`` or ``sliding_attention`` per layer.

    A window of the model applies to every layer unless ``layer_types`` mixes types (vLLM 0.33.0
    `EngineArgs.create_engine_config` sets `CacheConfig.sliding_window` from it). Where they mix, only classes that read
    ``layer_types`` window their sliding layers.

    Args:
        interleaved: The engine's class passes a window to the layers whose type is ``sliding_attention``.
        model_window: Layers without a window of their own take the model's; some classes switch this off.
        refuses_mixed: The engine's class refuses layers of two types (vLLM 0.33.0 `Qwen2Model`).
    """

    def kinds(config: ModelConfig) -> Sequence[str]:
        types = layer_types(config)
        window = sliding_window(config)
        if types is None:
            return (SLIDING if window is not None and model_window else FULL,) * config.num_hidden_layers
        _check_types(config, types)
        if refuses_mixed and len(set(types)) > 1:
            _check_window_layers(config)
        if window is None:
            needs_window = config.model_type in REQUIRED_WINDOW or "sliding_window" not in config.text
            if interleaved and SLIDING in types and needs_window:
                raise _no_window(config)
            return (FULL,) * len(types)
        if interleaved:
            return tuple(types)
        all_slide = model_window and set(types) == {SLIDING}
        return (SLIDING if all_slide else FULL,) * len(types)

    return kinds


def even_layers_slide(config: ModelConfig) -> Sequence[str]:
    """gpt-oss: every other layer slides whatever ``layer_types`` says (vLLM 0.33.0 `gpt_oss.OAIAttention`)."""
    types = layer_types(config) or ()
    _check_types(config, types)
    if sliding_window(config) is None:
        return (FULL,) * config.num_hidden_layers
    all_slide = set(types) == {SLIDING}
    return tuple(SLIDING if all_slide or index % 2 == 0 else FULL for index in range(config.num_hidden_layers))


def listed_window_kinds(config: ModelConfig) -> Sequence[str]:
    """openPangu: ``interleaved_sliding_window``, one window or a list repeated over the layers, 0 or null for none."""
    windows = config.get("interleaved_sliding_window")
    if windows is None:
        return attention_kinds()(config)
    return tuple(SLIDING if _listed(config, index) else FULL for index in range(config.num_hidden_layers))


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


def sliding_attention_with_sinks(config: ModelConfig, layer_index: int) -> SlidingWindowCache:
    """As :func:`sliding_attention`, with learned sinks."""
    return dataclasses.replace(_window_cache(config, 0), has_sink=True)


def grouped_query_with_sinks(config: ModelConfig, layer_index: int) -> AttentionCache:
    """A full-attention layer with learned sinks."""
    return dataclasses.replace(grouped_query(config, layer_index), has_sink=True)


def listed_window(config: ModelConfig, layer_index: int) -> SlidingWindowCache:
    """A layer whose window stands in a list over the layers, else the model's (vLLM 0.33.0 `ExaoneMoeAttention`)."""
    listed = _listed(config, layer_index)
    if listed is None:
        return _window_cache(config, 0)
    return _cache_of_window(config, listed)


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
    return _cache_of_window(config, window + more)


def _cache_of_window(config: ModelConfig, window: int) -> SlidingWindowCache:
    return SlidingWindowCache(
        name="sliding attention",
        num_kv_heads=config.num_key_value_heads,
        head_size=config.head_dim,
        head_size_v=config.head_dim,
        sliding_window=window,
    )


def _listed(config: ModelConfig, layer_index: int) -> int | None:
    """The window of one layer from ``sliding_windows`` or ``interleaved_sliding_window``; None where none is listed."""
    key = "sliding_windows" if config.get("sliding_windows") is not None else "interleaved_sliding_window"
    windows = config.get(key)
    if isinstance(windows, list | tuple):
        if not windows or (key == "sliding_windows" and len(windows) != config.num_hidden_layers):
            rule = f"the list has {len(windows)} entries for {config.num_hidden_layers} layers"
            raise config_error(config.path(key), f"{len(windows)} entries", rule, "Give the config.json unchanged.")
        windows = windows[layer_index % len(windows)]
    if windows is None or windows == 0:
        return None
    if isinstance(windows, bool) or not isinstance(windows, int) or windows < 0:
        raise config_error(config.path(key), windows, "a window is a positive number of tokens", "Give it unchanged.")
    return windows


def _check_types(config: ModelConfig, types: Sequence[str]) -> None:
    for index, kind in enumerate(types):
        if kind not in {FULL, SLIDING}:
            rule = f"layer {index} is of a type that {config.architecture} is not known to have"
            source = "The model's code in the engine would settle what such a layer caches."
            raise config_error(config.path("layer_types"), kind, rule, source)


def _check_window_layers(config: ModelConfig) -> None:
    """Layers of two types pass where ``max_window_layers`` counts them all, and then none has a window of its own."""
    if config.get("max_window_layers") != config.num_hidden_layers:
        rule = "vLLM refuses a sliding window on only some layers of this architecture"
        path = config.path("layer_types" if config.get("layer_types") else "max_window_layers")
        raise config_error(path, config.get("max_window_layers"), rule, "Set use_sliding_window to false.")


def _no_window(config: ModelConfig) -> ConfigError:
    rule = "some layers are sliding_attention, but the config states no window"
    return config_error(config.path("sliding_window"), config.get("sliding_window"), rule, "Add the window in tokens.")
