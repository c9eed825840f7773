"""An edited layout: what a row changes, what is forgotten with it, and what the engine works out again."""

from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.errors import InputError
from kvcore.layout.edited import MOST_ROWS, edited, rows_of
from kvcore.questions.layout_by_hand import layout_by_hand

LATENT = {"name": "latent", "growth": "per_token", "layers": 3, "entry_bytes": 576, "split": "whole"}
WINDOW = {"name": "window", "growth": "sliding_window", "layer_indices": [1, 3, 5], "entry_bytes": 1024, "window": 128}
LAYOUT: dict[str, Any] = {
    "name": "mine",
    "num_hidden_layers": 6,
    "parts": [{**LATENT, "engine": {"kind": "mla_attention", "page_size_bytes": 40_000}}, WINDOW],
    "engine": {
        "block_size": 64,
        "pool_bytes_per_block": 90_000,
        "groups": [{"parts": ["latent"]}, {"parts": ["window"]}],
    },
}


def change(number: int, **texts: str) -> dict[str, Any]:
    """The layout after texts were typed into one row."""
    rows = rows_of(LAYOUT)
    rows[number] |= texts
    return edited(LAYOUT, rows)


def test_rows_that_nobody_changed_stand_for_the_same_layout() -> None:
    assert edited(LAYOUT, rows_of(LAYOUT)) == LAYOUT


def test_a_size_is_changed_and_the_padded_page_of_that_part_forgotten() -> None:
    after = change(0, entry_bytes="1,152")
    assert after["parts"][0] == {**LATENT, "entry_bytes": 1152, "engine": {"kind": "mla_attention"}}
    assert after["parts"][1] == WINDOW


def test_a_stated_width_of_the_pool_is_forgotten_with_any_change() -> None:
    assert "pool_bytes_per_block" not in change(1, window="256")["engine"]
    assert change(1, window="256")["engine"]["block_size"] == 64


def test_fewer_layers_are_the_first_ones_and_more_stand_behind_the_last() -> None:
    assert change(1, layers="2")["parts"][1]["layer_indices"] == [1, 3]
    longer = change(1, layers="5")
    assert longer["parts"][1]["layer_indices"] == [1, 3, 5, 6, 7]
    assert longer["num_hidden_layers"] == 8


def test_a_dropped_part_is_gone_and_groups_that_named_it_too() -> None:
    after = edited(LAYOUT, rows_of(LAYOUT)[:1])
    assert [part["name"] for part in after["parts"]] == ["latent"]
    assert "groups" not in after["engine"]


def test_a_new_row_is_a_new_part() -> None:
    new = {"part": None, "name": "more", "growth": "per_token", "layers": "4", "entry_bytes": "2048", "window": ""}
    after = edited(LAYOUT, [*rows_of(LAYOUT), new])
    assert after["parts"][2] == {"name": "more", "growth": "per_token", "layers": 4, "entry_bytes": 2048}


def test_another_growth_leaves_storage_and_sharing_to_the_engine() -> None:
    after = change(1, growth="per_token")
    assert "window" not in after["parts"][1]
    assert "split" not in change(0, growth="per_request")["parts"][0]


def test_what_is_no_number_stays_as_typed_and_is_refused_at_its_row() -> None:
    after = change(1, entry_bytes="a lot")
    report = answer({"layout": after, "max_model_len": 4096})
    assert [error.field for error in report.errors] == ["layout.parts.1.entry_bytes"]
    assert after["parts"][1]["entry_bytes"] == "a lot"


def test_a_missing_size_is_refused_at_its_row() -> None:
    report = answer({"layout": change(0, entry_bytes=""), "max_model_len": 4096})
    assert [error.field for error in report.errors] == ["layout.parts.0.entry_bytes"]


@pytest.mark.parametrize("layout", [{}, {"parts": 5}, {"parts": [5]}, {"parts": [LATENT] * (MOST_ROWS + 1)}])
def test_what_is_no_list_of_parts_cannot_be_shown_as_rows(layout: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="a list of at most 200 parts"):
        rows_of(layout)


def test_too_many_rows_are_refused() -> None:
    with pytest.raises(InputError, match="at most 200 parts"):
        edited(LAYOUT, rows_of(LAYOUT) * MOST_ROWS)


COMMON = {"max_model_len": 8192, "kv_cache_memory_bytes": 32 << 30, "max_num_batched_tokens": 2048}


@pytest.mark.parametrize(
    "model",
    [
        "Qwen/Qwen3-Next-80B-A3B-Instruct",
        "Qwen/Qwen3.5-27B",
        "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
        "moonshotai/Kimi-Linear-48B-A3B-Instruct",
        "LiquidAI/LFM2-1.2B",
        "openai/gpt-oss-20b",
        "google/gemma-3-27b-it",
        "meta-llama/Llama-3.1-8B-Instruct",
    ],
)
def test_entries_edited_to_another_dtypes_bytes_give_the_figures_of_that_dtype(model: str) -> None:
    half = answer({"model": model, "kv_cache_dtype": "fp8", **COMMON})
    layout = layout_by_hand({"model": model, **COMMON})["layout"]
    rows = rows_of(layout)
    assert half.layout is not None
    for row, part in zip(rows, half.layout.parts, strict=True):
        row["entry_bytes"] = str(part.entry_bytes)
    after = answer({"layout": edited(layout, rows), **COMMON})
    assert after.errors == ()
    assert after.capacity == half.capacity
