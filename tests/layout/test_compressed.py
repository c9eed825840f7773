"""Compressed latents: a window of whole latents, and one latent per 4 or 128 tokens."""

from collections import Counter

import pytest

from kvcore.config import read_config
from kvcore.errors import ConfigError
from kvcore.layout import lay_out
from kvcore.layout.compressed import CompressorStateCache, compressed_kinds, compressor_state, indexer_compressor_state

HEAD, INDEX_HEAD, WINDOW = 512, 128, 128
V4 = {
    "architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4", "num_hidden_layers": 4,
    "hidden_size": 4096, "num_attention_heads": 64, "num_key_value_heads": 1, "head_dim": HEAD,
    "qk_rope_head_dim": 64, "index_topk": 512, "index_head_dim": INDEX_HEAD, "sliding_window": WINDOW,
    "num_nextn_predict_layers": 1, "compress_ratios": [0, 4, 128, 4, 0],
}  # fmt: skip


def parts(config: dict[str, object]) -> Counter[str]:
    return Counter(layer.cache.name for layer in lay_out(read_config(config)).layers)


def test_every_layer_keeps_a_window_and_compressed_layers_keep_more() -> None:
    assert parts(V4) == {
        "window latent": 4, "compressed latent 4:1": 2, "compressed latent 128:1": 1, "compressor state 4:1": 2,
        "compressor state 128:1": 1, "indexer": 2, "indexer compressor state": 2,
    }  # fmt: skip


def test_entries_beyond_the_layers_belong_to_the_drafter_and_are_not_counted() -> None:
    assert len(compressed_kinds(read_config(V4))) == 4


def test_overlapping_compression_keeps_two_stretches_of_inputs_and_scores() -> None:
    state = compressor_state(read_config(V4), 1)
    assert (state.state_dim, state.window) == (2 * 2 * HEAD, 2 * 4)


def test_heavy_compression_keeps_one_stretch() -> None:
    state = compressor_state(read_config(V4), 2)
    assert (state.state_dim, state.window) == (2 * HEAD, 128)


def test_only_layers_compressed_four_to_one_have_an_indexer_to_compress_for() -> None:
    state = indexer_compressor_state(read_config(V4), 1)
    assert isinstance(state, CompressorStateCache)
    assert state.state_dim == 2 * 2 * INDEX_HEAD
    assert indexer_compressor_state(read_config(V4), 2) is None


def test_the_drafter_keeps_a_window_only() -> None:
    layout = lay_out(read_config(V4), speculative_method="mtp", num_speculative_tokens=1)
    assert [layer.cache.name for layer in layout.layers if layer.draft] == ["window latent"]


@pytest.mark.parametrize(("change", "named"), [
    ({"compress_ratios": [0, 4]}, "compress_ratios"),
    ({"compress_ratios": [0, 4, 2, 4]}, "compress_ratios"),
    ({"compress_rates": {"compressed_sparse_attention": 8}, "compress_ratios": [4, 4, 4, 4]}, "compress_rates"),
])  # fmt: skip
def test_lists_and_ratios_the_engine_has_no_compressor_for_are_errors(change: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        lay_out(read_config({**V4, **change}))
