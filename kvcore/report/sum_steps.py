"""Steps that follow from a report's own parts: sums over the layout, plain figures, and the engine's tax."""

from collections.abc import Iterator

from kvcore.report.report import BudgetReport, Capacity, LayoutReport, PartReport, PlanReport, RequestReport, Step, Tax

_OURS = "kvcore: entries × bytes, without any engine overhead"


def sum_steps(
    layout: LayoutReport,
    plan: PlanReport,
    request: RequestReport,
    capacity: Capacity,
    budget: BudgetReport,
    tax: Tax,
) -> Iterator[Step]:
    """Yields one step for every sum and plain figure of a report that keeps a cache."""
    staged = len(plan.stage_layers) > 1
    for growth, path, label, total in (
        ("per_token", "layout.bytes_per_token", "One token in every layer, on one GPU", layout.bytes_per_token),
        ("per_request", "layout.bytes_per_request", "States of one request, on one GPU", layout.bytes_per_request),
    ):
        parts = [part for part in layout.parts if part.growth == growth]
        if parts:
            yield Step(
                path=path,
                label=label,
                formula="sum over parts of layers × bytes of an entry / tokens per entry",
                substituted=" + ".join(_term(part) for part in parts) + (", on the fullest stage" if staged else ""),
                result=total,
                unit="bytes",
                source=_OURS,
            )
    yield Step(
        path="request.bytes_plain",
        label="One request without engine overhead",
        formula="sum over parts of entries × bytes",
        substituted=" + ".join(f"{part.bytes_plain:,}" for part in request.parts),
        result=request.bytes_plain,
        unit="bytes",
        source=_OURS,
    )
    yield Step(
        path="request.bytes_held",
        label="What a running request holds",
        formula="sum over parts of held blocks × bytes of one block",
        substituted=" + ".join(f"{part.bytes_held:,}" for part in request.parts),
        result=request.bytes_held,
        unit="bytes",
        source="kvcore: held charge, without copies that exist only in the estimate",
    )
    yield Step(
        path="tax.bytes",
        label="The engine's tax on one request",
        formula="estimate − plain + one null block of the pool",
        substituted=f"{request.bytes_estimate:,} − {request.bytes_plain:,} + {plan.page_size_bytes:,}",
        result=tax.bytes,
        unit="bytes",
        source="kvcore: the causes add up to this",
    )
    if capacity.concurrency.plain is not None and budget.kv_cache_bytes is not None:
        yield Step(
            path="capacity.concurrency.plain",
            label="Requests at once without engine overhead",
            formula="cache bytes / bytes of one plain request",
            substituted=f"{budget.kv_cache_bytes:,} / {request.bytes_plain:,}",
            result=capacity.concurrency.plain,
            unit="requests",
            source=_OURS,
        )
    if capacity.tokens.per_token_pool is not None and capacity.num_gpu_blocks is not None:
        yield Step(
            path="capacity.tokens.per_token_pool",
            label="Tokens the pool holds",
            formula="(blocks in the pool − 1 null block) × tokens of one block of every group",
            substituted=f"({capacity.num_gpu_blocks:,} − 1) × {_tokens_per_block(plan)}",
            result=capacity.tokens.per_token_pool,
            unit="tokens",
            source="kvcore: every part grows with every token",
        )


def _term(part: PartReport) -> str:
    term = f"{part.layers} × {part.entry_bytes:,}"
    return term if part.tokens_per_entry == 1 else f"{term} / {part.tokens_per_entry}"


def _tokens_per_block(plan: PlanReport) -> str:
    sizes = [group.block_size for group in plan.groups]
    tokens = str(sizes[0]) if len(sizes) == 1 else f"1 / ({' + '.join(f'1/{size}' for size in sizes)})"
    return tokens if plan.context_shards == 1 else f"{tokens} × {plan.context_shards} ranks"
