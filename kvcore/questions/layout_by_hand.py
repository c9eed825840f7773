"""From a model to its layout by hand: the same question about parts of stated size, which can then be edited."""

from typing import Any

from kvcore.budget.budget import ASKS_FOR_ESTIMATE
from kvcore.errors import input_error
from kvcore.layout.edited import bare
from kvcore.questions.forward import ask
from kvcore.questions.names import Fields
from kvcore.report.json import to_json

_SUBJECT = frozenset({"model", "config", "layout"})
_BUDGETS = frozenset({"kv_cache_memory_bytes", "available_kv_cache_gib"})
_IN_THE_SIZES = frozenset(
    {"dtype", "kv_cache_dtype", "kv_cache_dtype_skip_layers", "mamba_cache_dtype", "mamba_ssm_cache_dtype"}
)
"""What a layout's bytes already hold."""


def layout_by_hand(fields: Fields) -> dict[str, Any]:
    """The same request with the layout stated part by part in place of the model.

    What a layout cannot tell is stated as the engine resolved it: the context length, the budget where it was estimated, and
    whether states are kept for reuse.

    Raises:
        InputError: The request cannot be answered, or the model caches nothing.
    """
    report = ask(fields)
    if report.layout is None or not report.layout.parts:
        raise input_error("layout", None, "this model caches nothing that could be edited", "Choose another model.")
    if report.engine is not None and report.engine.name != "vllm":
        rule = "layouts are edited under vLLM's rules only: SGLang sizes its pools from a config.json"
        raise input_error("engine", report.engine.name, rule, "Choose vllm.")
    left_out = {*_SUBJECT, *_IN_THE_SIZES}
    stated: dict[str, Any] = {}
    for name in ("max_model_len", "enable_prefix_caching", "mamba_cache_mode"):
        if name in report.inputs:
            stated[name] = report.inputs[name].value
    if not any(name in fields for name in _BUDGETS) and report.budget is not None and report.budget.stage_bytes:
        left_out |= {*ASKS_FOR_ESTIMATE} - {"gpu"}
        stages = list(report.budget.stage_bytes)
        if all(stages):  # where nothing is left for the cache there is no budget to state
            stated["kv_cache_memory_bytes"] = stages[0] if len(set(stages)) == 1 else stages
    kept = {name: value for name, value in fields.items() if name not in left_out and value is not None}
    layout = bare({"name": report.model, **to_json(report.layout)})
    return {**kept, **{name: value for name, value in stated.items() if value is not None}, "layout": layout}
