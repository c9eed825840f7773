"""The free memory an SGLang log prints: every rank prints its own, and the engine takes the least of all of them.

SGLang `ModelRunner.init_torch_distributed` and `profile_max_num_token` read it with ``distributed=True``, a minimum over
ranks. A drafter that is loaded before the pools counts; one that is loaded after them does not.
"""

from kvcore.reconcile.record import LogFigure, LogRecord

BEFORE, AFTER = "available_before_load_gib", "available_after_load_gib"
_POOLS = frozenset({"pool_tokens", "max_mamba_cache_size", "max_total_num_tokens"})


def least_before(record: LogRecord) -> LogFigure | None:
    """The least that any rank had free before the weights; None where no rank prints it."""
    first: dict[str, LogFigure] = {}
    for figure in _ahead_of_pools(record, BEFORE):
        first.setdefault(figure.rank, figure)
    return _least(first)


def least_after(record: LogRecord) -> LogFigure | None:
    """The least that any rank had left beside the weights when the pools were sized; None where no rank prints it."""
    last: dict[str, LogFigure] = {}
    for figure in _ahead_of_pools(record, AFTER):
        last[figure.rank] = figure
    return _least(last)


def _ahead_of_pools(record: LogRecord, name: str) -> list[LogFigure]:
    figures = record.all(name)
    pools = [figure.line for figure in record.figures if figure.name in _POOLS and figure.run == record.run]
    return [figure for figure in figures if not pools or figure.line < min(pools)]


def _least(by_rank: dict[str, LogFigure]) -> LogFigure | None:
    return min(by_rank.values(), key=lambda figure: figure.value, default=None)
