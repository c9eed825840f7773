"""What the layers do is said in words: kinds of attention first, then what limits how much they keep."""

import pytest

from kvcore.catalog import find_model
from kvcore.config import read_config
from kvcore.layout import lay_out


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "grouped-query attention"),
        ("google/gemma-3-27b-it", "grouped-query attention with sliding windows"),
        ("deepseek-ai/DeepSeek-V3.2", "multi-head latent attention with a sparse indexer"),
        ("deepseek-ai/DeepSeek-V4-Flash", "compressed latent attention with sliding windows and a sparse indexer"),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "gated delta net with grouped-query attention"),
        ("BAAI/bge-m3", "no cache"),
    ],
)
def test_the_kind_names_every_mechanism(model: str, kind: str) -> None:
    assert lay_out(read_config(find_model(model).config)).attention_kind == kind
