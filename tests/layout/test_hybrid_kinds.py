"""Which layers of a hybrid attend, by each family's own keys."""

import pytest

from kvcore.config import ModelConfig, read_config
from kvcore.errors import ConfigError
from kvcore.layout.hybrid_kinds import (
    bailing_kinds,
    bailing_v3_kinds,
    every_nth_attends,
    jamba_kinds,
    kimi_kinds,
    layer_types_or,
    lfm2_kinds,
    nemotron_kinds,
    no_layer_types,
    olmo_kinds,
    zamba2_default_kinds,
)

S, F = "linear_attention", "full_attention"


def config(model_type: str = "", num_hidden_layers: int = 4, **keys: object) -> ModelConfig:
    return read_config({"model_type": model_type, "num_hidden_layers": num_hidden_layers, **keys})


def test_every_fourth_layer_of_qwen_attends() -> None:
    kinds = layer_types_or(every_nth_attends("full_attention_interval", 4))
    assert kinds(config("qwen3_next", 8)) == (S, S, S, F) * 2


def test_a_stated_list_outranks_the_interval_and_may_use_older_names() -> None:
    kinds = layer_types_or(every_nth_attends("full_attention_interval", 4), "layer_types", "layers_block_type")
    assert kinds(config(num_hidden_layers=2, layers_block_type=["attention", "mamba"])) == (F, S)


def test_a_list_of_another_length_than_the_layers_is_an_error() -> None:
    kinds = layer_types_or(no_layer_types)
    with pytest.raises(ConfigError, match="layer_types"):
        kinds(config(layer_types=[S, F]))


def test_a_family_without_default_names_the_missing_list() -> None:
    with pytest.raises(ConfigError, match="layer_types"):
        layer_types_or(no_layer_types)(config())


def test_jamba_attends_once_a_period() -> None:
    assert jamba_kinds(config("jamba", attn_layer_period=4, attn_layer_offset=2)) == (S, S, F, S)


def test_an_offset_beyond_the_period_is_an_error() -> None:
    with pytest.raises(ConfigError, match="attn_layer_offset"):
        jamba_kinds(config("jamba", attn_layer_period=4, attn_layer_offset=4))


def test_lfm2_lists_the_layers_that_attend() -> None:
    assert lfm2_kinds(config("lfm2", full_attn_idxs=[1, 3])) == ("conv", F, "conv", F)


def test_a_short_olmo_hybrid_attends_in_its_last_layer() -> None:
    assert olmo_kinds(config("olmo_hybrid", 3)) == [S, S, F]


def test_letters_of_a_nemotron_pattern_name_layers_and_count_them() -> None:
    read = read_config({"model_type": "nemotron_h", "num_hidden_layers": 99, "hybrid_override_pattern": "ME*-"})
    assert nemotron_kinds(read) == (S, "moe", F, "mlp")
    assert read.num_hidden_layers == len("ME*-")


def test_an_unknown_letter_is_an_error() -> None:
    with pytest.raises(ConfigError, match="hybrid_override_pattern"):
        nemotron_kinds(config("nemotron_h", hybrid_override_pattern="MX"))


def test_kimi_counts_layers_from_one() -> None:
    assert kimi_kinds(config("kimi_linear", linear_attn_config={"kda_layers": [1, 3]})) == (S, F, S, F)


def test_bailing_attends_at_the_end_of_each_group_and_its_successor_behind_the_last_one() -> None:
    read = config("bailing_hybrid", 5, layer_group_size=2)
    assert bailing_kinds(read) == (S, F, S, F, S)
    assert bailing_v3_kinds(read) == (S, F, S, F, F)


def test_zamba2_has_a_default_pattern_for_its_published_depth_only() -> None:
    hybrid_layers = [6, 12, 18, 24, 30, 36, 42, 47, 51]
    kinds = zamba2_default_kinds(config("zamba2", 54))
    assert [index for index, kind in enumerate(kinds) if kind == "hybrid"] == hybrid_layers
    with pytest.raises(ConfigError, match="layers_block_type"):
        zamba2_default_kinds(config("zamba2", 38))
