"""Models whose layers differ in heads, share caches, or pad their values."""

from typing import Any

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError
from kvcore.layout import lay_out
from kvcore.layout.cache import AttentionCache

GEMMA4 = {
    "architectures": ["Gemma4ForCausalLM"], "model_type": "gemma4_text", "num_hidden_layers": 6,
    "hidden_size": 2816, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256, "sliding_window": 1024,
}  # fmt: skip
MIMO = {
    "architectures": ["MiMoV2FlashForCausalLM"], "model_type": "mimo_v2_flash", "num_hidden_layers": 2,
    "hidden_size": 4096, "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 192, "v_head_dim": 128,
    "swa_num_attention_heads": 64, "swa_num_key_value_heads": 8, "swa_head_dim": 192, "swa_v_head_dim": 128,
    "sliding_window_size": 128, "hybrid_layer_pattern": [0, 1],
}  # fmt: skip
NAS = {
    "architectures": ["DeciLMForCausalLM"], "model_type": "nemotron-nas", "num_hidden_layers": 3,
    "hidden_size": 8192, "num_attention_heads": 64,
}  # fmt: skip


def heads(root: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """Layer, KV heads, key and value size of every cache."""
    layers = lay_out(read_config(root)).layers
    found = [(layer.layer_index, layer.cache) for layer in layers]
    return [(i, c.num_kv_heads, c.head_size, c.head_size_v) for i, c in found if isinstance(c, AttentionCache)]


def test_gemma_4_widens_the_heads_of_full_layers() -> None:
    assert heads(GEMMA4) == [*[(index, 8, 256, 256) for index in range(5)], (5, 8, 512, 512)]


def test_gemma_4_has_fewer_global_heads_where_keys_serve_as_values() -> None:
    keys = {"attention_k_eq_v": True, "num_global_key_value_heads": 2, "global_head_dim": 512}
    assert heads({**GEMMA4, **keys})[-1] == (5, 2, 512, 512)


def test_global_heads_do_not_count_unless_keys_serve_as_values() -> None:
    assert heads({**GEMMA4, "num_global_key_value_heads": 2})[-1] == (5, 8, 512, 512)


def test_the_last_layers_of_gemma_4_share_and_store_nothing() -> None:
    types = ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]
    root = {**GEMMA4, "num_hidden_layers": 4, "layer_types": types, "num_kv_shared_layers": 2}
    layout = lay_out(read_config(root))
    assert [layer.layer_index for layer in layout.layers] == [0, 1]
    assert layout.shared_layers == ((2, 0), (3, 1))


@pytest.mark.parametrize("shared", [3, 4, 20])
def test_a_sharing_layer_needs_one_of_its_type_before_it(shared: int) -> None:
    types = ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]
    root = {**GEMMA4, "num_hidden_layers": 4, "layer_types": types, "num_kv_shared_layers": shared}
    with pytest.raises(ConfigError, match="num_kv_shared_layers"):
        lay_out(read_config(root))


def test_mimo_v2_gives_window_layers_heads_of_their_own_and_narrower_values() -> None:
    assert heads(MIMO) == [(0, 4, 192, 128), (1, 8, 192, 128)]


def test_a_pattern_shorter_than_the_layers_is_an_error() -> None:
    with pytest.raises(ConfigError, match="hybrid_layer_pattern"):
        lay_out(read_config({**MIMO, "hybrid_layer_pattern": [0]}))


def test_nemotron_nas_counts_kv_heads_per_block_and_skips_blocks_without_attention() -> None:
    blocks = [
        {"attention": {"n_heads_in_group": 8, "no_op": False}},
        {"attention": {"no_op": True}},
        {"attention": {"n_heads_in_group": 16, "no_op": False}},
    ]
    head_size = 8192 // 64
    expected = [(0, 64 // 8, head_size, head_size), (2, 64 // 16, head_size, head_size)]
    assert heads({**NAS, "block_configs": blocks}) == expected


@pytest.mark.parametrize("group", [0, 7, None, "8"])
def test_heads_in_a_group_that_do_not_divide_are_an_error(group: object) -> None:
    blocks = [{"attention": {"n_heads_in_group": group}}] * 3
    with pytest.raises(ConfigError, match="n_heads_in_group"):
        lay_out(read_config({**NAS, "block_configs": blocks}))


def test_falcon_keeps_one_head_unless_its_decoder_is_the_new_one() -> None:
    falcon = {
        "architectures": ["FalconForCausalLM"], "model_type": "falcon", "num_hidden_layers": 1, "hidden_size": 4544,
        "num_attention_heads": 71,
    }  # fmt: skip
    assert heads(falcon) == [(0, 1, 64, 64)]
    new = {"new_decoder_architecture": True, "num_kv_heads": 8, "hidden_size": 14_848, "num_attention_heads": 232}
    assert heads({**falcon, **new}) == [(0, 8, 64, 64)]


def test_chatglm_counts_groups_only_where_queries_share() -> None:
    chatglm = {
        "architectures": ["ChatGLMModel"], "model_type": "chatglm", "num_layers": 1, "hidden_size": 4096,
        "num_attention_heads": 32, "multi_query_group_num": 2, "kv_channels": 128,
    }  # fmt: skip
    assert heads({**chatglm, "multi_query_attention": True}) == [(0, 2, 128, 128)]
    assert heads({**chatglm, "multi_query_attention": False}) == [(0, 32, 128, 128)]


def test_minicpm_3_stores_plain_heads_though_it_states_a_latent() -> None:
    minicpm = {
        "architectures": ["MiniCPM3ForCausalLM"], "model_type": "minicpm3", "num_hidden_layers": 1,
        "hidden_size": 2560, "num_attention_heads": 40, "kv_lora_rank": 256, "qk_nope_head_dim": 64,
        "qk_rope_head_dim": 32,
    }  # fmt: skip
    assert heads(minicpm) == [(0, 40, 64 + 32, 64 + 32)]


def test_whisper_keeps_its_own_tokens_and_the_encoder_s_in_every_decoder_layer() -> None:
    heads_of_decoder, width = 20, 1280
    whisper = {
        "architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper", "encoder_layers": 32,
        "encoder_attention_heads": 20, "decoder_layers": 2, "decoder_attention_heads": heads_of_decoder,
        "d_model": width,
    }  # fmt: skip
    layout = lay_out(read_config(whisper))
    assert [(layer.layer_index, layer.cache.growth) for layer in layout.layers] == [
        (0, "per_token"), (0, "per_encoder_token"), (1, "per_token"), (1, "per_encoder_token"),
    ]  # fmt: skip
    assert {head_size for _, _, head_size, _ in heads(whisper)} == {width // heads_of_decoder}
