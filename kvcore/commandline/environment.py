"""Environment variables of an engine, as they stand before a command or in a manifest."""

import re
from collections.abc import Iterable, Sequence

LAYERS_PER_STAGE = "VLLM_PP_LAYER_PARTITION"
"""The one variable that sets a request field (vLLM 0.33.0 `get_pp_indices`)."""

WITHOUT_WEIGHT = frozenset({
    "VLLM_API_KEY", "VLLM_CACHE_ROOT", "VLLM_CONFIGURE_LOGGING", "VLLM_DO_NOT_TRACK", "VLLM_ENGINE_READY_TIMEOUT_S",
    "VLLM_HOST_IP", "VLLM_LOGGING_CONFIG_PATH", "VLLM_LOGGING_LEVEL", "VLLM_LOGGING_PREFIX", "VLLM_NO_USAGE_STATS",
    "VLLM_PORT", "VLLM_RPC_TIMEOUT", "VLLM_USAGE_SOURCE", "VLLM_USE_MODELSCOPE", "VLLM_USE_V1",
    "VLLM_WORKER_MULTIPROC_METHOD", "SGLANG_USE_MODELSCOPE", "SGLANG_HOST_IP", "SGLANG_PORT",
})  # fmt: skip
"""Variables that do not matter to the cache's memory."""

_NAME = r"(?:VLLM|SGLANG)_[A-Z0-9_]{1,60}"
_ASSIGNED = re.compile(rf"(?:^|[=\s])({_NAME}=.*)", re.DOTALL)
_IN_LINE = re.compile(rf"^\s*(?:-\s+)?[\"']?({_NAME})[\"']?\s*[=:]\s*(\S.*)$")
_NAMED = re.compile(rf"^\s*(?:-\s+)?name:\s*[\"']?({_NAME})[\"']?\s*$")
_VALUE = re.compile(r"^\s*value:\s*(\S.*)$")


def assigned(words: Iterable[str]) -> list[str]:
    """The assignments among words, as ``NAME=value``: plain, and behind a container's ``-e`` or ``--env=``."""
    return [match[1] for match in map(_ASSIGNED.search, words) if match]


def assigned_in(lines: Sequence[str]) -> tuple[str, ...]:
    """The assignments of a manifest: Compose's ``NAME: value`` and ``- NAME=value``, Kubernetes' ``name:`` and ``value:``."""
    found = []
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        named, value = _NAMED.match(line), _VALUE.match(following)
        inline = _IN_LINE.match(line)
        if named and value:
            found.append(f"{named[1]}={_bare(value[1])}")
        elif inline:
            found.append(f"{inline[1]}={_bare(inline[2])}")
    return tuple(found)


def _bare(text: str) -> str:
    return text.partition(" #")[0].strip().strip("\"'")
