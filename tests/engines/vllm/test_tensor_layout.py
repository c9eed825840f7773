"""Tensor layout: the order of the cache's dimensions all backends of a model take."""

import dataclasses

import pytest

from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.specs import FullAttentionSpec
from kvcore.engines.vllm.tensor_layout import resolve_tensor_layout
from kvcore.errors import EngineRefusal

SPEC = FullAttentionSpec(block_size=16, num_kv_heads=8, head_size=128, head_size_v=128, dtype="bfloat16", dtype_bytes=2)
WIDER = dataclasses.replace(SPEC, head_size=256, head_size_v=256)
ANY = Backend(name="ANY", multiple_of=16)
OUTER = Backend(name="OUTER", multiple_of=16, kv_cache_layouts=("BLHNC", "BLNHC"))
HEADS_FIRST = Backend(name="HEADS_FIRST", multiple_of=16, kv_cache_layouts=("LBHNC", "BLHNC"))
SCATTERED = Backend(name="SCATTERED", multiple_of=16, kv_cache_layouts=("LHBNC",))


def test_without_a_declaration_layers_lie_outermost() -> None:
    assert resolve_tensor_layout([ANY], [SPEC]) == "LBNHC"


def test_one_declaration_decides() -> None:
    assert resolve_tensor_layout([ANY, OUTER], [SPEC]) == "BLHNC"


def test_several_declarations_meet_in_their_intersection() -> None:
    assert resolve_tensor_layout([HEADS_FIRST, OUTER], [SPEC]) == "BLHNC"


def test_pages_of_several_shapes_need_a_page_in_one_run() -> None:
    assert resolve_tensor_layout([SCATTERED], [SPEC]) == "LHBNC"
    with pytest.raises(EngineRefusal, match="share no cache layout"):
        resolve_tensor_layout([SCATTERED], [SPEC, WIDER])
