"""Latents: one compressed latent and one rotary key per token, for the checkpoints whose classes keep them."""

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError
from kvcore.layout import lay_out
from kvcore.layout.cache import AttentionCache, LatentCache
from kvcore.layout.latent import SparseLatentCache, latent, latent_or_heads

RANK, ROPE, NOPE, HEADS, HIDDEN, LAYERS = 512, 64, 128, 128, 7168, 3
DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "num_hidden_layers": LAYERS,
    "hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "kv_lora_rank": RANK,
    "qk_rope_head_dim": ROPE, "qk_nope_head_dim": NOPE,
}  # fmt: skip


def test_a_layer_keeps_the_latent_and_the_rotary_key() -> None:
    cache = latent_or_heads(read_config(DEEPSEEK), 0)
    assert isinstance(cache, LatentCache)
    assert (cache.kv_lora_rank, cache.qk_rope_head_dim) == (RANK, ROPE)


def test_a_model_type_the_engine_does_not_list_keeps_a_whole_key_per_query_head() -> None:
    cache = latent_or_heads(read_config({**DEEPSEEK, "model_type": "of_another_name"}), 0)
    assert isinstance(cache, AttentionCache)
    assert (cache.num_kv_heads, cache.head_size, cache.head_size_v) == (HEADS, NOPE + ROPE, NOPE + ROPE)


def test_a_checkpoint_without_rotary_and_position_free_parts_attends_with_plain_heads() -> None:
    small = {
        **DEEPSEEK,
        "model_type": "deepseek_v2",
        "qk_rope_head_dim": 0,
        "qk_nope_head_dim": 0,
        "kv_lora_rank": None,
    }
    cache = latent_or_heads(read_config(small), 0)
    assert isinstance(cache, AttentionCache)
    assert cache.head_size == HIDDEN // HEADS


def test_a_latent_without_stated_rank_is_an_error_that_names_it() -> None:
    unstated = {key: value for key, value in DEEPSEEK.items() if key != "kv_lora_rank"}
    with pytest.raises(ConfigError, match="kv_lora_rank"):
        latent(read_config({**unstated, "model_type": "of_another_name"}), 0)


def test_naming_index_topk_makes_the_latent_sparse() -> None:
    assert isinstance(latent(read_config({**DEEPSEEK, "index_topk": 2048}), 0), SparseLatentCache)


def test_longcat_layers_keep_two_latents_each() -> None:
    longcat = {
        **DEEPSEEK,
        "architectures": ["LongcatFlashForCausalLM"],
        "model_type": "longcat_flash",
        "num_layers": 14,
    }
    layout = lay_out(read_config({**longcat, "num_hidden_layers": 28}))
    assert layout.num_hidden_layers == 14
    assert [layer.layer_index for layer in layout.layers] == [index for index in range(14) for _ in range(2)]
