"""Reuse: where a finished prefix can be taken up again, and what it keeps resident.

Prefix caching keeps finished blocks until the pool needs them. Attention blocks serve any prefix that ends on their
boundary; a state serves only the boundary it was taken at, so each resume point of a hybrid costs a whole state more.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from kvcore.engines.vllm.plan import Plan
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.engines.vllm.specs import MambaSpec
from kvcore.report.report import Step


@dataclass(frozen=True, kw_only=True)
class Reuse:
    """What prefix caching keeps.

    Attributes:
        quantum_tokens: A cached prefix can be taken up at multiples of this many tokens; a shorter tail is dropped.
        state_blocks: Blocks of the pool one resume point needs for states: one per group of states.
        state_bytes: Their bytes on one GPU of the binding stage.
        resume_points: Block boundaries a prefix of ``max_model_len`` tokens can be taken up at, at most.
        dropped_tail_tokens: Tokens behind the last of them, which are computed again.
    """

    quantum_tokens: int
    state_blocks: int
    state_bytes: int
    resume_points: int
    dropped_tail_tokens: int


def reuse_of(plan: Plan, settings: EngineSettings, block_bytes: int) -> Reuse | None:
    """What prefix caching keeps; None where it is off or nothing is cached.

    The quantum is the least common multiple of the groups' block sizes (vLLM 0.33.0 `resolve_kv_cache_block_sizes`).

    Args:
        plan: The plan.
        settings: The engine's settings.
        block_bytes: Bytes of one block of the pool on one GPU.
    """
    if not settings.enable_prefix_caching or not plan.groups:
        return None
    quantum = math.lcm(*(group.specs[0].tokens_per_block(plan.context) for group in plan.groups))
    states = sum(1 for group in plan.groups if isinstance(group.specs[0], MambaSpec))
    return Reuse(
        quantum_tokens=quantum,
        state_blocks=states,
        state_bytes=states * block_bytes,
        resume_points=plan.max_model_len // quantum,
        dropped_tail_tokens=plan.max_model_len % quantum,
    )


def reuse_steps(plan: Plan, settings: EngineSettings, block_bytes: int) -> Iterator[Step]:
    """The derivation of what prefix caching keeps; nothing where it is off."""
    reuse = reuse_of(plan, settings, block_bytes)
    if reuse is None:
        return
    version = settings.profile.version
    sizes = sorted({group.specs[0].tokens_per_block(plan.context) for group in plan.groups})
    yield Step(
        path="plan.reuse.quantum_tokens",
        label="A cached prefix can be taken up every so many tokens; a shorter tail is computed again",
        formula="least common multiple of the groups' tokens per block",
        substituted=f"lcm({', '.join(f'{size:,}' for size in sizes)})",
        result=reuse.quantum_tokens,
        unit="tokens",
        source=f"vLLM {version} `resolve_kv_cache_block_sizes`",
    )
    if not reuse.state_blocks:
        return
    yield Step(
        path="plan.reuse.state_bytes",
        label="States one resume point keeps beside its attention blocks, until the pool needs the room",
        formula="groups of states × bytes of one block",
        substituted=f"{reuse.state_blocks} × {block_bytes:,}",
        result=reuse.state_bytes,
        unit="bytes",
        source=f"vLLM {version} `MambaManager.find_longest_cache_hit`: a state serves only the boundary it was taken at",
    )
    yield Step(
        path="plan.reuse.resume_points",
        label="Resume points in a prefix of max_model_len tokens, at most: a step leaves one where it ends on a block",
        formula="floor(max_model_len / quantum)",
        substituted=f"floor({plan.max_model_len:,} / {reuse.quantum_tokens:,})",
        result=reuse.resume_points,
        unit="resume points",
        source=f"vLLM {version} `CacheConfig.mamba_cache_mode`",
    )
    yield Step(
        path="plan.reuse.dropped_tail_tokens",
        label="Tokens behind the last resume point, computed again on a hit",
        formula="max_model_len − resume points × quantum",
        substituted=f"{plan.max_model_len:,} − {reuse.resume_points:,} × {reuse.quantum_tokens:,}",
        result=reuse.dropped_tail_tokens,
        unit="tokens",
        source=f"vLLM {version} `MambaManager.find_longest_cache_hit`",
    )


def capture_objection(plan: Plan, settings: EngineSettings) -> str | None:
    """Why the engine stops at CUDA graph capture, which runs every sequence at once; None where it does not."""
    states = [group for group in plan.groups if isinstance(group.specs[0], MambaSpec)]
    seqs, blocks = settings.max_num_seqs, plan.num_gpu_blocks
    if not states or blocks is None or plan.fit is None or not plan.fit.fits or seqs <= blocks:
        return None
    return (
        f"max_num_seqs of {seqs:,} needs {seqs:,} state blocks, the pool has {blocks:,}: vLLM {settings.profile.version} "
        f"stops at CUDA graph capture. Lower max_num_seqs to at most {blocks:,}, or give the cache more memory."
    )


def draft_warnings(settings: EngineSettings) -> Iterator[str]:
    """Settings under which fewer sequences than asked for advance in a step."""
    seqs, width = settings.max_num_seqs, 1 + settings.num_speculative_tokens
    if width > 1 and seqs * width > settings.max_num_batched_tokens:
        at_once = settings.max_num_batched_tokens // width
        yield (
            f"max_num_seqs of {seqs:,} sequences with {width} tokens each to verify exceeds max_num_batched_tokens of "
            f"{settings.max_num_batched_tokens:,}: {at_once:,} of them advance per step."
        )
