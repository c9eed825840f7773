"""From names in ``architectures`` to rows: wrappers, pooling heads, dropped and unnamed architectures."""

from typing import Any

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError
from kvcore.layout import architecture_of, lay_out

SIZES = {"num_hidden_layers": 2, "hidden_size": 1024, "num_attention_heads": 8, "num_key_value_heads": 2}


def layout(**root: Any) -> Any:
    return lay_out(read_config(root))


def test_a_wrapper_takes_the_row_of_the_language_model_it_states() -> None:
    text = {"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 64, **SIZES}
    found = layout(architectures=["LlavaNextForConditionalGeneration"], model_type="llava_next", text_config=text)
    assert [layer.cache.window for layer in found.layers] == [64, 64]


def test_a_wrapper_takes_the_row_its_text_type_implies() -> None:
    text = {"model_type": "qwen2", **SIZES}
    found = layout(architectures=["LlavaForConditionalGeneration"], model_type="llava", text_config=text)
    assert [layer.cache.growth for layer in found.layers] == ["per_token"] * 2


def test_a_nested_text_config_leaves_its_sizes_to_its_class() -> None:
    llama_layers, llama_heads, llama_head_size = 32, 32, 4096 // 32
    found = layout(
        architectures=["LlavaForConditionalGeneration"], model_type="llava", text_config={"vocab_size": 32_064}
    )
    assert len(found.layers) == llama_layers
    assert (found.layers[0].cache.num_kv_heads, found.layers[0].cache.head_size) == (llama_heads, llama_head_size)


def test_a_wrapper_of_an_unknown_language_model_is_an_error() -> None:
    text = {"model_type": "never_heard_of", **SIZES}
    with pytest.raises(ConfigError, match=r"text_config\.model_type"):
        layout(architectures=["LlavaForConditionalGeneration"], model_type="llava", text_config=text)


@pytest.mark.parametrize("name", ["LlamaForSequenceClassification", "InternLM2ForRewardModel"])
def test_a_pooling_head_keeps_the_caches_of_its_decoder(name: str) -> None:
    config = read_config({"architectures": [name], "model_type": "llama", **SIZES})
    assert architecture_of(config).traits.pooling
    assert len(lay_out(config).layers) == SIZES["num_hidden_layers"]


def test_an_encoder_keeps_nothing_between_steps() -> None:
    assert layout(architectures=["BertModel"], model_type="bert", **SIZES).layers == ()


def test_a_decoder_that_attends_both_ways_keeps_nothing() -> None:
    assert layout(architectures=["Qwen2ForCausalLM"], model_type="qwen2", is_causal=False, **SIZES).layers == ()


def test_a_dropped_architecture_names_the_last_release_that_had_it() -> None:
    with pytest.raises(ConfigError, match=r"0\.23\.0"):
        layout(architectures=["BaichuanForCausalLM"], model_type="baichuan", **SIZES)


def test_an_unknown_architecture_names_the_nearest_known_one() -> None:
    with pytest.raises(ConfigError, match="LlamaForCausalLM"):
        layout(architectures=["LamaForCausalLM"], model_type="llama", **SIZES)


def test_a_config_without_architectures_is_read_as_plain_attention() -> None:
    assert [layer.cache.name for layer in layout(**SIZES).layers] == ["attention"] * 2


def test_a_config_without_architectures_is_read_with_a_warning() -> None:
    assert "names no architectures" in layout(**SIZES).notes[0]


def test_a_config_without_architectures_is_read_as_latents_where_it_states_a_rank() -> None:
    found = layout(kv_lora_rank=512, qk_rope_head_dim=64, **SIZES)
    assert [layer.cache.name for layer in found.layers] == ["latent"] * 2


@pytest.mark.parametrize(
    "hint",
    [
        "sliding_window",
        "layer_types",
        "ssm_state_size",
        "conv_kernel",
        "index_topk",
        "compress_ratios",
        "linear_num_heads",
    ],
)
def test_a_config_without_architectures_that_hints_at_more_is_an_error(hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        layout(**SIZES, **{hint: 4})


def test_hints_that_are_null_or_off_do_not_matter() -> None:
    assert len(layout(sliding_window=None, use_sliding_window=False, **SIZES).layers) == 2


def test_image_tokens_that_attend_both_ways_are_a_trait_of_the_wrapper() -> None:
    text = {"model_type": "gemma3_text", **SIZES, "sliding_window": 512}
    wrapped = read_config({
        "architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": text,
    })  # fmt: skip
    alone = read_config({"architectures": ["Gemma3ForCausalLM"], **text})
    assert architecture_of(wrapped).traits.mm_prefix_lm
    assert not architecture_of(alone).traits.mm_prefix_lm
