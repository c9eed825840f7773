"""States as vLLM 0.33.0 stores them: element types, copies for speculation and prefill checkpoints."""

import dataclasses
from typing import Any

import pytest

from kvcore.catalog.gpus import find_gpu
from kvcore.engines.vllm.specs import ChargeContext, MambaSpec
from kvcore.engines.vllm.store import StoreContext, store
from kvcore.errors import EngineRefusal
from kvcore.layout.cache import StateCache
from kvcore.layout.gated_delta_net import GatedDeltaNetCache
from kvcore.layout.kimi_delta import KimiDeltaCache
from kvcore.layout.lightning_attention import LightningAttentionCache
from kvcore.layout.mamba1 import Mamba1Cache
from kvcore.layout.mamba2 import Mamba2Cache
from kvcore.layout.short_convolution import ShortConvolutionCache

BF16, F32 = 2, 4
KERNEL = 4

MAMBA1 = Mamba1Cache(name="mamba", intermediate_size=8192, state_size=16, conv_kernel=KERNEL)
MAMBA2 = Mamba2Cache(
    name="mamba2", temporal_dtype="float32", intermediate_size=8192, n_groups=8, num_heads=128, head_dim=64,
    state_size=128, conv_kernel=KERNEL,
)  # fmt: skip
DELTA_NET = GatedDeltaNetCache(
    name="gated delta net", temporal_dtype="float32", num_k_heads=16, num_v_heads=48, head_k_dim=128, head_v_dim=128,
    conv_kernel_size=KERNEL, family="qwen",
)  # fmt: skip
KIMI = KimiDeltaCache(
    name="kimi delta attention", temporal_dtype="float32", num_heads=32, head_dim=128, conv_kernel_size=KERNEL,
    has_bounded_gate=True, family="kimi_k3",
)  # fmt: skip
WINDOW = ShortConvolutionCache(name="short convolution", conv_dim=2048, conv_kernel=3)
LIGHTNING = LightningAttentionCache(name="lightning attention", num_heads=32, head_dim=64, group_norm_size=8)

ALIGN = ChargeContext(max_in_flight_tokens=16_384, mamba_cache_mode="align")
NONE = ChargeContext(max_in_flight_tokens=16_384, mamba_cache_mode="none")


def context(gpu: str = "H100", **changes: Any) -> StoreContext:
    base = StoreContext(
        gpu=find_gpu(gpu), tensor_parallel_size=1, block_size=16, dtype="bfloat16", kv_cache_dtype="auto",
        mamba_cache_mode="align", max_model_len=8192,
    )  # fmt: skip
    return dataclasses.replace(base, **changes)


def spec(cache: StateCache, gpu: str = "H100", **changes: Any) -> MambaSpec:
    stored = store(cache, context(gpu, **changes)).spec
    assert isinstance(stored, MambaSpec)
    return stored


def test_a_mamba1_state_is_kept_in_the_model_dtype() -> None:
    assert spec(MAMBA1).unpadded_page_size_bytes == (3 * 8192 + 8192 * 16) * BF16


def test_a_declared_recurrent_dtype_holds_for_the_recurrent_state_only() -> None:
    conv, state = 3 * (2 * 16 * 128 + 48 * 128), 48 * 128 * 128
    assert spec(DELTA_NET).unpadded_page_size_bytes == conv * BF16 + state * F32


def test_the_flag_outranks_the_declared_dtype() -> None:
    conv, state = 3 * (8192 + 2 * 8 * 128), 128 * 64 * 128
    assert spec(MAMBA2, mamba_ssm_cache_dtype="bfloat16").unpadded_page_size_bytes == (conv + state) * BF16


def test_without_a_recurrent_dtype_the_conv_dtype_holds_for_both() -> None:
    assert spec(MAMBA1, mamba_cache_dtype="float32").unpadded_page_size_bytes == (3 * 8192 + 8192 * 16) * F32


def test_lightning_attention_follows_the_flag_of_convolution_states() -> None:
    elements = 32 * 64 * 64
    assert spec(LIGHTNING, mamba_ssm_cache_dtype="float32").unpadded_page_size_bytes == elements * BF16
    assert spec(LIGHTNING, mamba_cache_dtype="float32").unpadded_page_size_bytes == elements * F32


def test_kimi_delta_attention_refuses_half_precision_states() -> None:
    with pytest.raises(EngineRefusal, match="mamba_ssm_cache_dtype"):
        spec(KIMI, mamba_ssm_cache_dtype="float16")


