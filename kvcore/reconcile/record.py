"""What a start-up log says: every figure with its unit and line, and the flags it names; never the log's own words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

UNITS: Mapping[str, str] = {
    "gpu_kv_cache_tokens": "tokens",
    "max_concurrency": "requests",
    "max_concurrency_len": "tokens",
    "num_gpu_blocks": "blocks",
    "num_cpu_blocks": "blocks",
    "num_gpu_blocks_override": "blocks",
    "attention_block_size": "tokens",
    "kernel_block_size": "tokens",
    "mamba_page_padding_percent": "%",
    "padding_layers": "layers",
    "padding_waste_percent": "%",
    "refused_max_model_len": "tokens",
    "estimated_max_model_len": "tokens",
    "init_engine_seconds": "s",
    "max_num_batched_tokens": "tokens",
    "kv_cache_memory_suggestion_bytes": "bytes",
    "gpu_memory_utilization": "",
    "dcp_world_size": "ranks",
    "world_size": "ranks",
    "pp_rank": "",
    "tp_rank": "",
    "max_total_num_tokens": "tokens",
    "max_running_requests": "requests",
    "context_len": "tokens",
    "chunked_prefill_size": "tokens",
    "pool_tokens": "tokens",
    "swa_tokens": "tokens",
    "max_mamba_cache_size": "requests",
    "pool_capacity_tokens": "tokens",
    "cells": "tokens",
    "layers": "layers",
    "primary_blocks": "blocks",
    "tokens_per_block": "tokens",
    "allocated_bytes": "bytes",
    "kv_bytes_per_token": "bytes",
    "free_fraction": "",
    "size_mib": "MiB",
    "k_mib": "MiB",
    "v_mib": "MiB",
}
"""Unit of every figure that is not in GiB."""


@dataclass(frozen=True, kw_only=True)
class LogFigure:
    """One number of a log.

    Attributes:
        name: What it counts.
        printed: Its digits as printed, without separators.
        unit: Its unit; SGLang and early vLLM print "GB" and mean GiB.
        line: Line of the log, counted from 1.
        run: Which start of the engine printed it, counted from 1.
        rank: Worker that printed it, such as ``DP0 TP1``; empty where the line names none.
    """

    name: str
    printed: str
    unit: str
    line: int
    run: int = 1
    rank: str = ""

    @property
    def value(self) -> int | Fraction:
        """The number, exactly as printed."""
        return Fraction(self.printed) if "." in self.printed else int(self.printed)

    @property
    def interval(self) -> tuple[Fraction, Fraction]:
        """The true values that print as these digits: half a unit of the last place to either side."""
        places = len(self.printed.partition(".")[2])
        half = Fraction(1, 2 * 10**places) if places else Fraction(0)
        return Fraction(self.value) - half, Fraction(self.value) + half


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A recognised line: its kind, a key of the readings, and where it stood."""

    kind: str
    line: int
    run: int = 1


@dataclass(frozen=True, kw_only=True)
class LogRecord:
    """Everything kvcore takes out of a log.

    Attributes:
        engine: ``vllm``, ``sglang``, ``llama.cpp``, ``tensorrt-llm`` or ``servingstudio``; empty where no line was known.
        engine_version: Release the engine prints; empty where it prints none.
        figures: Every figure, in the order of the log.
        seen: Every recognised line.
        flags: Arguments the log names, by the engine's own name, values as printed.
        flags_complete: Whether the list of arguments was printed to its end.
        flags_line: Line of that list; 0 where there was none.
        lines: Lines read.
        left_out: Figures beyond the most that are kept.
    """

    engine: str
    engine_version: str
    figures: tuple[LogFigure, ...]
    seen: tuple[Seen, ...]
    flags: Mapping[str, Any] = field(default_factory=dict, repr=False)
    flags_complete: bool = False
    flags_line: int = 0
    lines: int = 0
    left_out: int = 0

    @property
    def run(self) -> int:
        """The start that is answered for: the first one that printed a capacity, else the first."""
        names = {"gpu_kv_cache_tokens", "max_total_num_tokens", "num_gpu_blocks", "kv_needed_gib", "available_kv_gib"}
        return next((figure.run for figure in self.figures if figure.name in names), 1)

    def all(self, name: str) -> tuple[LogFigure, ...]:
        """Every figure of a name in the answered start."""
        return tuple(figure for figure in self.figures if figure.name == name and figure.run == self.run)

    def first(self, name: str) -> LogFigure | None:
        """The first figure of a name in the answered start; of any start where that one has none."""
        mine = self.all(name)
        if mine:
            return mine[0]
        return next((figure for figure in self.figures if figure.name == name), None)
