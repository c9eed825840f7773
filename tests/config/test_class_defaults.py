"""Keys a checkpoint leaves out: what its Hugging Face class supplies, and when it does not."""

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError

SIZES = {"num_hidden_layers": 2, "hidden_size": 1024, "num_attention_heads": 8}


def test_a_key_left_out_comes_from_the_class() -> None:
    assert (
        read_config({"architectures": ["MistralForCausalLM"], "model_type": "mistral", **SIZES}).num_key_value_heads
        == 8
    )


def test_a_null_is_a_statement_and_keeps_the_class_default_out() -> None:
    config = read_config({"architectures": ["GemmaForCausalLM"], "model_type": "gemma", "head_dim": None, **SIZES})
    assert config.head_dim == SIZES["hidden_size"] // SIZES["num_attention_heads"]


def test_layers_and_heads_are_never_made_up_at_the_top_level() -> None:
    with pytest.raises(ConfigError, match="num_hidden_layers"):
        read_config({"architectures": ["LlamaForCausalLM"], "model_type": "llama"})


def test_the_architecture_stands_in_for_a_model_type_left_out() -> None:
    config = read_config({"architectures": ["MistralForCausalLM"], **SIZES})
    assert config.get("sliding_window") == 4096


def test_a_nested_config_without_a_type_takes_the_one_its_wrapper_implies() -> None:
    config = read_config({"architectures": ["X"], "model_type": "mistral3", "text_config": {}})
    assert (config.model_type, config.num_hidden_layers) == ("mistral", 32)


def test_facts_flat_in_a_wrapper_that_nests_give_way_to_its_class() -> None:
    config = read_config({"architectures": ["Glm4vForConditionalGeneration"], "model_type": "glm4v", **SIZES})
    assert (config.num_hidden_layers, config.get("max_position_embeddings")) == (40, 32_768)


def test_facts_flat_in_qwen_2_vl_count() -> None:
    config = read_config({"architectures": ["Qwen2VLForConditionalGeneration"], "model_type": "qwen2_vl", **SIZES})
    assert (config.num_hidden_layers, config.model_type) == (2, "qwen2_vl_text")
