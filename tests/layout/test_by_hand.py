"""Layouts given by hand: which fields are read, what is refused and under which name."""

from typing import Any

import pytest

from kvcore.errors import InputError
from kvcore.layout.by_hand import read_layout

LATENT = {"name": "latent", "growth": "per_token", "layers": 3, "entry_bytes": 576, "split": "whole"}
WINDOW = {"name": "window", "growth": "sliding_window", "layer_indices": [0, 2], "entry_bytes": 1024, "window": 128}


def refusal(*parts: Any, **fields: Any) -> tuple[str, str]:
    """The field refused and why."""
    with pytest.raises(InputError) as refused:
        read_layout({"parts": list(parts), **fields})
    return refused.value.errors[0].field, refused.value.errors[0].rule


def test_parts_become_layers_in_order() -> None:
    layout = read_layout({"name": "mine", "parts": [LATENT, WINDOW]}).layout
    assert [(layer.layer_index, layer.cache.name) for layer in layout.layers] == [
        (0, "latent"),
        (1, "latent"),
        (2, "latent"),
        (0, "window"),
        (2, "window"),
    ]
    assert layout.num_hidden_layers == 3


def test_draft_layers_do_not_count_as_the_model_s_own_where_the_depth_is_stated() -> None:
    draft = {**LATENT, "name": "draft", "draft": True, "layers": None, "layer_indices": [3]}
    layout = read_layout({"num_hidden_layers": 3, "parts": [LATENT, draft]}).layout
    assert layout.num_hidden_layers == 3
    assert [layer.draft for layer in layout.layers] == [False, False, False, True]


def test_a_misspelt_field_is_refused_by_its_path() -> None:
    assert refusal({**LATENT, "bytes": 1})[0] == "layout.parts.0.bytes"
    assert refusal(LATENT, engine={"blocksize": 16})[0] == "layout.engine.blocksize"


def test_a_window_must_state_its_tokens() -> None:
    assert refusal({**WINDOW, "window": None})[0] == "layout.parts.0.window"


def test_an_unknown_growth_names_the_known_ones() -> None:
    field, rule = refusal({**LATENT, "growth": "per_page"})
    assert field == "layout.parts.0.growth"
    assert "per_token" in rule


@pytest.mark.parametrize("entry_bytes", [0, -1, 1.5, True, "576", None, 1 << 60])
def test_sizes_are_whole_positive_and_bounded(entry_bytes: Any) -> None:
    assert refusal({**LATENT, "entry_bytes": entry_bytes})[0] == "layout.parts.0.entry_bytes"


def test_the_count_and_the_list_of_layers_must_agree() -> None:
    assert refusal({**WINDOW, "layers": 3})[0] == "layout.parts.0.layers"
    assert refusal({**LATENT, "layers": None})[0] == "layout.parts.0.layers"


def test_a_layout_without_parts_is_refused() -> None:
    assert refusal()[0] == "layout.parts"


def test_groups_must_cover_every_part_once() -> None:
    twice = {"groups": [{"parts": ["latent", "window"]}, {"parts": ["window"]}]}
    assert refusal(LATENT, WINDOW, engine={"groups": [{"parts": ["latent"]}]})[0] == "layout.engine.groups"
    assert refusal(LATENT, WINDOW, engine=twice)[0] == "layout.engine.groups"
    assert refusal(LATENT, engine={"groups": [{"parts": ["state"]}]})[0] == "layout.engine.groups.0.parts"


def test_sums_of_an_exported_layout_are_not_read_back() -> None:
    layout = read_layout({"parts": [LATENT], "bytes_per_token": 1, "attention_shards": 8}).layout
    assert sum(layer.cache.entry_bytes for layer in layout.layers) == 3 * 576  # type: ignore[attr-defined]
