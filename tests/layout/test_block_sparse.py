"""Block-sparse attention: whole keys and values, and an index key in the layers that choose blocks."""

from collections import Counter

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError
from kvcore.layout import lay_out

M3 = {
    "architectures": ["MiniMaxM3SparseForConditionalGeneration"], "model_type": "minimax_m3_vl",
    "text_config": {
        "num_hidden_layers": 4, "hidden_size": 6144, "num_attention_heads": 64, "num_key_value_heads": 4,
        "head_dim": 128, "num_mtp_modules": 7,
        "sparse_attention_config": {
            "sparse_index_dim": 128, "sparse_topk_blocks": 16, "sparse_attention_freq": [0, 1, 1, 1],
        },
    },
}  # fmt: skip


def test_layers_with_a_frequency_keep_index_keys_beside_their_keys_and_values() -> None:
    names = Counter(layer.cache.name for layer in lay_out(read_config(M3)).layers)
    assert names == {"attention": 1, "sparse attention": 3, "index key": 3}


def test_every_module_of_the_drafter_is_sparse() -> None:
    layout = lay_out(read_config(M3), speculative_method="mtp", num_speculative_tokens=7)
    assert Counter(layer.cache.name for layer in layout.layers if layer.draft) == {
        "index key": 7,
        "sparse attention": 7,
    }


def test_a_frequency_that_is_no_list_is_an_error() -> None:
    text = {**M3["text_config"], "sparse_attention_config": {"sparse_attention_freq": 1}}  # type: ignore[dict-item]
    with pytest.raises(ConfigError, match="sparse_attention_freq"):
        lay_out(read_config({**M3, "text_config": text}))
