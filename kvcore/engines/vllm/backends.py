"""Attention backends and the block size they agree on.

A backend matters to capacity through the block sizes its kernels accept, the tensor layouts it takes and the alignment
of block strides. Which one runs a layer stands in :mod:`kvcore.engines.vllm.selection`.
"""

import itertools
import math
from collections.abc import Sequence

from kvcore.engines.vllm.selection import DEFAULT_BLOCK_SIZE, Backend, LayerQuery, select_backend
from kvcore.errors import refusal


def block_size_in_force(backends: Sequence[Backend], given: int | None) -> int:
    """Tokens per block before hybrid alignment: the given size, or the smallest one every backend takes.

    The default size where every backend takes it, else the smallest least common multiple of one size of each (vLLM
    0.33.0 `Platform._preferred_block_size_for_backends`).

    Raises:
        EngineRefusal: A backend cannot work on blocks of the given size.
    """
    if given is not None:
        for backend in backends:
            if not backend.accepts(given) and not backend.plans_any_block:
                sizes = f"multiples of {backend.smallest_block}"
                rule = f"the attention backend {backend.name} accepts {sizes} only"
                raise refusal("block_size", given, rule, f"Use one of the {sizes}.")
        return given
    if all(backend.accepts(DEFAULT_BLOCK_SIZE) for backend in backends):
        return DEFAULT_BLOCK_SIZE
    combinations = itertools.product(*(backend.sizes for backend in backends))
    candidates = sorted({math.lcm(*sizes) for sizes in combinations})
    return next(size for size in candidates if all(backend.accepts(size) for backend in backends))


def worker_warnings(
    backends: Sequence[Backend], given_block_size: int | None, decode_context_parallel_size: int
) -> tuple[str, ...]:
    """What the engine plans for and its workers refuse when they start."""
    of_blocks = () if given_block_size is None else _block_size_warnings(backends, given_block_size)
    return (*of_blocks, *_sharing_warnings(backends, decode_context_parallel_size))


def _block_size_warnings(backends: Sequence[Backend], block_size: int) -> tuple[str, ...]:
    refusing = [backend for backend in backends if backend.plans_any_block and not backend.accepts(block_size)]
    return tuple(
        f"The engine plans with blocks of {block_size} tokens, but its workers will not start: {backend.name} accepts "
        f"multiples of {backend.smallest_block} only. Leave block_size out."
        for backend in refusing[:1]
    )


def _sharing_warnings(backends: Sequence[Backend], decode_context_parallel_size: int) -> tuple[str, ...]:
    refusing = [backend for backend in backends if backend.plans_any_sharing and decode_context_parallel_size > 1]
    return tuple(
        f"The engine plans with decode_context_parallel_size {decode_context_parallel_size}, but its workers will not "
        f"start: {backend.name} does not share a request's tokens between ranks. Leave it out."
        for backend in refusing[:1]
    )


__all__ = [
    "DEFAULT_BLOCK_SIZE",
    "Backend",
    "LayerQuery",
    "block_size_in_force",
    "select_backend",
    "worker_warnings",
]
