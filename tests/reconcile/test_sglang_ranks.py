"""What an SGLang log of many ranks says about free memory, and the room older releases gave to drafts."""

from typing import Any

from kvcore.answer import answer
from kvcore.engines.sglang.room_for_drafts import tokens_with_room_for_drafts
from kvcore.reconcile.free_memory import least_after, least_before
from kvcore.reconcile.implied import implied_request
from kvcore.reconcile.reader import read_log_text
from kvcore.reconcile.reconcile import reconcile

REQUEST: dict[str, Any] = {"engine": "sglang", "model": "Qwen/Qwen3-32B", "tp_size": 2, "mem_fraction_static": 0.8}

BEFORE_1, BEFORE_0, AFTER_1, AFTER_0 = 78.91, 78.52, 47.91, 47.52
LOADED = f"""[2026-01-04 07:00:37 TP1] Load weight begin. avail mem={BEFORE_1} GB
[2026-01-04 07:00:37 TP0] Load weight begin. avail mem={BEFORE_0} GB
[2026-01-04 07:05:25 TP1] Load weight end. type=Qwen3ForCausalLM, dtype=torch.bfloat16, avail mem={AFTER_1} GB, mem usage=31.00 GB.
[2026-01-04 07:05:25 TP0] Load weight end. type=Qwen3ForCausalLM, dtype=torch.bfloat16, avail mem={AFTER_0} GB, mem usage=31.00 GB.
"""
DRAFTER_AFTER_THE_POOLS = """[2026-01-04 07:07:04 TP0] Load weight begin. avail mem=15.65 GB
[2026-01-04 07:07:06 TP0] Load weight end. type=LlamaForCausalLMEagle3, dtype=torch.bfloat16, avail mem=15.07 GB, mem usage=0.58 GB.
"""


def pools(tokens: int) -> str:
    """The lines both ranks print for their pools."""
    return (
        f"[2026-01-04 07:05:26 TP0] KV Cache is allocated. #tokens: {tokens}, K size: 15.91 GB, V size: 15.91 GB\n"
        f"[2026-01-04 07:07:30 TP0] max_total_num_tokens={tokens}, chunked_prefill_size=-1, max_prefill_tokens=65536, "
        "max_running_requests=32, context_len=40960, available_gpu_mem=14.41 GB\n"
    )


def tokens_of(request: dict[str, Any]) -> int:
    report = answer(request)
    assert report.errors == ()
    assert report.capacity is not None
    assert report.capacity.tokens.engine_log is not None
    return report.capacity.tokens.engine_log


def test_the_least_free_memory_of_all_ranks_counts() -> None:
    least = {**REQUEST, "available_before_load_gib": BEFORE_0, "available_after_load_gib": AFTER_0}

    found = reconcile(read_log_text(LOADED + pools(tokens_of(least))), REQUEST)

    assert found.verdict == "equal"


def test_a_drafter_loaded_after_the_pools_takes_nothing_from_them() -> None:
    record = read_log_text(LOADED + pools(1000) + DRAFTER_AFTER_THE_POOLS)

    before, after = least_before(record), least_after(record)

    assert before is not None
    assert after is not None
    assert (float(before.value), float(after.value)) == (BEFORE_0, AFTER_0)


def test_a_drafter_loaded_before_the_pools_leaves_less_for_them() -> None:
    record = read_log_text(LOADED + DRAFTER_AFTER_THE_POOLS + pools(1000))

    before, after = least_before(record), least_after(record)

    assert before is not None
    assert after is not None
    assert (float(before.value), float(after.value)) == (BEFORE_0, 15.07)


def test_older_releases_put_room_for_drafts_on_top_and_a_log_of_one_is_diagnosed_as_that() -> None:
    requests, steps, branches, verified, spare, page = 256, 3, 1, 4, 100, 64
    free = {"available_before_load_gib": BEFORE_0, "available_after_load_gib": AFTER_0, "page_size": page}
    alone = tokens_of({**REQUEST, **free})
    room = requests * steps * branches + requests * verified + spare
    drafts = {
        "speculative_algorithm": "EAGLE3",
        "speculative_draft_model_path": "any/drafter",
        "speculative_num_steps": steps,
        "speculative_eagle_topk": branches,
        "speculative_num_draft_tokens": verified,
        "max_running_requests": requests,
        "page_size": page,
    }
    log = LOADED + pools((alone + room) // page * page)

    found = reconcile(read_log_text(log), {**REQUEST, **drafts})

    assert found.diagnoses[0].key == "room_for_drafts"
    assert found.verdict == "explained"


def test_room_for_drafts_is_counted_in_whole_pages() -> None:
    drafted, verified, spare = 480 * 3 * 1, 480 * 4, 100
    pages = (121_600 + drafted + verified + spare) // 128

    tokens = tokens_with_room_for_drafts(
        121_600, page_size=128, max_running_requests=480, num_steps=3, topk=1, num_draft_tokens=4
    )

    assert tokens == pages * 128 == 125_056


def test_a_cap_on_tokens_that_the_arguments_print_is_taken_over() -> None:
    arguments = "server_args=ServerArgs(model_path='Qwen/Qwen3-32B', tp_size=2, mem_fraction_static=0.8, max_total_tokens=96000)\n"

    record = read_log_text(arguments + LOADED + pools(96_000))

    assert implied_request(record, {}).request["max_total_tokens"] == 96_000
    assert reconcile(record, {}).verdict == "equal"


def test_a_log_that_ends_before_its_last_line_is_compared_by_its_pool() -> None:
    least = {**REQUEST, "available_before_load_gib": BEFORE_0, "available_after_load_gib": AFTER_0}
    cut = LOADED + pools(tokens_of(least)).splitlines()[0]

    found = reconcile(read_log_text(cut), REQUEST)

    assert found.prediction is not None
    assert [row.name for row in found.prediction.checked] == ["pool_tokens"]
    assert found.verdict == "equal"
