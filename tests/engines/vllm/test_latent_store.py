"""How latents, indexers and compressed caches are stored: bytes of an entry, a page and a block."""

from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.report.report import PartReport, Report

RANK, ROPE, LAYERS, INDEX = 512, 64, 2, 128
BFLOAT16, FP8, SCALE = 2, 1, 4
DEEPSEEK: dict[str, Any] = {
    "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "num_hidden_layers": LAYERS,
    "hidden_size": 7168, "num_attention_heads": 128, "num_key_value_heads": 128, "kv_lora_rank": RANK,
    "qk_rope_head_dim": ROPE, "qk_nope_head_dim": 128, "max_position_embeddings": 4096, "torch_dtype": "bfloat16",
}  # fmt: skip
SPARSE = {
    **DEEPSEEK, "architectures": ["DeepseekV32ForCausalLM"], "model_type": "deepseek_v32", "index_topk": 2048,
    "index_head_dim": INDEX,
}  # fmt: skip
GLM = {**SPARSE, "architectures": ["GlmMoeDsaForCausalLM"], "model_type": "glm_moe_dsa", "qk_nope_head_dim": 192}
V4: dict[str, Any] = {
    "architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4", "num_hidden_layers": 3,
    "hidden_size": 4096, "num_attention_heads": 64, "num_key_value_heads": 1, "head_dim": 512, "qk_rope_head_dim": 64,
    "index_topk": 512, "index_head_dim": INDEX, "sliding_window": 128, "compress_ratios": [0, 4, 128],
    "max_position_embeddings": 65536, "torch_dtype": "bfloat16", "num_nextn_predict_layers": 1,
}  # fmt: skip
MEMORY = 1 << 30


def report(config: dict[str, Any], **request: Any) -> Report:
    return answer({"config": config, "kv_cache_memory_bytes": MEMORY, "tensor_parallel_size": 8, **request})


def part(found: Report, name: str) -> PartReport:
    assert not found.errors, found.errors
    assert found.layout is not None
    return next(part for part in found.layout.parts if part.name == name)


def refusal(found: Report) -> str:
    return found.errors[0].message


def test_a_latent_is_stored_whole_on_every_rank() -> None:
    latent = part(report(DEEPSEEK), "latent")
    assert latent.entry_bytes == (RANK + ROPE) * BFLOAT16
    assert latent.entry_bytes_partition == latent.entry_bytes


def test_an_fp8_latent_takes_one_byte_per_element_and_blocks_of_64_on_hopper() -> None:
    found = report(DEEPSEEK, kv_cache_dtype="fp8")
    assert part(found, "latent").entry_bytes == (RANK + ROPE) * FP8
    assert found.plan is not None
    assert found.plan.block_size == 64
    assert found.plan.page_size_bytes == LAYERS * 64 * (RANK + ROPE) * FP8


def test_a_block_size_the_best_kernel_does_not_take_picks_the_next_kernel() -> None:
    found = report(DEEPSEEK, kv_cache_dtype="fp8", block_size=16)
    assert found.plan is not None
    assert found.plan.attention_backends == ("TRITON_MLA",)


def test_an_indexer_key_takes_its_elements_and_one_scale_per_128() -> None:
    found = report(SPARSE)
    assert part(found, "indexer").entry_bytes == INDEX * FP8 + INDEX // 128 * SCALE
    assert found.plan is not None
    assert found.plan.page_size_bytes == LAYERS * 64 * ((RANK + ROPE) * BFLOAT16 + INDEX + SCALE)


@pytest.mark.parametrize(("gpu", "kv_cache_dtype", "entry", "backend"), [
    ("H100", "auto", (RANK + ROPE) * BFLOAT16, "FLASH_ATTN_MLA_SPARSE"),
    ("H100", "fp8", RANK + 4 * SCALE + ROPE * BFLOAT16, "FLASHMLA_SPARSE"),
    ("H100", "fp8_ds_mla", 656, "FLASHMLA_SPARSE"),
    ("B200", "fp8", (RANK + ROPE) * FP8, "FLASHINFER_MLA_SPARSE"),
    ("B200", "fp8_ds_mla", 656, "FLASHMLA_SPARSE"),
    ("B200", "nvfp4_ds_mla", 352, "FLASHMLA_SPARSE"),
    ("B200", "auto", (RANK + ROPE) * BFLOAT16, "FLASH_ATTN_MLA_SPARSE_FA4"),
])  # fmt: skip
def test_sparse_latents_are_packed_as_their_kernel_packs_them(
    gpu: str, kv_cache_dtype: str, entry: int, backend: str
) -> None:
    found = report(SPARSE, gpu=gpu, kv_cache_dtype=kv_cache_dtype)
    assert part(found, "latent").entry_bytes == entry
    assert found.plan is not None
    assert backend in found.plan.attention_backends


