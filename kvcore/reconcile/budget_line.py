"""The lines of a vLLM log that belong to one pool: every worker prints its own, and the engine takes the least of all."""

import re

from kvcore.reconcile.record import LogFigure, LogRecord

NAME = "available_kv_gib"
TOKENS = "gpu_kv_cache_tokens"
PRINTED_BY_EACH = frozenset({TOKENS, "max_concurrency"})
"""Figures that releases up to 0.10 print for every worker, though all get the fewest blocks any of them can hold."""

_GROUP = re.compile(r"DP\d+")
_LATER_STAGE = re.compile(r"PP[1-9]")


def logged_budget(record: LogRecord) -> LogFigure | None:
    """The line whose budget made the printed figures; None where there is none.

    Workers of one data-parallel group have one pool, whose blocks are the fewest any of them can hold (vLLM
    `get_kv_cache_configs`). Pipeline stages hold different layers, so the least budget need not be theirs: the first counts.
    """
    printed = record.all(NAME)
    tokens = record.first(TOKENS)
    if tokens is not None:
        group = _GROUP.search(tokens.rank)
        same = [figure for figure in printed if group is None or group[0] in figure.rank.split()]
        printed = tuple(figure for figure in same or printed if figure.line < tokens.line) or printed
    if not printed or any(_LATER_STAGE.search(figure.rank) for figure in printed):
        return record.first(NAME)
    return min(printed, key=lambda figure: figure.value)


def logged_pool(record: LogRecord, name: str) -> LogFigure | None:
    """The figure of a name that is the pool's: the least that workers print one after another, else the first.

    vLLM 0.10 calls `get_kv_cache_config` for each worker's budget, which prints tokens and concurrency, before the blocks of
    all are cut to the fewest. A later budget line starts another engine or another start.
    """
    first = record.first(name)
    if name not in PRINTED_BY_EACH or first is None:
        return first
    later = [figure.line for figure in record.figures if figure.name == NAME and figure.line > first.line]
    group = _GROUP.search(first.rank)
    mine = [
        figure
        for figure in record.all(name)
        if not (later and figure.line > later[0]) and (group is None or group[0] in figure.rank.split())
    ]
    return min(mine or [first], key=lambda figure: figure.value)
