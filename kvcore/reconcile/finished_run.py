"""A finished run of the ServingStudio simulator as a log of its own kind.

Its ``raw/run_meta.json`` (schema v3) lists the workers, each with ``kv_pools: [{group_id, capacity_tokens}]``; its
``raw/kv_cache.json`` holds pools of the same shape. What is missing is named, never guessed.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kvcore.config.nesting import nested_too_deeply
from kvcore.errors import input_error
from kvcore.reconcile.record import UNITS, LogFigure, LogRecord, Seen

RUN_FILES = frozenset({"run_meta.json", "kv_cache.json"})
"""Names of the files of a run that say something about the cache."""

POOLS, CAPACITY, GROUP = "kv_pools", "capacity_tokens", "group_id"
_REMEDY = "Give raw/run_meta.json of a finished run, whose workers list kv_pools."


def is_finished_run(text: str) -> bool:
    """Whether a text is one JSON object of a run rather than a log of lines."""
    start = text.lstrip()[:1]
    return start == "{" and ("kv_pools" in text or "capacity_tokens" in text or "schema_version" in text)


def read_finished_run(text: str) -> LogRecord:
    """Reads a run's facts about its cache.

    Raises:
        InputError: The text is no JSON object, or ``kv_pools`` or a pool's ``capacity_tokens`` is missing.
    """
    if nested_too_deeply(text):
        raise input_error("run_meta", text[:40], "the JSON is nested too deeply", _REMEDY)
    try:
        run = json.loads(text)
    except ValueError as error:
        raise input_error("run_meta", text[:40], f"the text is not JSON ({error})", _REMEDY) from None
    if not isinstance(run, dict):
        raise input_error("run_meta", text[:40], "a JSON object is expected", _REMEDY)
    figures = [_figure(pool, worker) for worker, pools in _pools(run, "") for pool in pools]
    if not figures:
        raise input_error(POOLS, None, "the run lists no kv_pools, so it says nothing about the cache", _REMEDY)
    return LogRecord(
        engine="servingstudio",
        engine_version="",
        figures=tuple(figures),
        seen=tuple(Seen(kind="run_pool", line=figure.line) for figure in figures),
        lines=text.count("\n") + 1,
    )


def _pools(value: Any, worker: str) -> Iterator[tuple[str, list[Any]]]:
    """Every list of pools with the number of the worker it belongs to."""
    if isinstance(value, Mapping):
        number = value.get("worker_id")
        worker = f"worker {number}" if isinstance(number, int) else worker
        pools = value.get(POOLS)
        if isinstance(pools, list):
            yield worker, pools
        for key, item in value.items():
            if key != POOLS:
                yield from _pools(item, worker)
    elif isinstance(value, list):
        for item in value:
            yield from _pools(item, worker)


def _figure(pool: Any, worker: str) -> LogFigure:
    capacity = pool.get(CAPACITY) if isinstance(pool, Mapping) else None
    if isinstance(capacity, bool) or not isinstance(capacity, int):
        raise input_error(f"{POOLS}.{CAPACITY}", capacity, "every pool needs its tokens, a whole number", _REMEDY)
    group = pool.get(GROUP)
    name = f"group {group}" if isinstance(group, int) else ""
    return LogFigure(
        name="pool_capacity_tokens",
        printed=str(capacity),
        unit=UNITS["pool_capacity_tokens"],
        line=1,
        rank=" ".join(word for word in (worker, name) if word),
    )