def test_glm_5_is_stored_in_fp8_on_blackwell_unless_asked_otherwise() -> None:
    assert part(report(GLM, gpu="B200"), "latent").entry_bytes == (RANK + ROPE) * FP8
    assert part(report(GLM, gpu="B200", kv_cache_dtype="bfloat16"), "latent").entry_bytes == (RANK + ROPE) * BFLOAT16


def test_fp8_by_its_e4m3_name_has_no_sparse_kernel_on_hopper() -> None:
    assert "kv_cache_dtype" in refusal(report(SPARSE, kv_cache_dtype="fp8_e4m3"))


def test_sparse_latents_have_no_kernel_on_ampere() -> None:
    assert "gpu" in refusal(report(SPARSE, gpu="A100"))


def test_sparse_latents_share_tokens_between_ranks_in_fp8_only() -> None:
    assert "fp8" in refusal(report(SPARSE, decode_context_parallel_size=2))
    found = report(SPARSE, decode_context_parallel_size=2, kv_cache_dtype="fp8")
    assert found.plan is not None
    assert [group.blocks_per_request for group in found.plan.groups] == [4096 // 2 // 64]


def test_compressed_pages_are_rounded_up_to_576_bytes() -> None:
    found = report(V4)
    assert found.layout is not None
    pages = {part.name: part.engine["page_size_bytes"] for part in found.layout.parts}
    packed = 448 + 64 * BFLOAT16 + 8
    assert pages["window latent"] == 65 * 576 >= 64 * packed
    assert pages["compressed latent 4:1"] == 65 * 576 >= 256 // 4 * packed
    assert pages["compressed latent 128:1"] == 3 * 576 >= 256 // 128 * packed
    assert pages["indexer"] == 15 * 576 >= 256 // 4 * (INDEX + SCALE)
    assert pages["compressor state 4:1"] == 57 * 576 >= 4 * 2 * 2 * 512 * 4
    assert pages["indexer compressor state"] == 15 * 576 >= 4 * 2 * 2 * INDEX * 4
    assert pages["compressor state 128:1"] == 57 * 576 >= 8 * 2 * 512 * 4


def test_windows_and_compressor_states_are_charged_their_window_and_the_tokens_in_flight() -> None:
    found = report(V4, max_num_batched_tokens=1024)
    in_flight = 2 * 1024
    assert found.plan is not None
    window, four, heavy = ((size - 1 + in_flight) for size in (128, 8, 128))
    assert {group.blocks_per_request for group in found.plan.groups} == {
        -(-window // 64) + 1, 65536 // 256, -(-four // 4) + 1, -(-heavy // 8) + 1,
    }  # fmt: skip


def test_compressed_caches_need_blocks_of_one_latent_at_least() -> None:
    tokens_of_a_latent = 128
    assert f"{tokens_of_a_latent} tokens" in refusal(report(V4, block_size=tokens_of_a_latent // 2))
    found = report(V4, block_size=tokens_of_a_latent * 3 // 2, enable_prefix_caching=False)
    assert part(found, "compressed latent 128:1").engine["page_size_bytes"] == 2 * 576 >= 448 + 64 * BFLOAT16 + 8
    assert any("blocks of 192 tokens, but its workers will not start" in text for text in found.warnings)


def test_prefixes_do_not_end_within_a_compressed_latent() -> None:
    """The engine looks at the first compressed layer, which is one of four tokens in V4 and one of 128 here."""
    heavy_first = {**V4, "compress_ratios": [128, 4, 0]}
    window_block = 64
    assert not report(V4, block_size=192).errors
    assert f"every {3 * window_block} tokens" in refusal(report(heavy_first, block_size=192))
    assert not report(heavy_first, block_size=192, enable_prefix_caching=False).errors


def test_compressed_caches_are_planned_with_half_their_block_and_a_warning() -> None:
    found = report(V4, block_size=128)
    assert not found.errors
    assert any("blocks of 128 tokens, but its workers will not start" in text for text in found.warnings)
    assert not any("workers will not start" in text for text in report(V4, block_size=512).warnings)


def test_compressed_caches_cannot_turn_the_hybrid_manager_off() -> None:
    assert "disable_hybrid_kv_cache_manager" in refusal(report(V4, disable_hybrid_kv_cache_manager=True))


def test_plain_rows_on_blackwell_are_rounded_up_to_512_bytes() -> None:
    found = report(V4, gpu="B200", attention_backend="FLASHINFER_MLA_SPARSE_DSV4", kv_cache_dtype="fp8")
    assert part(found, "window latent").entry_bytes == 512 * FP8
    assert part(found, "indexer").engine["page_size_bytes"] == 17 * 512 >= 64 * (INDEX + SCALE)
