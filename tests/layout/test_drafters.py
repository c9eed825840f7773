"""Drafters: layers of the checkpoint's own, and checkpoints of their own, as draft parts."""

from typing import Any

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError, EngineRefusal
from kvcore.layout import Layout, lay_out

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": 8,
}  # fmt: skip
GLM4: dict[str, Any] = {
    **LLAMA, "architectures": ["Glm4MoeForCausalLM"], "model_type": "glm4_moe", "num_nextn_predict_layers": 2,
}  # fmt: skip
HEAD = {**LLAMA, "architectures": ["LlamaForCausalLMEagle3"], "num_hidden_layers": 1}


def drafted(config: dict[str, Any], method: str, tokens: int, drafter: dict[str, Any] | None = None) -> Layout:
    own = None if drafter is None else read_config(drafter)
    return lay_out(read_config(config), speculative_method=method, num_speculative_tokens=tokens, drafter=own)


def drafts(layout: Layout) -> list[int]:
    return [layer.layer_index for layer in layout.layers if layer.draft]


@pytest.mark.parametrize("method", ["ngram", "suffix"])
def test_methods_without_a_model_cache_nothing(method: str) -> None:
    assert drafts(drafted(LLAMA, method, 4)) == []


@pytest.mark.parametrize("method", ["mtp", "glm4_moe_mtp"])
def test_the_checkpoints_own_drafter_follows_the_models_layers(method: str) -> None:
    assert drafts(drafted(GLM4, method, 2)) == [32, 33]


def test_exaone_moe_drafts_with_layers_like_its_first() -> None:
    window = 128
    root = {
        **LLAMA, "architectures": ["ExaoneMoEForCausalLM"], "model_type": "exaone_moe", "num_hidden_layers": 4,
        "sliding_window": window, "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
        "num_nextn_predict_layers": 1,
    }  # fmt: skip
    layout = drafted(root, "mtp", 3)
    assert [(layer.layer_index, layer.cache.growth) for layer in layout.layers if layer.draft] == [
        (4, "sliding_window")
    ]
    with pytest.raises(ConfigError, match="mtp_layer_types"):
        drafted({**root, "mtp_layer_types": ["full_attention"]}, "mtp", 3)


def test_glm_ocr_has_the_drafter_its_language_model_has_not_alone() -> None:
    text = {**LLAMA, "model_type": "glm_ocr_text", "num_nextn_predict_layers": 1}
    ocr = {"architectures": ["GlmOcrForConditionalGeneration"], "model_type": "glm_ocr", "text_config": text}
    assert drafts(drafted(ocr, "mtp", 1)) == [32]
    with pytest.raises(EngineRefusal, match="Glm4ForCausalLM has no drafter"):
        drafted({**text, "architectures": ["Glm4ForCausalLM"], "model_type": "glm4"}, "mtp", 1)


def test_several_modules_make_windows_keep_the_tokens_they_read_ahead() -> None:
    assert drafted(GLM4, "mtp", 1).extra_retained_tokens == 0
    assert drafted(GLM4, "mtp", 4).extra_retained_tokens == 4 - 1


def test_more_tokens_than_modules_must_be_a_multiple_of_them() -> None:
    with pytest.raises(EngineRefusal, match="multiple"):
        drafted(GLM4, "mtp", 3)


def test_mtp_on_an_architecture_without_drafter_is_refused() -> None:
    with pytest.raises(EngineRefusal, match="speculative_config"):
        drafted(LLAMA, "mtp", 1)


def test_mtp_on_a_checkpoint_that_ships_none_is_an_error() -> None:
    with pytest.raises(ConfigError, match="num_nextn_predict_layers"):
        drafted({**GLM4, "num_nextn_predict_layers": 0}, "mtp", 1)


def test_a_kimi_k2_checkpoint_has_no_mtp_though_its_class_is_deepseeks() -> None:
    kimi = {
        **LLAMA, "architectures": ["DeepseekV3ForCausalLM"], "model_type": "kimi_k2", "kv_lora_rank": 512,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "num_nextn_predict_layers": 1,
    }  # fmt: skip
    with pytest.raises(EngineRefusal, match="kimi_k2"):
        drafted(kimi, "mtp", 1)


def test_an_eagle_head_adds_its_own_layers() -> None:
    assert drafts(drafted(LLAMA, "eagle3", 3, HEAD)) == [32]


def test_a_draft_model_adds_all_its_layers() -> None:
    small = {**LLAMA, "num_hidden_layers": 16, "hidden_size": 2048}
    assert drafts(drafted(LLAMA, "draft_model", 3, small)) == list(range(32, 48))


def test_a_method_that_needs_a_checkpoint_says_so() -> None:
    with pytest.raises(EngineRefusal, match=r"speculative_config\.config"):
        drafted(LLAMA, "eagle", 3)


def test_unknown_methods_are_refused() -> None:
    with pytest.raises(EngineRefusal, match="medusa"):
        drafted(LLAMA, "medusa", 3, HEAD)
