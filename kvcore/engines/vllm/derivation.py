"""Derivation: every figure as formula, substituted values and result, in the order the stages compute them."""

from collections.abc import Iterator, Mapping

from kvcore.charge import RequestCharge
from kvcore.engines.vllm.block_size import alignment_steps
from kvcore.engines.vllm.capacity import Stage
from kvcore.engines.vllm.fit_check import Fit
from kvcore.engines.vllm.given import FixedBlocksSpec
from kvcore.engines.vllm.grouping import CacheGroup
from kvcore.engines.vllm.plan import Plan
from kvcore.engines.vllm.profile import FitCheck, PrintedTokens, Profile
from kvcore.engines.vllm.reuse import reuse_steps
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.engines.vllm.specs import (
    AttentionSpec,
    ChargeContext,
    ChunkedLocalAttentionSpec,
    CircularBufferSpec,
    CrossAttentionSpec,
    MambaSpec,
    SlidingWindowSpec,
)
from kvcore.report.report import Step

_SPECS = "v1/kv_cache_interface.py"


FIT_FORMULAS: Mapping[FitCheck, str] = {
    "per_layer": "sum over layers of blocks of one request × bytes of a layer's block ≤ cache bytes",
    "first_group_of_model": "blocks of one request in the first group × bytes of one block ≤ smallest cache bytes",
    "first_group": "blocks of one request in the first group × bytes of one block ≤ cache bytes",
    "all_groups": "blocks of one request × bytes of one block ≤ cache bytes",
}
"""What the start-up check compares."""

TOKEN_SYMBOLS: Mapping[PrintedTokens, str] = {
    "pool_blocks": "`_report_kv_cache_config`",
    "concurrency": "`get_kv_cache_capacity`",
}


def derive(plan: Plan, settings: EngineSettings, charge: RequestCharge | None) -> tuple[Step, ...]:
    """All steps from the layout to the logged figures.

    Args:
        plan: How the layout is paged, and how much of it fits.
        settings: The engine's settings after defaults.
        charge: What one request costs; None where nothing is cached.
    """
    version = settings.profile.version
    steps = [
        *_entries(plan, version),
        *alignment_steps(plan.alignment, settings.profile),
        *_in_flight(settings, version),
    ]
    if charge is not None:
        steps.extend(_groups(plan, version))
        steps.extend(_pool(plan, charge, settings.profile))
        steps.extend(reuse_steps(plan, settings, charge.block_bytes))
    return tuple(steps)


def _entries(plan: Plan, version: str) -> Iterator[Step]:
    for number, item in enumerate(plan.parts):
        spec = item.stored.spec
        entry = spec.entry_bytes if isinstance(spec, AttentionSpec) else spec.unpadded_page_size_bytes
        yield Step(
            path=f"layout.parts.{number}.entry_bytes",
            label=f"{item.part.name}: bytes of one entry in one layer on one GPU",
            formula=item.stored.formula,
            substituted=item.stored.substituted,
            result=entry,
            unit="bytes",
            source=item.stored.source,
        )
        if isinstance(spec, AttentionSpec):
            yield Step(
                path=f"layout.parts.{number}.page_size_bytes",
                label=f"{item.part.name}: bytes of one block in one layer",
                formula="block_size / tokens per entry × entry bytes",
                substituted=f"{spec.block_size:,} / {spec.tokens_per_state} × {entry:,}"
                + (
                    f", padded to {spec.page_size_bytes:,}"
                    if spec.page_size_bytes != spec.block_size // spec.tokens_per_state * entry
                    else ""
                ),
                result=spec.page_size_bytes,
                unit="bytes",
                source=f"vLLM {version} `{_SPECS}` page_size_bytes",
            )


def _in_flight(settings: EngineSettings, version: str) -> Iterator[Step]:
    yield Step(
        path="plan.in_flight_tokens",
        label="Tokens scheduled but not finished",
        formula="batches in flight × max_num_batched_tokens",
        substituted=f"{settings.max_concurrent_batches} × {settings.max_num_batched_tokens:,}",
        result=settings.max_in_flight_tokens,
        unit="tokens",
        source=f"vLLM {version} `VllmConfig.max_in_flight_tokens`",
        kind="given" if settings.inputs["max_in_flight_tokens"].origin == "given" else "derived",
    )


