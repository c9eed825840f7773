"""Layer types and windows as Hugging Face's classes settle them."""

from typing import Any

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError
from kvcore.layout.layer_types import layer_types, sliding_window

S, F, C = "sliding_attention", "full_attention", "chunked_attention"


def config(model_type: str, layers: int = 8, **keys: Any) -> Any:
    heads = {"hidden_size": 1024, "num_attention_heads": 8}
    return read_config({"architectures": ["X"], "model_type": model_type, "num_hidden_layers": layers, **heads, **keys})


@pytest.mark.parametrize(
    ("model_type", "types"),
    [
        ("gemma2", [S, F, S, F, S, F, S, F]),
        ("gemma3_text", [S, S, S, S, S, F, S, S]),
        ("gemma3n_text", [S, S, S, S, F, S, S, S]),
        ("gemma4_text", [S, S, S, S, S, F, S, F]),
        ("cohere2", [S, S, S, F, S, S, S, F]),
        ("olmo3", [S, S, S, F, S, S, S, F]),
        ("exaone4", [S, S, S, F, S, S, S, F]),
        ("afmoe", [S, S, S, F, S, S, S, F]),
        ("gpt_oss", [S, F, S, F, S, F, S, F]),
        ("granite_swa", [F, S, S, S, F, S, S, S]),
        ("muse_glimmer_text", [S, S, S, F, S, S, S, F]),
        ("llama4_text", [C, C, C, F, C, C, C, F]),
        ("laguna", [F] * 8),
        ("ministral", [S] * 8),
    ],
)
def test_a_class_fills_in_its_own_pattern(model_type: str, types: list[str]) -> None:
    assert layer_types(config(model_type)) == types


def test_a_stated_list_wins_over_the_pattern() -> None:
    assert layer_types(config("gemma3_text", 2, layer_types=[F, F])) == [F, F]


def test_a_stated_pattern_length_is_followed() -> None:
    assert layer_types(config("gemma3_text", 4, sliding_window_pattern=2)) == [S, F, S, F]


def test_gemma_4_makes_its_last_layer_full_whatever_the_list_says() -> None:
    assert layer_types(config("gemma4_text", 2, layer_types=[S, S])) == [S, F]


def test_a_class_without_layer_types_leaves_them_open() -> None:
    assert layer_types(config("llama")) is None


def test_qwen_windows_the_layers_from_max_window_layers_on_if_told_to() -> None:
    keys = {"use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 6}
    assert layer_types(config("qwen2", **keys)) == [F] * 6 + [S] * 2


def test_qwen_ignores_its_window_unless_told_to_use_it() -> None:
    qwen = config("qwen2", sliding_window=4096, max_window_layers=0)
    assert sliding_window(qwen) is None
    assert layer_types(qwen) == [F] * 8


def test_smollm3_windows_layers_without_rope() -> None:
    keys = {"use_sliding_window": True, "sliding_window": 512, "no_rope_layers": [1, 1, 0, 1]}
    assert layer_types(config("smollm3", 4, **keys)) == [F, F, S, F]


def test_mistral_has_a_window_by_its_class_and_none_where_null_is_stated() -> None:
    assert sliding_window(config("mistral")) == 4096
    assert sliding_window(config("mistral", sliding_window=None)) is None


def test_bidirectional_gemma_3_looks_half_a_window_each_way() -> None:
    window = 512
    assert sliding_window(config("gemma3_text", sliding_window=window, use_bidirectional_attention=True)) == 256 + 1


@pytest.mark.parametrize("window", [False, -1])
def test_a_window_that_is_no_number_of_tokens_is_an_error(window: int) -> None:
    with pytest.raises(ConfigError, match="sliding_window"):
        sliding_window(config("mistral", sliding_window=window))


def test_a_list_that_does_not_match_the_layers_is_an_error() -> None:
    with pytest.raises(ConfigError, match="3 entries for 8 layers"):
        layer_types(config("gemma3_text", layer_types=[S, S, F]))


def test_a_list_of_rope_layers_that_does_not_match_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no_rope_layers"):
        layer_types(config("llama4_text", no_rope_layers=[1, 0]))


def test_exaone_without_window_and_list_is_an_error() -> None:
    with pytest.raises(ConfigError, match="sliding_window"):
        layer_types(config("exaone4", sliding_window=None))
