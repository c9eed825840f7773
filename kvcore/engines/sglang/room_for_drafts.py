"""How SGLang before 0.5.8 made room for drafts: tokens on top of the pool, and no memory for the drafter's layers.

Those releases profiled the target alone and then added the tokens all requests may draft and verify at once, whatever the
free memory was (`ModelRunner.init_memory_pool`, ``draft_runner_cache_size``; removed by sgl-project/sglang#15748 of
December 2025). SGLang 0.5.23 charges the drafter's layers to every token instead.
"""

SPARE_TOKENS = 100


def tokens_with_room_for_drafts(
    tokens: int, *, page_size: int, max_running_requests: int, num_steps: int, topk: int, num_draft_tokens: int
) -> int:
    """Tokens of the pool with its room for drafts, in whole pages.

    Args:
        tokens: Tokens that fit the free memory without a drafter.
        page_size: Tokens of a page.
        max_running_requests: Of the whole server, not of one data-parallel group.
        num_steps: Steps of the drafter.
        topk: Branches of the draft tree.
        num_draft_tokens: Tokens verified at once.
    """
    drafted = max_running_requests * num_steps * topk
    verified = max_running_requests * num_draft_tokens
    return (tokens + drafted + verified + SPARE_TOKENS) // page_size * page_size
