"""A made-up architecture of two known mechanisms takes one table row and a config, and is planned like any other.

The row and the config are those of the contribution guide.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.layout import resolve
from kvcore.layout.architecture import Architecture
from kvcore.layout.architectures import ARCHITECTURES
from kvcore.layout.grouped_query import grouped_query
from kvcore.layout.mamba2 import nemotron_mamba2
from kvcore.layout.traits import Traits
from kvcore.subject import forget

LAYERS, STATE_LAYERS = 8, 6
KV_HEADS, HEAD_SIZE = 4, 128
BF16, FLOAT32 = 2, 4
HEADS, STATE_HEAD, STATE_SIZE, GROUPS, KERNEL = 32, 64, 128, 1, 4
INTERMEDIATE = HEADS * STATE_HEAD

ROW = Architecture(
    layer_kinds=lambda config: config.sequence("layer_types") or (),
    caches={"mamba": (nemotron_mamba2,), "full_attention": (grouped_query,)},
    traits=Traits(keeps_state=True),
    source="tests: an architecture nobody trained",
)
CONFIG: dict[str, Any] = {
    "architectures": ["MadeUpForCausalLM"],
    "model_type": "made_up",
    "num_hidden_layers": LAYERS,
    "layer_types": ["mamba", "mamba", "mamba", "full_attention"] * 2,
    "num_attention_heads": 16,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_SIZE,
    "hidden_size": 1024,
    "mamba_num_heads": HEADS,
    "mamba_head_dim": STATE_HEAD,
    "ssm_state_size": STATE_SIZE,
    "n_groups": GROUPS,
    "conv_kernel": KERNEL,
    "vocab_size": 32_000,
    "max_position_embeddings": 32_768,
    "torch_dtype": "bfloat16",
}


@pytest.fixture(name="made_up")
def _made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The table with one row more."""
    monkeypatch.setattr(resolve, "ARCHITECTURES", {**ARCHITECTURES, "MadeUpForCausalLM": ROW})
    yield {"config": CONFIG, "kv_cache_memory_bytes": 8 << 30}
    forget()


def test_each_layer_keeps_what_its_kind_keeps(made_up: dict[str, Any]) -> None:
    report = answer(made_up)
    assert report.errors == ()
    assert report.layout is not None
    attention = next(part for part in report.layout.parts if part.growth == "per_token")
    state = next(part for part in report.layout.parts if part.growth == "per_request")
    assert (attention.layers, state.layers) == (LAYERS - STATE_LAYERS, STATE_LAYERS)
    assert attention.entry_bytes == KV_HEADS * 2 * HEAD_SIZE * BF16
    convolution = (KERNEL - 1) * (INTERMEDIATE + 2 * GROUPS * STATE_SIZE) * BF16
    recurrent = HEADS * STATE_HEAD * STATE_SIZE * FLOAT32
    assert state.entry_bytes == convolution + recurrent


def test_the_engine_pages_it_like_any_other_hybrid(made_up: dict[str, Any]) -> None:
    report = answer(made_up)
    assert report.plan is not None
    assert {group.kind for group in report.plan.groups} == {"full_attention", "mamba"}
    assert report.capacity is not None
    assert report.capacity.fits


def test_without_its_row_it_is_refused_by_name() -> None:
    report = answer({"config": CONFIG, "kv_cache_memory_bytes": 8 << 30})
    assert report.errors[0].field == "architectures"
