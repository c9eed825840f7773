"""Start-up logs that people posted: the printed figures must lie between those of the two ends of the printed budget.

A log prints its budget in GiB with two decimals, so the true number of bytes lies within half a hundredth of it.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from kvcore.arithmetic import GIB
from kvcore.catalog import find_model
from kvcore.engines.sglang.room_for_drafts import tokens_with_room_for_drafts
from kvcore.report.figures import readable_bytes
from kvcore.report.report import Report
from site_plugins.accuracy.points import Line
from site_plugins.pages.answers import Ask

HALF_A_HUNDREDTH = Fraction(5, 1000)
SGLANG_SHARE = Fraction(3, 100)
"""SGLang reads its free memory once more after printing it: its logs cannot be met to the token."""


def log_difference(line: Line, ask: Ask) -> str:
    """Returns in words why a log is not reproduced; empty where every printed figure is enclosed.

    Args:
        line: The log: ``model``, ``request``, ``available_kv_cache_gib`` and the figures ``logged``; ``reason`` where
            it is known not to be answerable.
        ask: Answers a request.
    """
    if line.get("reason"):
        return str(line["reason"])
    printed = Fraction(str(line["available_kv_cache_gib"]))
    ends = []
    for budget in (printed - HALF_A_HUNDREDTH, printed + HALF_A_HUNDREDTH):
        request = {"model": line["model"], **line["request"], "kv_cache_memory_bytes": int(budget * GIB)}
        report = ask(request, ("capacity",))
        if report.errors or report.capacity is None:
            return f"refused: {report.errors[0].message}" if report.errors else "no capacity"
        ends.append(_figures(report))
    least, most = ends
    return "; ".join(
        f"{name} is {least[name]} to {most[name]}, logged {logged}"
        for name, logged in line["logged"].items()
        if not _encloses(least[name], logged, most[name])
    )


def sglang_log_difference(line: Line, ask: Ask) -> str:
    """Returns in words why a log of SGLang is not reproduced; empty where the tokens differ by no more than 3 %.

    Args:
        line: The log, with the least free memory any rank printed in ``request``, and the settings of its ``drafts`` where
            it is of a release that put room for them on top; ``reason`` where it is known not to be answerable.
        ask: Answers a request.
    """
    if line.get("reason"):
        return str(line["reason"])
    report = ask({"engine": "sglang", "model": line["model"], **line["request"]})
    if report.errors or report.capacity is None or report.capacity.tokens.engine_log is None:
        return f"refused: {report.errors[0].message}" if report.errors else "no capacity"
    tokens, logged = report.capacity.tokens.engine_log, line["logged"]["tokens"]
    if "drafts" in line:
        tokens = tokens_with_room_for_drafts(tokens, page_size=line["request"]["page_size"], **line["drafts"])
    if abs(tokens - logged) <= SGLANG_SHARE * logged:
        return ""
    return f"tokens is {tokens}, logged {logged}"


def estimate_difference(line: Line, ask: Ask) -> str:
    """Returns in words how a logged budget lies outside the interval kvcore estimates; empty where it lies inside.

    Args:
        line: The log: ``model``, ``request``, and the budget printed, ``available_kv_gib``; ``reason`` where it is
            known not to be answerable.
        ask: Answers a request.
    """
    if line.get("reason"):
        return str(line["reason"])
    request = line["request"]
    if not {"gpu", "gpu_memory_gib"} & set(request):
        return "The log does not say how much memory the GPU has."
    if not {"gpu_memory_utilization", "engine_version"} & set(request):
        return "The log states neither the share of memory nor the release whose default it was."
    report = ask({**_checkpoint(line), **request}, ("budget",))
    if report.errors:
        return f"refused: {report.errors[0].message}"
    if report.budget is None or report.budget.interval_bytes is None:
        return "kvcore gives no estimate"
    low, high = report.budget.interval_bytes
    printed = Fraction(str(line["available_kv_gib"]))
    if low <= (printed + HALF_A_HUNDREDTH) * GIB and (printed - HALF_A_HUNDREDTH) * GIB <= high:
        return ""
    return f"estimated {readable_bytes(low)} to {readable_bytes(high)}, logged {line['available_kv_gib']} GiB"


def _checkpoint(line: Line) -> Mapping[str, Any]:
    """The model a log is of; where it is a quantized variant, the catalogue's config with that quantization."""
    if "quantization_config" not in line:
        return {"model": line["model"]}
    return {"config": {**find_model(line["model"]).config, "quantization_config": line["quantization_config"]}}


def _figures(report: Report) -> Mapping[str, Any]:
    if report.capacity is None:
        return {}
    concurrency = report.capacity.concurrency.engine_log
    return {
        "tokens": report.capacity.tokens.engine_log,
        "concurrency": None if concurrency is None else round(concurrency, 2),
        "num_gpu_blocks": report.capacity.num_gpu_blocks,
    }


def _encloses(least: float | None, logged: float, most: float | None) -> bool:
    return least is not None and most is not None and least <= logged <= most
