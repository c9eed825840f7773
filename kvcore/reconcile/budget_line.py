"""The budget a vLLM log prints: every worker prints its own, and the engine takes the least of those that share a cache."""

import re

from kvcore.reconcile.record import LogFigure, LogRecord

NAME = "available_kv_gib"
_GROUP = re.compile(r"DP\d+")
_LATER_STAGE = re.compile(r"PP[1-9]")


def logged_budget(record: LogRecord) -> LogFigure | None:
    """The line whose budget made the printed figures; None where there is none.

    Workers of one data-parallel group have one pool, whose blocks are the fewest any of them can hold (vLLM
    `get_kv_cache_configs`). Pipeline stages hold different layers, so the least budget need not be theirs: the first counts.
    """
    printed = record.all(NAME)
    tokens = record.first("gpu_kv_cache_tokens")
    if tokens is not None:
        group = _GROUP.search(tokens.rank)
        same = [figure for figure in printed if group is None or group[0] in figure.rank.split()]
        printed = tuple(figure for figure in same or printed if figure.line < tokens.line) or printed
    if not printed or any(_LATER_STAGE.search(figure.rank) for figure in printed):
        return record.first(NAME)
    return min(printed, key=lambda figure: figure.value)
