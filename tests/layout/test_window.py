"""Sliding windows and chunks: which layers get one and what they keep."""

from typing import Any

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError
from kvcore.layout import lay_out
from kvcore.layout.cache import AttentionCache, ChunkedLocalCache, SlidingWindowCache

S, F = "sliding_attention", "full_attention"
HEADS, KV_HEADS, HEAD_SIZE, WINDOW = 8, 4, 64, 128
SIZES = {
    "hidden_size": HEADS * HEAD_SIZE, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_SIZE,
}  # fmt: skip


def caches(architecture: str, model_type: str, layers: int, **keys: Any) -> list[Any]:
    root = {
        "architectures": [architecture], "model_type": model_type, "num_hidden_layers": layers, **SIZES, **keys,
    }  # fmt: skip
    return [layer.cache for layer in lay_out(read_config(root)).layers]


def windows(architecture: str, model_type: str, layers: int, **keys: Any) -> list[int | None]:
    return [cache.window for cache in caches(architecture, model_type, layers, **keys)]


def test_a_window_of_the_model_applies_to_every_layer() -> None:
    assert windows("MistralForCausalLM", "mistral", 3, sliding_window=WINDOW) == [WINDOW] * 3


def test_a_window_layer_keeps_keys_and_values_of_its_heads() -> None:
    (cache,) = caches("MistralForCausalLM", "mistral", 1, sliding_window=WINDOW)
    assert cache == SlidingWindowCache(
        name="sliding attention", num_kv_heads=KV_HEADS, head_size=HEAD_SIZE, head_size_v=HEAD_SIZE,
        sliding_window=WINDOW,
    )  # fmt: skip


def test_a_class_that_reads_layer_types_windows_the_sliding_layers_only() -> None:
    assert windows("LlamaForCausalLM", "llama", 3, sliding_window=WINDOW, layer_types=[S, F, S]) == [
        WINDOW, None, WINDOW,
    ]  # fmt: skip


def test_a_class_that_does_not_read_layer_types_keeps_every_token_where_they_mix() -> None:
    keys = {"use_sliding_window": True, "sliding_window": WINDOW, "layer_types": [S, F, S]}
    assert windows("Qwen3MoeForCausalLM", "qwen3_moe", 3, **keys) == [None] * 3


def test_qwen_with_a_window_on_only_some_layers_is_an_error() -> None:
    keys = {"use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 1}
    with pytest.raises(ConfigError, match="only some layers"):
        caches("Qwen2ForCausalLM", "qwen2", 3, **keys)


def test_qwen_with_a_list_of_two_layer_types_is_an_error_even_without_a_window() -> None:
    with pytest.raises(ConfigError, match="only some layers"):
        caches("Qwen2ForCausalLM", "qwen2", 3, layer_types=[S, F, F])


def test_qwen_keeps_every_token_where_its_window_is_said_to_start_behind_the_last_layer() -> None:
    keys = {"use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 3, "layer_types": [S, F, F]}
    assert windows("Qwen2ForCausalLM", "qwen2", 3, **keys) == [None] * 3


def test_laguna_keeps_every_token_of_full_layers_though_it_states_a_window() -> None:
    assert windows("LagunaForCausalLM", "laguna", 2, sliding_window=WINDOW) == [None, None]


def test_cohere_2_keeps_the_query_beside_its_window() -> None:
    keys = {"sliding_window": WINDOW, "layer_types": [S, F]}
    assert windows("Cohere2ForCausalLM", "cohere2", 2, **keys) == [WINDOW + 1, None]


def test_gpt_oss_slides_on_even_layers_and_has_sinks_on_all() -> None:
    found = caches("GptOssForCausalLM", "gpt_oss", 4, sliding_window=WINDOW)
    assert [cache.window for cache in found] == [WINDOW, None, WINDOW, None]
    assert all(cache.has_sink for cache in found)


def test_llama_4_keeps_a_chunk_where_layers_have_rope() -> None:
    chunk = 8192
    found = caches("Llama4ForCausalLM", "llama4_text", 4, attention_chunk_size=chunk)
    assert [type(cache) for cache in found] == [ChunkedLocalCache] * 3 + [AttentionCache]
    assert found[0].window == chunk


def test_openpangu_repeats_its_list_of_windows_over_the_layers() -> None:
    keys = {"interleaved_sliding_window": [WINDOW, None]}
    assert windows("PanguEmbeddedForCausalLM", "PanguEmbedded", 3, **keys) == [WINDOW, None, WINDOW]


def test_sliding_layers_without_a_window_are_an_error() -> None:
    with pytest.raises(ConfigError, match="no window"):
        caches("LlamaForCausalLM", "llama", 2, layer_types=[S, F])


@pytest.mark.parametrize("none", [0, None])
def test_a_window_of_none_or_zero_keeps_every_token(none: int | None) -> None:
    assert windows("MistralForCausalLM", "mistral", 2, sliding_window=none) == [None, None]
    assert windows("Gemma2ForCausalLM", "gemma2", 2, sliding_window=none, layer_types=[S, F]) == [None, None]


@pytest.mark.parametrize(
    ("architecture", "model_type"),
    [("Gemma4ForCausalLM", "gemma4_text"), ("LagunaForCausalLM", "laguna"), ("Cohere2ForCausalLM", "cohere2")],
)
def test_classes_that_reckon_with_their_window_take_none_as_an_error(architecture: str, model_type: str) -> None:
    with pytest.raises(ConfigError, match="no window"):
        caches(architecture, model_type, 2, sliding_window=0, layer_types=[S, F])


def test_a_layer_type_the_class_is_not_known_to_have_is_an_error() -> None:
    with pytest.raises(ConfigError, match="linear_attention"):
        caches("LlamaForCausalLM", "llama", 2, layer_types=["linear_attention", F])
