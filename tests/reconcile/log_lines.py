"""Logs for tests, in the formats the engines print; figures come from a report, so that they belong to a request."""

from collections.abc import Mapping
from typing import Any

from kvcore.answer import answer

BUDGET_GIB = "39.97"
"""A budget with two decimals, as vLLM prints it."""


def vllm_log(request: Mapping[str, Any], *, gib: str = BUDGET_GIB, extra: str = "", version: str = "") -> str:
    """The lines vLLM prints for a request whose budget prints as ``gib``."""
    report = answer({**request, "available_kv_cache_gib": float(gib)})
    assert report.errors == ()
    assert report.capacity is not None
    assert report.request is not None
    assert report.capacity.concurrency.engine_log is not None
    lines = (
        [f"(APIServer pid=1) INFO 05-05 12:00:00 [api_utils.py:1] vLLM API server version {version}"] if version else []
    )
    length, times = report.request.max_model_len, f"{report.capacity.concurrency.engine_log:.2f}"
    lines += [
        f"(EngineCore pid=9) INFO 05-05 12:00:01 [gpu_worker.py:440] Available KV cache memory: {gib} GiB",
        f"(EngineCore pid=9) INFO 05-05 12:00:01 [kv_cache_utils.py:1] GPU KV cache size: {report.capacity.tokens.engine_log:,} tokens",
        f"(EngineCore pid=9) INFO 05-05 12:00:01 [kv_cache_utils.py:2] Maximum concurrency for {length:,} tokens per request: {times}x",
    ]
    return "\n".join([*lines, extra]) + "\n"
