"""The state pool of hybrids against hand arithmetic."""

from tests.engines.sglang.questions import (
    BYTES_OF_BFLOAT16,
    CONV_KERNEL,
    HEAD_DIM,
    HYBRID,
    KEY_HEADS,
    KV_HEADS,
    STATE_DIM,
    VALUE_HEADS,
    ask,
    capacity_of,
    refused_field,
)

GIB = 1 << 30
BYTES_OF_FLOAT32 = 4
STATE_LAYERS, ATTENTION_LAYERS = 3, 1
POOL_BYTES = 10 * GIB
CHANNELS = 2 * KEY_HEADS * STATE_DIM + VALUE_HEADS * STATE_DIM
CONV = CHANNELS * (CONV_KERNEL - 1) * BYTES_OF_BFLOAT16
RECURRENT_ELEMENTS = VALUE_HEADS * STATE_DIM * STATE_DIM
SLOT = STATE_LAYERS * (CONV + RECURRENT_ELEMENTS * BYTES_OF_FLOAT32)
CELL = ATTENTION_LAYERS * KV_HEADS * 2 * HEAD_DIM * BYTES_OF_BFLOAT16
PADDING_SLOT = 1


def entries(**fields: object) -> dict[str, int]:
    """Entries of each pool by name."""
    return {pool.name: pool.entries for pool in capacity_of(HYBRID, **fields).pools}


def test_states_take_their_share_of_the_memory_and_tokens_the_rest() -> None:
    share = 0.9 / 1.9
    slots = int((POOL_BYTES * share - SLOT) // SLOT)
    left = POOL_BYTES - (slots + PADDING_SLOT) * SLOT

    assert entries() == {"states": slots, "full tokens": left // CELL}


def test_recurrent_states_in_16_bits_take_half() -> None:
    slot = STATE_LAYERS * (CONV + RECURRENT_ELEMENTS * BYTES_OF_BFLOAT16)

    assert entries(mamba_ssm_dtype="bfloat16")["states"] == int((POOL_BYTES * 0.9 / 1.9 - slot) // slot)


def test_slots_that_are_given_leave_the_rest_to_tokens() -> None:
    slots = 100

    assert entries(max_mamba_cache_size=slots) == {
        "states": slots,
        "full tokens": (POOL_BYTES - (slots + PADDING_SLOT) * SLOT) // CELL,
    }


def test_without_reuse_each_request_asked_for_has_one_slot() -> None:
    requests = 16

    assert entries(disable_radix_cache=True, max_running_requests=requests)["states"] == requests


def test_drafts_set_states_aside_for_every_drafted_token() -> None:
    drafted, requests, slots = 4, 2, 100
    drafts = {"speculative_num_steps": drafted - 1, "speculative_eagle_topk": 1}
    drafts_bytes = SLOT * (requests + PADDING_SLOT) * drafted

    found = entries(max_mamba_cache_size=slots, max_running_requests=requests, speculative_algorithm="EAGLE", **drafts)

    assert found["full tokens"] == (POOL_BYTES - drafts_bytes - (slots + PADDING_SLOT) * SLOT) // CELL


def test_a_request_takes_five_slots_with_snapshots_and_the_overlap_scheduler() -> None:
    assert capacity_of(HYBRID, max_mamba_cache_size=100).max_running_requests == 100 // 5


def test_lazy_snapshots_take_four_slots() -> None:
    lazy = {"mamba_radix_cache_strategy": "extra_buffer_lazy"}

    assert capacity_of(HYBRID, max_mamba_cache_size=100, **lazy).max_running_requests == 100 // 4


def test_without_overlap_a_request_takes_three_slots() -> None:
    assert capacity_of(HYBRID, max_mamba_cache_size=100, disable_overlap_schedule=True).max_running_requests == 100 // 3


def test_stages_switch_the_overlap_off_after_the_snapshots_were_chosen() -> None:
    assert capacity_of(HYBRID, max_mamba_cache_size=100, pp_size=2).max_running_requests == 100 // 4


def test_no_buffer_with_the_overlap_scheduler_is_refused() -> None:
    assert refused_field(HYBRID, mamba_radix_cache_strategy="no_buffer") == "mamba_radix_cache_strategy"


LFM2 = {
    **HYBRID,
    "architectures": ["Lfm2ForCausalLM"],
    "model_type": "lfm2",
    "head_dim": None,
    "layer_types": ["conv", "conv", "conv", "full_attention"],
    "conv_L_cache": 3,
    "conv_dim": 1024,
}


def test_lfm2_keeps_no_snapshots() -> None:
    assert refused_field(LFM2, mamba_radix_cache_strategy="extra_buffer") == "mamba_radix_cache_strategy"


def test_lfm2_with_images_leaves_the_strategy_open_and_takes_three_slots() -> None:
    with_images = {
        "architectures": ["Lfm2VlForConditionalGeneration"],
        "model_type": "lfm2_vl",
        "text_config": LFM2,
        "vision_config": {"num_hidden_layers": 12, "hidden_size": 768},
    }
    slots = 300

    report = ask(with_images, max_mamba_cache_size=slots, available_before_load_gib=20, available_after_load_gib=20)

    assert report.inputs["mamba_radix_cache_strategy"].value == "auto"
    assert report.capacity is not None
    assert report.capacity.max_running_requests == slots // 3


def test_ranks_that_do_not_divide_a_state_are_refused_by_sglang_s_own_field() -> None:
    assert refused_field(HYBRID, tp_size=8) == "tp_size"
