"""How MiniMax M3's sparse layers are stored: keys and values in the cache's format, index keys in 16 bits."""

from typing import Any

from kvcore.answer import answer
from kvcore.report.report import Report

HEAD, INDEX, BLOCK = 128, 128, 128
M3: dict[str, Any] = {
    "architectures": ["MiniMaxM3SparseForConditionalGeneration"], "model_type": "minimax_m3_vl",
    "text_config": {
        "num_hidden_layers": 4, "hidden_size": 6144, "num_attention_heads": 64, "num_key_value_heads": 4,
        "head_dim": HEAD, "max_position_embeddings": 32768, "torch_dtype": "bfloat16",
        "sparse_attention_config": {
            "sparse_index_dim": INDEX, "sparse_topk_blocks": 16, "sparse_attention_freq": [0, 1, 1, 1],
        },
    },
}  # fmt: skip


def report(**request: Any) -> Report:
    return answer({"config": M3, "kv_cache_memory_bytes": 1 << 30, "tensor_parallel_size": 4, **request})


def page_bytes(found: Report) -> int:
    assert not found.errors, found.errors
    assert found.plan is not None
    return found.plan.page_size_bytes


def test_blocks_have_the_128_tokens_the_sparse_kernels_choose_by() -> None:
    assert page_bytes(report()) == BLOCK * (4 * 2 * HEAD * 2 + 3 * INDEX * 2)


def test_index_keys_stay_in_16_bits_when_the_cache_is_fp8() -> None:
    assert page_bytes(report(kv_cache_dtype="fp8")) == BLOCK * (4 * 2 * HEAD + 3 * INDEX * 2)


def test_blackwell_stores_nvfp4_with_a_scale_per_16_elements() -> None:
    found = report(kv_cache_dtype="nvfp4", gpu="B200")
    assert page_bytes(found) == BLOCK * (4 * 2 * (HEAD // 2 + HEAD // 16) + 3 * INDEX * 2)
    assert found.plan is not None
    assert found.plan.kv_cache_layout == "LBHNC"


def test_other_gpus_do_not_store_nvfp4() -> None:
    assert report(kv_cache_dtype="nvfp4", gpu="H100").errors[0].field == "kv_cache_dtype"


def test_ranks_that_share_tokens_are_planned_with_a_warning() -> None:
    length, ranks = 4096, 2
    found = report(tensor_parallel_size=8, decode_context_parallel_size=ranks, max_model_len=length)
    assert found.plan is not None
    assert [group.blocks_per_request for group in found.plan.groups] == [length // ranks // BLOCK]
    assert any("decode_context_parallel_size 2, but its workers will not start" in text for text in found.warnings)


def test_a_block_the_sparse_kernels_cannot_take_is_planned_with_a_warning() -> None:
    found = report(block_size=64)
    assert page_bytes(found) == 64 * (4 * 2 * HEAD * 2 + 3 * INDEX * 2)
    assert found.capacity is not None
    assert "workers will not start" in (found.capacity.objection or "")
    assert found.capacity.objection in found.warnings
    usual = report().capacity
    assert usual is not None
    assert usual.objection is None
