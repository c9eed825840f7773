"""One golden point against kvcore: equal, or the figures that differ. Whole numbers and ratios alike must be equal."""

from collections.abc import Mapping
from typing import Any

from kvcore.report.report import Report
from site_plugins.accuracy.points import Line

_FIGURES = (
    "fits",
    "num_gpu_blocks",
    "tokens",
    "concurrency",
    "block_size",
    "max_model_len",
    "max_model_len_that_fits",
    "groups",
    "stage_page_size_bytes",
)
_WITHOUT_CACHE = frozenset({"fits", "tokens", "concurrency", "max_model_len", "groups"})
"""What a model that caches nothing has figures for: no block size, and no length of its own."""

_SGLANG_FIGURES = (
    "max_total_num_tokens",
    "max_running_requests",
    "mem_fraction_static",
    "full_max_total_num_tokens",
    "swa_max_total_num_tokens",
    "max_mamba_cache_size",
)


def difference(engine: str, line: Line, report: Report) -> str:
    """Returns in words how kvcore's answer to a point differs from the engine's; empty where every figure is equal.

    Args:
        engine: ``vllm`` or ``sglang``.
        line: The point: the engine's figures under ``expected``, or why it refused.
        report: kvcore's answer to the same question.
    """
    if _refused(line):
        return "" if report.errors else f"answered, where the engine refuses: {_refused(line)}"
    if report.errors:
        error = report.errors[0]
        return f"refused: {error.field} = {error.value}: {error.rule}"
    if engine == "sglang":
        return _unequal(_sglang_expected(line), _sglang_found(report))
    return _unequal(_expected(line), _found(report))


def is_asked(line: Line) -> bool:
    """Tells whether a point says anything about the engine; some only failed on the machine they were asked on."""
    return "expected" in line or line.get("cause") == "engine"


def _refused(line: Line) -> str:
    expected = line.get("expected", {})
    return str(expected.get("refused") or ("" if expected else line.get("reason", "")))


def _unequal(expected: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{name} is {found.get(name)} instead of {wanted}"
        for name, wanted in expected.items()
        if found.get(name) != wanted
    )


def _expected(line: Line) -> Mapping[str, Any]:
    expected = {name: line["expected"][name] for name in _FIGURES if line["expected"].get(name) is not None}
    if "groups" in expected:
        expected["groups"] = sorted(expected["groups"])
        if expected.get("fits") and not expected["groups"]:
            return {name: value for name, value in expected.items() if name in _WITHOUT_CACHE}
    return expected


def _found(report: Report) -> Mapping[str, Any]:
    capacity, plan, request = report.capacity, report.plan, report.request
    if capacity is None or plan is None:
        return {}
    return {
        "fits": capacity.fits,
        "num_gpu_blocks": capacity.num_gpu_blocks,
        "tokens": capacity.tokens.engine_log,
        "concurrency": capacity.concurrency.engine_log,
        "block_size": plan.block_size,
        "max_model_len": request.max_model_len if request else None,
        "max_model_len_that_fits": capacity.max_model_len_that_fits,
        "groups": sorted([group.layers, group.block_size, group.blocks_per_request] for group in plan.groups),
        "stage_page_size_bytes": list(plan.stage_page_size_bytes),
    }


def _sglang_expected(line: Line) -> Mapping[str, Any]:
    result = line["expected"]["result"]
    return {name: result[name] for name in _SGLANG_FIGURES if result.get(name) is not None}


def _sglang_found(report: Report) -> Mapping[str, Any]:
    if report.capacity is None:
        return {}
    pools = {pool.name: pool.entries for pool in report.capacity.pools}
    return {
        "max_total_num_tokens": report.capacity.tokens.engine_log,
        "max_running_requests": report.capacity.max_running_requests,
        "mem_fraction_static": report.inputs["mem_fraction_static"].value,
        "full_max_total_num_tokens": pools.get("full tokens"),
        "swa_max_total_num_tokens": pools.get("window tokens"),
        "max_mamba_cache_size": pools.get("states"),
    }
