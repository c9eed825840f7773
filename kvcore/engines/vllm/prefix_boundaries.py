"""Prefix boundaries: whether a reused prefix can end where every compressed cache has whole entries."""

import math
from collections.abc import Iterator, Sequence

from kvcore.engines.vllm.grouping import CacheGroup
from kvcore.engines.vllm.profile import ALIGN
from kvcore.engines.vllm.specs import AttentionSpec, ChargeContext, LayerSpec, MambaSpec
from kvcore.errors import refusal


def check_prefix_boundaries(
    groups: Sequence[CacheGroup], stage: Sequence[CacheGroup], context: ChargeContext, given_block_size: int | None
) -> None:
    """Prefixes of several groups are reused at boundaries where entries are whole (`resolve_kv_cache_block_sizes`).

    The engine looks at the first layer of each group on the first stage (vLLM 0.33.0 `generate_scheduler_kv_cache_config`).

    Args:
        groups: Cache groups over all pipeline stages.
        stage: The groups as the first stage holds them.
        context: The settings of the deployment, in which finished blocks are kept for reuse.
        given_block_size: Tokens per block asked for; None: the engine's choice.

    Raises:
        EngineRefusal: A boundary would split an entry that stands for several tokens.
    """
    if len(groups) < 2 or (context.mamba_cache_mode != ALIGN and any(_is_state(group) for group in groups)):
        return
    firsts = [next(iter(own.specs or group.specs)) for own, group in zip(stage, groups, strict=True)]
    cacheable = [spec for spec, group in zip(firsts, groups, strict=True) if group.prefix_cacheable]
    boundary = math.lcm(*(spec.tokens_per_block(context) for spec in firsts))
    hashed = math.gcd(*(spec.tokens_per_block(context) for spec in cacheable or firsts))
    if context.mamba_cache_mode == ALIGN and any(_ends_within_a_block(spec, hashed, context) for spec in firsts):
        boundary = hashed
    for tokens in _tokens_per_entry(cacheable):
        if boundary % tokens:
            rule = (
                f"vLLM reuses prefixes every {boundary:,} tokens, which splits entries that stand for {tokens} tokens"
            )
            raise refusal("block_size", given_block_size, rule, "Leave it out, or set enable_prefix_caching to false.")


def _is_state(group: CacheGroup) -> bool:
    return isinstance(group.specs[0], MambaSpec)


def _ends_within_a_block(spec: LayerSpec, hashed: int, context: ChargeContext) -> bool:
    """Whether states are found at boundaries finer than their blocks (vLLM 0.33.0 `partial_hash_hits_enabled`)."""
    if not isinstance(spec, MambaSpec):
        return False
    return spec.block_size > hashed or (context.decode_context_parallel_size > 1 and spec.block_size == hashed)


def _tokens_per_entry(specs: Sequence[LayerSpec]) -> Iterator[int]:
    return (spec.tokens_per_state for spec in specs if isinstance(spec, AttentionSpec))
