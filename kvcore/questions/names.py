"""What each engine calls the settings that an inverse question looks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Fields = Mapping[str, Any]
"""Request fields by name."""

SGLANG_ARGUMENTS = "sglang_args"
"""The field that holds SGLang's flags by name, each as good as a field of its own."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """An engine's request fields by what they set.

    Attributes:
        context: Longest request in tokens.
        tensor: Ranks that split each layer.
        pipeline: Stages that split the layers.
        data: Replicas of the whole.
        share: Share of the GPU's memory the engine may use.
        cache_bytes: Cache memory in bytes; empty where no flag states it.
    """

    context: str
    tensor: str
    pipeline: str
    data: str
    share: str
    cache_bytes: str


VLLM = Names(
    context="max_model_len",
    tensor="tensor_parallel_size",
    pipeline="pipeline_parallel_size",
    data="data_parallel_size",
    share="gpu_memory_utilization",
    cache_bytes="kv_cache_memory_bytes",
)
SGLANG = Names(
    context="context_length",
    tensor="tp_size",
    pipeline="pp_size",
    data="dp_size",
    share="mem_fraction_static",
    cache_bytes="",
)

SAME: Mapping[str, str] = {
    VLLM.context: SGLANG.context,
    VLLM.tensor: SGLANG.tensor,
    VLLM.pipeline: SGLANG.pipeline,
    VLLM.data: SGLANG.data,
}
"""Fields that mean the same in both engines: vLLM's name, then SGLang's. Shares of memory do not: each is of another whole."""


def names_of(fields: Fields) -> Names:
    """The names of a deployment's engine."""
    return SGLANG if fields.get("engine") == "sglang" else VLLM


def with_changes(fields: Fields, changes: Fields) -> dict[str, Any]:
    """A deployment with some fields set; a change to None leaves the field out, also where it stands among SGLang's flags."""
    arguments = fields.get(SGLANG_ARGUMENTS)
    if isinstance(arguments, Mapping):
        others = {name: value for name, value in arguments.items() if name not in changes}
        fields = {**fields, SGLANG_ARGUMENTS: others or None}
    return {name: value for name, value in {**fields, **changes}.items() if value is not None}
