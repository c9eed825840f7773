"""A command line out: the engine command that realises a request."""

import json
from collections.abc import Mapping
from typing import Any

from kvcore.arithmetic import GIB
from kvcore.commandline.environment import LAYERS_PER_STAGE
from kvcore.commands import quoted
from kvcore.request_fields import REQUEST_FIELDS, RequestField

MODEL_PLACEHOLDER = "ORG/NAME"
"""Stands for a model that was pasted as a config.json."""


def engine_command(request: Mapping[str, Any]) -> str:
    """The ``vllm serve`` or ``sglang.launch_server`` command of a request, quoted for a POSIX shell.

    A logged budget is asked for in bytes, and layers per stage by their environment variable. Fields that the engine has no
    flag for (the GPU, an override of kvcore's own) are left out.
    """
    request = _with_bytes(request)
    engine = str(request.get("engine", "vllm"))
    model = str(request.get("model", MODEL_PLACEHOLDER))
    start = (
        ["vllm", "serve", model]
        if engine == "vllm"
        else ["python", "-m", "sglang.launch_server", "--model-path", model]
    )
    partition = request.get("pipeline_layer_partition")
    words = [f"{LAYERS_PER_STAGE}={_listed(partition)}"] if partition and engine == "vllm" else []
    words += start
    for field in REQUEST_FIELDS:
        value = request.get(field.name)
        if value is not None and field.flag and field.engine in {engine, "both"}:
            words.extend(_flag(field, value, engine))
    return " ".join(quoted(word) for word in words)


def _with_bytes(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """A request whose logged budget is stated as the engine's flag takes it."""
    logged = request.get("available_kv_cache_gib")
    try:
        cache = int(float(logged) * GIB) if logged is not None else 0
    except (TypeError, ValueError, OverflowError):
        cache = 0
    return {"kv_cache_memory_bytes": cache, **request} if cache > 0 else request


def _listed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _flag(field: RequestField, value: Any, engine: str) -> list[str]:
    if field.type == "boolean":
        # SGLang's switches have no opposite: what is off is left out.
        opposite = [] if engine == "sglang" else [f"--no-{field.flag.removeprefix('--')}"]
        return [field.flag] if value else opposite
    if field.type == "strings":
        names = value.split(",") if isinstance(value, str) else value
        return [field.flag, *(str(name).strip() for name in names)]
    if isinstance(value, Mapping | list | tuple):
        return [field.flag, json.dumps(value)]
    return [field.flag, str(value)]
