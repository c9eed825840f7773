"""The cache budget of one GPU: given exactly, as logged, or estimated from the GPU's memory."""

from dataclasses import dataclass

from kvcore.arithmetic import GIB
from kvcore.config import ModelConfig
from kvcore.engines.vllm.settings import EngineSettings
from kvcore.errors import input_error
from kvcore.layout.layout import Layout
from kvcore.report.report import Reserve
from kvcore.request import Request


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Bytes for the cache.

    Attributes:
        stage_bytes: Cache bytes on one GPU of each pipeline stage; one value holds for all; empty: not known.
        kind: ``given``, ``estimated`` or ``unknown``.
        note: How the number came about.
        interval_bytes: Lower and upper bound where estimated.
        reserves: What else takes GPU memory.
    """

    stage_bytes: tuple[int, ...]
    kind: str
    note: str
    interval_bytes: tuple[int, int] | None = None
    reserves: tuple[Reserve, ...] = ()

    @property
    def kv_cache_bytes(self) -> int | None:
        """Bytes on the GPU with the least memory for the cache."""
        return min(self.stage_bytes) if self.stage_bytes else None


def resolve_budget(
    request: Request, config: ModelConfig | None, settings: EngineSettings, layout: Layout
) -> Budget:
    """The budget of a request; a given number wins over every estimate.

    Raises:
        InputError: The list of budgets does not match the pipeline stages.
    """
    given = request.kv_cache_memory_bytes
    if given is not None:
        stages = (given,) if isinstance(given, int) else tuple(given)
        if len(stages) not in {1, settings.pipeline_parallel_size}:
            rule = f"one value, or one per pipeline stage ({settings.pipeline_parallel_size}), is expected"
            raise input_error("kv_cache_memory_bytes", list(stages), rule, "Give as many values as stages.")
        return Budget(stage_bytes=stages, kind="given", note="kv_cache_memory_bytes, exact")
    if request.available_kv_cache_gib is not None:
        number = int(request.available_kv_cache_gib * GIB)
        note = "Available KV cache memory as logged, which prints two decimals"
        half_digit = int(GIB * 0.005)
        return Budget(
            stage_bytes=(number,), kind="given", note=note, interval_bytes=(number - half_digit, number + half_digit)
        )
    return Budget(stage_bytes=(), kind="unknown", note="no budget is given")
