"""Capacity: blocks, requests at once in three meanings, tokens, and how the engine pages the cache."""

from kvcore.report.document import Block, Column, Note, Row, Table, Text
from kvcore.report.figures import byte_count, count, times, times_at_most
from kvcore.report.report import Capacity, PlanReport, Report
from kvcore.report.sections.wording import engine_name

TOKEN_LINES = {"sglang": "max_total_num_tokens"}
"""How engines other than vLLM call the tokens they log."""


def capacity(report: Report) -> tuple[Block, ...]:
    """Returns how much fits and the plan behind it; nothing when neither was computed."""
    blocks: list[Block] = []
    if report.capacity is not None:
        blocks.append(_capacity_table(report, report.capacity))
        blocks.extend(_pools_table(report, report.capacity))
        blocks.extend(_pool_note(report, report.capacity))
    if report.plan is not None:
        blocks.append(_groups_table(report, report.plan))
    return tuple(blocks)


def _capacity_table(report: Report, found: Capacity) -> Table:
    engine = engine_name(report)
    line = TOKEN_LINES.get(report.engine.name if report.engine else "", "GPU KV cache size")
    entries: list[tuple[str, Text, str]] = [
        ("cache blocks", (count("capacity.num_gpu_blocks", found.num_gpu_blocks),), "budget ÷ bytes of one block"),
        (
            "requests at once, as logged",
            (times("capacity.concurrency.engine_log", found.concurrency.engine_log),),
            f'{engine}\'s "Maximum concurrency": pool ÷ estimate of one request',
        ),
        (
            "requests at once, held",
            (times_at_most("capacity.concurrency.held", found.concurrency.held),),
            "usable blocks ÷ blocks one running request holds",
        ),
        (
            "requests at once, plain",
            (times_at_most("capacity.concurrency.plain", found.concurrency.plain),),
            "budget ÷ bytes of the tensors alone, no engine overhead",
        ),
        (
            "tokens, as logged",
            (count("capacity.tokens.engine_log", found.tokens.engine_log),),
            f'{engine}\'s "{line}"',
        ),
        (
            "tokens in a true pool",
            (count("capacity.tokens.per_token_pool", found.tokens.per_token_pool),),
            "only where every part grows per token",
        ),
        (
            "longest context that fits",
            (count("capacity.max_model_len_that_fits", found.max_model_len_that_fits, "tokens"),),
            "one request alone in the cache",
        ),
    ]
    if found.max_running_requests is not None:
        cap = count("capacity.max_running_requests", found.max_running_requests)
        entries.append(("running requests, at most", (cap,), "the engine's own cap"))
    rows = tuple(Row(((label,), value, (meaning,))) for label, value, meaning in entries)
    columns = (Column("Quantity"), Column("Value", "right"), Column("Meaning"))
    return Table(f"Capacity under {engine}", columns, rows, id="capacity-table")


def _pools_table(report: Report, found: Capacity) -> tuple[Block, ...]:
    """The pools of an engine that divides its memory into several; nothing where there is one kind of block."""
    if not found.pools:
        return ()
    rows = tuple(
        Row(
            (
                (pool.name,),
                (count(f"capacity.pools.{index}.entries", pool.entries, pool.unit),),
                (byte_count(f"capacity.pools.{index}.bytes_per_entry", pool.bytes_per_entry),),
                (byte_count(f"capacity.pools.{index}.bytes", pool.bytes),),
            )
        )
        for index, pool in enumerate(found.pools)
    )
    columns = (
        Column("Pool"),
        Column("Entries", "right"),
        Column("Bytes of one entry", "right", "per GPU"),
        Column("Bytes", "right", "per GPU"),
    )
    return (Table(f"Pools {engine_name(report)} divides its memory into", columns, rows, id="pools"),)


def _pool_note(report: Report, found: Capacity) -> tuple[Block, ...]:
    if found.tokens.engine_log is None or found.tokens.per_token_pool is not None:
        return ()
    text = (
        f"The token figure of {engine_name(report)}'s log is requests at once × context, not a pool: "
        "some parts of this cache do not grow per token."
    )
    return (Note("info", (text,)),)


def _groups_table(report: Report, plan: PlanReport) -> Table:
    rows = tuple(
        Row(
            (
                (group.kind,),
                (count(f"plan.groups.{index}.layers", group.layers),),
                (count(f"plan.groups.{index}.block_size", group.block_size),),
                (byte_count(f"plan.groups.{index}.page_size_bytes", group.page_size_bytes),),
                (count(f"plan.groups.{index}.blocks_per_request", group.blocks_per_request),),
            )
        )
        for index, group in enumerate(plan.groups)
    )
    columns = (
        Column("Group"),
        Column("Layers", "right"),
        Column("Block size", "right", "tokens"),
        Column("Bytes of one block", "right", "per GPU"),
        Column("Blocks per request", "right"),
    )
    caption = f"How {engine_name(report)} pages the cache: groups of layers that share one block table"
    return Table(caption, columns, rows, id="groups")
