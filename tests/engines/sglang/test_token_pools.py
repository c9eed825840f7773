"""Token pools against hand arithmetic: cells, pages, windows and the latents of sparse attention."""

from tests.engines.sglang.questions import (
    BYTES_OF_BFLOAT16,
    CONTEXT,
    DENSE,
    HEAD_DIM,
    INDEX_DIM,
    KV_HEADS,
    LATENT_RANK,
    LAYERS,
    ROTARY,
    SPARSE,
    WINDOW,
    WINDOWED,
    ask,
    capacity_of,
    refused_field,
)

GIB = 1 << 30
KEY_AND_VALUE = 2
POOL_BYTES = 10 * GIB
CELL = KV_HEADS * KEY_AND_VALUE * HEAD_DIM * BYTES_OF_BFLOAT16 * LAYERS


def test_tokens_are_the_memory_for_pools_by_the_bytes_of_one_token() -> None:
    assert capacity_of(DENSE).tokens.engine_log == POOL_BYTES // CELL


def test_tokens_are_whole_pages() -> None:
    page = 48

    assert capacity_of(DENSE, page_size=page).tokens.engine_log == POOL_BYTES // CELL // page * page


def test_an_fp8_cache_halves_the_bytes_of_a_token() -> None:
    assert capacity_of(DENSE, kv_cache_dtype="fp8_e4m3").tokens.engine_log == POOL_BYTES // (CELL // 2)


def test_the_model_dtype_asked_for_is_that_of_the_cache() -> None:
    assert capacity_of(DENSE, dtype="float32").tokens.engine_log == POOL_BYTES // (2 * CELL)


def test_ranks_beyond_the_kv_heads_keep_one_head_each() -> None:
    ranks = 8
    one_head = CELL // KV_HEADS

    layout = ask(DENSE, tp_size=ranks).layout
    assert layout is not None
    assert layout.bytes_per_token == one_head


def test_attention_groups_keep_the_heads_of_their_ranks() -> None:
    ranks, groups = 4, 2

    report = ask(DENSE, tp_size=ranks, dp_size=groups, enable_dp_attention=True)

    assert report.layout is not None
    assert report.layout.bytes_per_token == CELL * groups // ranks


def test_the_cap_of_tokens_binds_where_it_is_lower() -> None:
    cap = 1000

    assert capacity_of(DENSE, max_total_tokens=cap).tokens.engine_log == cap


def test_a_stage_counts_its_own_layers_and_the_last_take_one_more() -> None:
    odd = {**DENSE, "num_hidden_layers": 5}
    widest_stage = 3
    one_layer = CELL // LAYERS

    assert capacity_of(odd, pp_size=2).tokens.engine_log == POOL_BYTES // (widest_stage * one_layer)


def test_drafter_layers_cost_as_much_as_the_model_s() -> None:
    draft_layers = 1
    with_drafts = capacity_of(
        DENSE, speculative_algorithm="EAGLE", speculative_draft_config={**DENSE, "num_hidden_layers": draft_layers}
    )

    assert with_drafts.tokens.engine_log == POOL_BYTES // (CELL + CELL * draft_layers // LAYERS)


def test_a_window_pool_takes_a_share_of_the_full_tokens() -> None:
    ratio = 0.8
    half = CELL // 2
    capacity = capacity_of(WINDOWED)
    full = int(POOL_BYTES // (half + ratio * half))

    assert [(pool.name, pool.entries) for pool in capacity.pools] == [
        ("full tokens", full),
        ("window tokens", int(full * ratio)),
    ]


def test_without_reuse_the_window_pool_holds_the_windows_of_the_requests_asked_for() -> None:
    requests, eviction_interval, page, chunk, chunks_in_flight = 16, 128, 1, 8192, 2
    asked_window = WINDOW - 1
    per_request = asked_window + eviction_interval + page + page
    window_tokens = requests * per_request + chunks_in_flight * chunk + page
    half = CELL // 2

    capacity = capacity_of(WINDOWED, disable_radix_cache=True, max_running_requests=requests)

    assert [pool.entries for pool in capacity.pools] == [(POOL_BYTES - window_tokens * half) // half, window_tokens]


def test_windows_are_billed_as_full_attention_where_the_window_pool_is_off() -> None:
    assert capacity_of(WINDOWED, disable_hybrid_swa_memory=True).tokens.engine_log == POOL_BYTES // CELL


def test_a_window_pool_too_small_for_one_request_is_refused() -> None:
    free = {"available_before_load_gib": 1, "available_after_load_gib": 0.5004, "mem_fraction_static": 0.5}

    assert refused_field(WINDOWED, **free) == "swa_full_tokens_ratio"


def test_requests_whose_windows_leave_no_room_are_refused() -> None:
    free = {"available_before_load_gib": 1, "available_after_load_gib": 0.51, "mem_fraction_static": 0.5}
    fields = {"disable_radix_cache": True, "max_running_requests": 1000}

    assert refused_field(WINDOWED, **free, **fields) == "max_running_requests"


def test_a_sparse_latent_in_bfloat16_with_its_indexer_key() -> None:
    scale_bytes = 4
    latent = (LATENT_RANK + ROTARY) * BYTES_OF_BFLOAT16
    indexer = INDEX_DIM + scale_bytes

    layout = ask(SPARSE, gpu="H200").layout
    assert layout is not None
    assert layout.bytes_per_token == LAYERS * (latent + indexer)


def test_a_sparse_latent_in_fp8_carries_scales_and_a_wide_rotary_key_on_hopper() -> None:
    block, scale_bytes = 128, 4
    latent = LATENT_RANK + LATENT_RANK // block * scale_bytes + ROTARY * BYTES_OF_BFLOAT16
    indexer = INDEX_DIM + scale_bytes

    report = ask(SPARSE, gpu="H200", kv_cache_dtype="fp8_e4m3")

    assert report.layout is not None
    assert report.layout.bytes_per_token == LAYERS * (latent + indexer)


def test_a_sparse_latent_on_blackwell_is_plain_fp8() -> None:
    report = ask(SPARSE, gpu="B200")

    assert report.layout is not None
    assert report.layout.bytes_per_token == LAYERS * (LATENT_RANK + ROTARY + INDEX_DIM + 4)


def test_requests_held_are_the_tokens_by_the_pages_of_the_longest_context() -> None:
    page = 64
    capacity = capacity_of(DENSE, page_size=page, context_length=1000)
    pages_of_a_request = 16

    tokens = POOL_BYTES // CELL // page * page

    assert capacity.concurrency.held == tokens / (pages_of_a_request * page)


def test_requests_are_estimated_between_2048_and_4096_where_none_are_asked_for() -> None:
    tokens = POOL_BYTES // CELL

    assert int(tokens / CONTEXT * 512) > 4096
    assert capacity_of(DENSE).max_running_requests == 4096
    assert capacity_of(DENSE, max_total_tokens=CONTEXT).max_running_requests == 2048


def test_a_request_needs_two_tokens_at_least() -> None:
    assert capacity_of(DENSE, max_total_tokens=100).max_running_requests == 50
