"""Indexers: which layers choose the tokens they read, and what they keep for it."""

import pytest

from kvcore.config import ModelConfig, read_config
from kvcore.errors import ConfigError
from kvcore.layout import lay_out
from kvcore.layout.indexer import IndexerCache, indexer, owns_indexer

LAYERS, OFFSET, EVERY = 78, 3, 4
GLM = {
    "architectures": ["GlmMoeDsaForCausalLM"], "model_type": "glm_moe_dsa", "num_hidden_layers": LAYERS,
    "hidden_size": 6144, "num_attention_heads": 64, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 192, "index_topk": 2048, "index_head_dim": 128, "index_n_heads": 32,
}  # fmt: skip
SHARING = {**GLM, "index_topk_freq": EVERY, "index_skip_topk_offset": OFFSET}


def owners(config: dict[str, object]) -> list[int]:
    return [index for index in range(LAYERS) if owns_indexer(read_config(config), index)]


def test_every_layer_owns_an_indexer_unless_the_config_shares_them() -> None:
    assert owners(GLM) == list(range(LAYERS))


def test_sharing_checkpoints_own_one_in_the_first_layers_and_every_fourth_after() -> None:
    assert owners(SHARING) == [0, 1, 2, *range(6, LAYERS, EVERY)]
    assert len(owners(SHARING)) == 21


def test_a_pattern_outranks_the_frequency() -> None:
    assert owners({**SHARING, "index_topk_pattern": "FS" * (LAYERS // 2)}) == list(range(0, LAYERS, 2))


def test_layers_beyond_a_short_pattern_own_an_indexer() -> None:
    assert owners({**GLM, "index_topk_pattern": "S"}) == list(range(1, LAYERS))


def test_drafter_layers_always_own_an_indexer() -> None:
    assert owns_indexer(read_config({**GLM, "index_topk_pattern": "S" * (LAYERS + 1)}), LAYERS)


def test_a_pattern_that_is_no_sequence_is_an_error() -> None:
    with pytest.raises(ConfigError, match="index_topk_pattern"):
        owners({**GLM, "index_topk_pattern": 4})


def test_a_checkpoint_without_index_topk_keeps_no_indexer() -> None:
    dense = {key: value for key, value in GLM.items() if key != "index_topk"}
    assert indexer(read_config(dense), 0) is None


def test_the_layout_lists_the_indexer_before_the_latent_of_its_layer() -> None:
    config: ModelConfig = read_config({**SHARING, "num_hidden_layers": 4})
    names = [(layer.layer_index, layer.cache.name) for layer in lay_out(config).layers]
    assert names[:2] == [(0, "indexer"), (0, "latent")]
    assert names[-1] == (3, "latent")
    assert sum(isinstance(layer.cache, IndexerCache) for layer in lay_out(config).layers) == 3
