"""DeepSeek-V4's pools against hand arithmetic."""

from typing import Any

from tests.engines.sglang.questions import DENSE, ask, capacity_of, refused_field

GIB = 1 << 30
HEAD_DIM, ROTARY, INDEX_DIM, WINDOW = 512, 64, 128, 128
PAGE, PAGE_PADDING = 256, 576
ROW = HEAD_DIM - ROTARY + 2 * ROTARY + 8
LAYERS, SPARSE_LAYERS, HEAVY_LAYERS = 4, 2, 1
RATIO = 0.1
REQUESTS = 256

COMPRESSED: dict[str, Any] = {
    **DENSE,
    "architectures": ["DeepseekV4ForCausalLM"],
    "model_type": "deepseek_v4",
    "head_dim": HEAD_DIM,
    "qk_rope_head_dim": ROTARY,
    "index_head_dim": INDEX_DIM,
    "index_topk": 512,
    "sliding_window": WINDOW,
    "compress_ratios": [0, 4, 128, 4],
}


def padded(rows_of_a_page: int) -> float:
    """Bytes of a row with its share of the padding of its page."""
    return -(-rows_of_a_page * ROW // PAGE_PADDING) * PAGE_PADDING / rows_of_a_page


def window_token(ring: int) -> float:
    """Bytes of one token of the window pool: a row in every layer, and the states of ratio 4."""
    state = (4 * HEAD_DIM + 4 * INDEX_DIM) * 4
    return padded(PAGE) * LAYERS + ring / PAGE * state * SPARSE_LAYERS


def full_token(ring: int) -> float:
    """Bytes of one full token with its share of window tokens."""
    indexer = INDEX_DIM + 4
    sparse = (padded(PAGE // 4) + indexer) / 4 * SPARSE_LAYERS
    heavy = padded(PAGE // 128) / 128 * HEAVY_LAYERS
    return RATIO * window_token(ring) + sparse + heavy


def request_states(ring: int) -> int:
    """Bytes of the states of ratio 128 over all requests, in multiples of 128 rows."""
    rows = -(-((REQUESTS + 1) * ring + ring + 1) // 128) * 128
    return rows * 2 * HEAD_DIM * 4 * HEAVY_LAYERS


def test_a_row_is_584_bytes_and_pages_pad_it_to_585_or_864() -> None:
    assert (ROW, padded(PAGE), padded(PAGE // 4), padded(PAGE // 128)) == (584, 585, 585, 864)


def test_tokens_follow_from_full_tokens_with_their_share_of_windows() -> None:
    tokens = int((10 * GIB - request_states(128)) / full_token(8)) // PAGE * PAGE

    capacity = capacity_of(COMPRESSED)

    assert [pool.entries for pool in capacity.pools] == [tokens, int(tokens * RATIO) // PAGE * PAGE, REQUESTS]


def test_drafts_double_the_states_and_add_one_layer() -> None:
    per_token = full_token(16) * (LAYERS + 1) / LAYERS
    tokens = int((10 * GIB - request_states(256)) / per_token) // PAGE * PAGE

    assert capacity_of(COMPRESSED, speculative_algorithm="EAGLE").tokens.engine_log == tokens


def test_it_runs_256_requests_where_none_are_asked_for() -> None:
    assert capacity_of(COMPRESSED).max_running_requests == REQUESTS


def test_pages_are_256_tokens_whatever_is_asked_for() -> None:
    assert ask(COMPRESSED, page_size=64).inputs["page_size"].value == PAGE


def test_drafts_as_a_tree_are_refused() -> None:
    tree = {"speculative_num_steps": 3, "speculative_eagle_topk": 4, "speculative_num_draft_tokens": 8}

    assert refused_field(COMPRESSED, speculative_algorithm="EAGLE", **tree) == "speculative_eagle_topk"