def test_kimi_linear_layers_stay_in_float32_whatever_the_flag_says() -> None:
    linear = dataclasses.replace(KIMI, family="kimi_linear")
    conv, state = 3 * 3 * 32 * 128, 32 * 128 * 128
    assert spec(linear, mamba_ssm_cache_dtype="bfloat16").unpadded_page_size_bytes == conv * BF16 + state * F32
    assert spec(KIMI, mamba_ssm_cache_dtype="bfloat16").unpadded_page_size_bytes == (conv + state) * BF16


def test_every_speculative_token_adds_a_copy_of_the_state() -> None:
    drafts = 3
    assert spec(DELTA_NET, num_speculative_tokens=drafts).blocks_per_request(8192, NONE) == 1 + drafts


def test_align_charges_the_state_of_the_step_before_and_the_prefill_checkpoint() -> None:
    current, before, checkpoint = 1, 1, 1
    assert spec(MAMBA2).blocks_per_request(8192, ALIGN) == current + before + checkpoint
    assert spec(MAMBA1).blocks_per_request(8192, ALIGN) == current + before
    assert spec(WINDOW).blocks_per_request(8192, ALIGN) == current + before


def test_a_running_request_gives_the_align_copies_back() -> None:
    drafts = 2
    assert spec(MAMBA2, num_speculative_tokens=drafts).blocks_held(8192, ALIGN) == 1 + drafts


@pytest.mark.parametrize(("gpu", "blocks"), [("H100", 1), ("B200", 1), ("A100", 0), ("L40S", 0)])
def test_delta_net_exports_checkpoints_where_flashinfer_prefills(gpu: str, blocks: int) -> None:
    assert spec(DELTA_NET, gpu).num_prefill_checkpoint_blocks == blocks


def test_blackwell_exports_checkpoints_of_keys_of_128_elements_only() -> None:
    narrow = dataclasses.replace(DELTA_NET, head_k_dim=64)
    assert spec(narrow, "B200").num_prefill_checkpoint_blocks == 0
    assert spec(narrow, "H100").num_prefill_checkpoint_blocks == 1


def test_olmo_runs_another_prefill_kernel() -> None:
    assert spec(dataclasses.replace(DELTA_NET, family="olmo")).num_prefill_checkpoint_blocks == 0


def test_kimi_exports_checkpoints_where_flashkda_prefills() -> None:
    assert spec(KIMI).num_prefill_checkpoint_blocks == 1
    assert spec(KIMI, "A100").num_prefill_checkpoint_blocks == 0
    assert spec(dataclasses.replace(KIMI, has_bounded_gate=False)).num_prefill_checkpoint_blocks == 0
    assert spec(dataclasses.replace(KIMI, family="kimi_linear")).num_prefill_checkpoint_blocks == 0


def test_without_prefix_caching_one_block_stands_for_the_whole_context() -> None:
    assert spec(MAMBA1, mamba_cache_mode="none", max_model_len=4096).block_size == 4096


def test_decode_context_parallelism_does_not_divide_a_state() -> None:
    assert spec(MAMBA1).dcp_sharded is False


def test_drafts_that_outgrow_the_padded_page_of_lfm2_are_refused() -> None:
    page = 32_768  # 16 tokens of 8 KV heads × 128 × 2 bytes: what a window without drafts is padded to
    fitting, too_many = 6, 7  # (2 + 6) × 2,048 × 2 = 32,768 bytes
    assert spec(WINDOW, num_speculative_tokens=fitting, state_page_size_padded=page).page_size_bytes == page
    with pytest.raises(EngineRefusal, match="32,768"):
        spec(WINDOW, num_speculative_tokens=too_many, state_page_size_padded=page)


@pytest.mark.parametrize("cache", [MAMBA1, MAMBA2, DELTA_NET, KIMI, WINDOW, LIGHTNING], ids=lambda cache: cache.name)
def test_the_substituted_formula_comes_to_the_bytes_of_the_state(cache: StateCache) -> None:
    stored = store(cache, context(tensor_parallel_size=4, num_speculative_tokens=2))
    arithmetic = stored.substituted.replace("×", "*").replace("−", "-")
    assert eval(arithmetic) == stored.spec.unpadded_page_size_bytes  # noqa: S307 - our own arithmetic
