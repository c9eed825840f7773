"""The longest context is the last length at which the forward answer still serves the requests."""

from kvcore.questions import longest_context
from tests.questions.deployment import BLOCK, BLOCK_BYTES, CONFIG

REQUESTS = 10
BLOCKS_EACH = 100


def test_ten_requests_share_the_pool_in_whole_blocks() -> None:
    deployment = {"config": CONFIG, "kv_cache_memory_bytes": REQUESTS * BLOCKS_EACH * BLOCK_BYTES}
    solution = longest_context(deployment, REQUESTS)
    assert solution.value == BLOCKS_EACH * BLOCK


def test_one_token_more_is_not_served() -> None:
    deployment = {"config": CONFIG, "kv_cache_memory_bytes": REQUESTS * BLOCKS_EACH * BLOCK_BYTES}
    at, beyond = longest_context(deployment, REQUESTS).checks
    assert at.enough
    assert not beyond.enough


def test_held_requests_leave_the_null_block_out() -> None:
    deployment = {"config": CONFIG, "kv_cache_memory_bytes": REQUESTS * BLOCKS_EACH * BLOCK_BYTES}
    solution = longest_context(deployment, REQUESTS, "held")
    usable_each = (REQUESTS * BLOCKS_EACH - 1) // REQUESTS
    assert solution.value == usable_each * BLOCK


def test_the_models_own_limit_is_never_passed() -> None:
    deployment = {"config": CONFIG, "kv_cache_memory_bytes": 10**12}
    solution = longest_context(deployment, 1)
    assert solution.value == CONFIG["max_position_embeddings"]
    assert solution.note == "the model's own limit"


def test_a_budget_below_one_token_each_has_no_answer() -> None:
    deployment = {"config": CONFIG, "kv_cache_memory_bytes": 5 * BLOCK_BYTES}
    solution = longest_context(deployment, REQUESTS)
    assert solution.value is None
    assert "Not even requests of one token" in solution.note