def _groups(plan: Plan, version: str) -> Iterator[Step]:
    for number, group in enumerate(plan.groups):
        formula, substituted = _block_formula(group, plan.max_model_len, plan.context)
        names = " and ".join(group.part_names)
        yield Step(
            path=f"plan.groups.{number}.blocks_per_request",
            label=f"Group {number + 1} ({names}, {len(group.layers)} layers): blocks of one request",
            formula=formula,
            substituted=substituted,
            result=plan.group_blocks[number],
            unit="blocks",
            source=f"vLLM {version} `{_SPECS}` max_memory_usage_bytes",
        )


def _block_formula(group: CacheGroup, max_model_len: int, context: ChargeContext) -> tuple[str, str]:
    spec = max(
        (spec for spec, _ in group.counted_specs), key=lambda item: item.blocks_per_request(max_model_len, context)
    )
    size = f"{spec.block_size:,}"
    if isinstance(spec, MambaSpec):
        return _state_formula(spec, max_model_len, context)
    if isinstance(spec, SlidingWindowSpec):
        return (
            "ceil(min(window − 1 + extra + in-flight tokens, max_model_len) / block_size) + 1",
            (
                f"ceil(min({spec.sliding_window:,} − 1 + {spec.extra_retained_tokens} + "
                f"{context.max_in_flight_tokens:,}, {max_model_len:,}) / {size}) + 1"
            ),
        )
    if isinstance(spec, ChunkedLocalAttentionSpec):
        return (
            "ceil(min(chunk + in-flight tokens, max_model_len) / block_size)",
            f"ceil(min({spec.attention_chunk_size:,} + {context.max_in_flight_tokens:,}, {max_model_len:,}) / {size})",
        )
    if isinstance(spec, CircularBufferSpec):
        return "1 ring per request", "1"
    if isinstance(spec, CrossAttentionSpec):
        return "ceil(encoder tokens / block_size)", f"ceil({context.max_num_encoder_input_tokens:,} / {size})"
    shards = context.decode_context_parallel_size
    if shards > 1 and spec.dcp_sharded:
        return (
            "ceil(ceil(max_model_len / decode_context_parallel_size) / block_size)",
            f"ceil(ceil({max_model_len:,} / {shards}) / {size})",
        )
    return "ceil(max_model_len / block_size)", f"ceil({max_model_len:,} / {size})"


def _state_formula(spec: MambaSpec, max_model_len: int, context: ChargeContext) -> tuple[str, str]:
    if isinstance(spec, FixedBlocksSpec):
        return "blocks as stated in the layout", f"{spec.charged_blocks:,}"
    drafts = spec.draft_states(context)
    if context.mamba_cache_mode == "align":
        return (
            "2 + speculative copies + prefill checkpoint",
            f"2 + {drafts} + {spec.num_prefill_checkpoint_blocks}",
        )
    if context.mamba_cache_mode == "all":
        return (
            "ceil(max_model_len / block_size) + speculative copies",
            f"ceil({max_model_len:,} / {spec.block_size:,}) + {drafts}",
        )
    return "1 + speculative copies", f"1 + {drafts}"


def _tokens_formula(plan: Plan, concurrency: float) -> tuple[str, str]:
    if plan.printed_tokens == "concurrency":
        formula = "truncate(maximum concurrency × max_model_len)"
        return formula, f"truncate({concurrency!r} × {plan.max_model_len:,})"
    smallest = min(group.block_size for group in plan.groups)
    shards = plan.context.decode_context_parallel_size
    ranks = " × decode_context_parallel_size" if shards > 1 else ""
    return (
        f"floor(blocks in the pool / groups) × smallest block_size{ranks}",
        f"floor({plan.num_gpu_blocks:,} / {len(plan.groups)}) × {smallest:,}" + (f" × {shards}" if shards > 1 else ""),
    )


