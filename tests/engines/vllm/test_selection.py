"""Backend selection: which kernels run a layer, and what they ask of blocks."""

from typing import Any

import pytest

from kvcore.engines.vllm.selection import LayerQuery, select_backend
from kvcore.errors import EngineRefusal

AMPERE, ADA, HOPPER, BLACKWELL, WORKSTATION = (8, 0), (8, 9), (9, 0), (10, 0), (12, 0)
LATENT: dict[str, Any] = {
    "head_size": 576, "use_mla": True, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128,
}  # fmt: skip


def name(capability: tuple[int, int], head_size: int = 128, **demands: Any) -> str:
    return select_backend(LayerQuery(capability=capability, head_size=head_size, **demands)).name


@pytest.mark.parametrize(("capability", "expected"), [
    (AMPERE, "FLASH_ATTN"), (ADA, "FLASH_ATTN"), (HOPPER, "FLASH_ATTN"), (BLACKWELL, "FLASHINFER"),
    (WORKSTATION, "FLASH_ATTN"),
])  # fmt: skip
def test_plain_attention(capability: tuple[int, int], expected: str) -> None:
    assert name(capability) == expected


@pytest.mark.parametrize(("capability", "expected"), [
    (AMPERE, "FLASHINFER"), (ADA, "FLASHINFER"), (HOPPER, "FLASH_ATTN"), (BLACKWELL, "FLASHINFER"),
    (WORKSTATION, "FLASHINFER"),
])  # fmt: skip
def test_fp8_caches_need_a_flash_attention_newer_than_2(capability: tuple[int, int], expected: str) -> None:
    assert name(capability, kv_cache_dtype="fp8") == expected


def test_head_sizes_flashinfer_does_not_take_fall_back() -> None:
    assert name(BLACKWELL, head_size=80) == "FLASH_ATTN"


def test_attention_sinks_need_hopper_or_newer_or_triton() -> None:
    assert name(HOPPER, has_sink=True) == "FLASH_ATTN"
    assert name(AMPERE, has_sink=True) == "TRITON_ATTN"


def test_images_that_attend_in_both_directions_run_on_composites() -> None:
    assert name(HOPPER, head_size=256, use_mm_prefix=True) == "TRITON_FLASH_ATTN"
    assert name(BLACKWELL, head_size=256, use_mm_prefix=True) == "TRITON_FLASHINFER"
    assert name(AMPERE, head_size=256, use_mm_prefix=True) == "TRITON_ATTN"
    assert name(BLACKWELL, head_size=128, use_mm_prefix=True, kv_cache_dtype="fp8") == "FLASH_ATTN"


@pytest.mark.parametrize(("capability", "kv_cache_dtype", "expected"), [
    (AMPERE, "auto", "TRITON_MLA"), (HOPPER, "auto", "FLASH_ATTN_MLA"), (HOPPER, "fp8", "FLASHMLA"),
    (BLACKWELL, "auto", "FLASHINFER_MLA"), (BLACKWELL, "fp8", "FLASHINFER_MLA"), (WORKSTATION, "auto", "TRITON_MLA"),
])  # fmt: skip
def test_dense_latents(capability: tuple[int, int], kv_cache_dtype: str, expected: str) -> None:
    assert name(capability, **LATENT, kv_cache_dtype=kv_cache_dtype) == expected


def test_fp8_latents_have_no_kernel_on_ampere() -> None:
    with pytest.raises(EngineRefusal, match="kv_cache_dtype"):
        name(AMPERE, **LATENT, kv_cache_dtype="fp8")


def test_a_user_block_size_rules_kernels_out() -> None:
    assert name(BLACKWELL, **LATENT, block_size=16) == "TRITON_MLA"
    assert name(BLACKWELL, **LATENT, block_size=64) == "FLASHINFER_MLA"


def test_flashinfer_takes_large_pages_on_blackwell_where_query_heads_share_a_kv_head() -> None:
    grouped = select_backend(LayerQuery(capability=BLACKWELL, head_size=128, num_heads=32, num_kv_heads=8))
    alone = select_backend(LayerQuery(capability=BLACKWELL, head_size=128, num_heads=8, num_kv_heads=8))
    assert (max(grouped.block_sizes), max(alone.block_sizes)) == (1024, 64)
    assert grouped.kv_cache_layout == "LBHNC"


def test_the_backend_asked_for_wins_where_it_fits() -> None:
    query = LayerQuery(capability=HOPPER, **LATENT)
    assert select_backend(query, "triton_mla").name == "TRITON_MLA"


@pytest.mark.parametrize(
    ("asked_for", "reason"), [("CUTLASS_MLA", "compute capability"), ("FLASH_MLA", "Did you mean")]
)
def test_backends_that_are_unknown_or_unfit_are_refused(asked_for: str, reason: str) -> None:
    with pytest.raises(EngineRefusal, match=reason):
        select_backend(LayerQuery(capability=HOPPER, **LATENT), asked_for)