def _pool(plan: Plan, charge: RequestCharge, profile: Profile) -> Iterator[Step]:
    yield from _charge(plan, charge, profile.version)
    if plan.fit is None or plan.num_gpu_blocks is None:
        return
    yield _fit(plan.fit, profile)
    if plan.fit.fits:
        binding = next(stage for stage in plan.stages if stage.number == charge.stage)
        yield _blocks(plan.num_gpu_blocks, binding, profile.version)
        yield from _logged(plan, profile)


def _charge(plan: Plan, charge: RequestCharge, version: str) -> Iterator[Step]:
    """What one block weighs, and with it one request."""
    widths = " , ".join(f"{group.page_size_bytes:,}" for group in plan.groups)
    yield Step(
        path="plan.page_size_bytes",
        label="Bytes of one block of the pool on one GPU: the widest group",
        formula="max over groups of the sum of page bytes of the group's layers on this stage",
        substituted=f"max({widths})" + (f", stage {charge.stage}" if len(plan.stage_layers) > 1 else ""),
        result=charge.block_bytes,
        unit="bytes",
        source=f"vLLM {version} `_get_kv_cache_bytes_per_block`",
    )
    yield Step(
        path="request.bytes_estimate",
        label="One request in the engine's estimate",
        formula="blocks of all groups × bytes of one block",
        substituted=f"{plan.charged_blocks:,} × {charge.block_bytes:,}",
        result=charge.bytes_estimate,
        unit="bytes",
        source=f"vLLM {version} `_max_memory_usage_bytes_from_groups`",
    )


def _fit(fit: Fit, profile: Profile) -> Step:
    return Step(
        path="capacity.fits",
        label="Does one request fit by the engine's check?",
        formula=FIT_FORMULAS[profile.fit_check] + (" − one block" if profile.null_block_in_fit_check else ""),
        substituted=f"{fit.needed_bytes:,} ≤ {fit.available_bytes:,}",
        result="yes" if fit.fits else "no",
        unit="",
        source=f"vLLM {profile.version} `_check_enough_kv_cache_memory`",
    )


def _blocks(num_gpu_blocks: int, binding: Stage, version: str) -> Step:
    formula = "floor(cache bytes / bytes of one block), smallest over the stages"
    substituted = f"floor({binding.available_bytes:,} / {binding.bytes_per_block:,})"
    if binding.overridden_blocks is not None:
        formula, substituted = "num_gpu_blocks_override", f"{binding.overridden_blocks:,}"
    return Step(
        path="capacity.num_gpu_blocks",
        label="Blocks in the pool",
        formula=formula,
        substituted=substituted,
        result=num_gpu_blocks,
        unit="blocks",
        source=f"vLLM {version} `get_kv_cache_configs`",
    )


def _logged(plan: Plan, profile: Profile) -> Iterator[Step]:
    """The two figures the engine logs, and the requests that can really be held."""
    concurrency, tokens = plan.concurrency, plan.tokens
    if concurrency is None or tokens is None:
        return
    yield Step(
        path="capacity.concurrency.engine_log",
        label="Maximum concurrency, as logged",
        formula="blocks in the pool / blocks of one request, in double precision",
        substituted=f"{plan.num_gpu_blocks:,} / {plan.charged_blocks:,}",
        result=concurrency,
        unit="requests",
        source=f"vLLM {profile.version} `get_max_concurrency_for_kv_cache_config`",
    )
    formula, substituted = _tokens_formula(plan, concurrency)
    yield Step(
        path="capacity.tokens.engine_log",
        label="GPU KV cache size, as logged",
        formula=formula,
        substituted=substituted,
        result=tokens,
        unit="tokens",
        source=f"vLLM {profile.version} {TOKEN_SYMBOLS[profile.printed_tokens]}",
    )
    set_aside = f" − {plan.set_aside_blocks:,}" if plan.set_aside_blocks else ""
    yield Step(
        path="capacity.concurrency.held",
        label="Requests that can run at once",
        formula=f"(blocks in the pool − 1 null block{set_aside and ' − blocks set aside'}) / blocks a running request holds",
        substituted=f"({plan.num_gpu_blocks:,} − 1{set_aside}) / {plan.held_blocks:,}",
        result=(plan.usable_blocks or 0) / plan.held_blocks,
        unit="requests",
        source="kvcore: held charge, without copies that exist only in the estimate",
    )
