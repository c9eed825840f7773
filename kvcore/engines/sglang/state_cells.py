"""States of one layer and one request in the bytes SGLang's slots take."""

import math
from dataclasses import dataclass

from kvcore.dtypes import ELEMENT_BYTES
from kvcore.errors import EngineRefusal, FieldError
from kvcore.layout.cache import StateCache

CONV_DTYPE = "bfloat16"
"""Element type of convolution states (SGLang 0.5.23 `mamba2_state_dtype`)."""


@dataclass(frozen=True, kw_only=True)
class StateCell:
    """One layer's state of one request on one GPU; fields as in `cells.Cell`."""

    bytes: int
    dtype: str
    split: str
    formula: str
    substituted: str
    source: str


def state_cell(cache: StateCache, attn_tp_size: int, temporal_dtype: str) -> StateCell:
    """Convolution and recurrent state of one layer (SGLang 0.5.23 `BaseLinearStateParams.mamba_cache_per_req`).

    Raises:
        EngineRefusal: The attention ranks do not divide the state.
    """
    try:
        tensors = cache.tensors(attn_tp_size, 0)
    except EngineRefusal as error:
        renamed = [
            FieldError("tp_size", item.value, item.rule.replace("vLLM", "SGLang"), item.remedy) for item in error.errors
        ]
        raise EngineRefusal(renamed) from None
    total = 0
    formulas, values = [], []
    for tensor in tensors:
        width = ELEMENT_BYTES[CONV_DTYPE if tensor.role == "conv" else temporal_dtype]
        total += math.prod(tensor.shape) * width
        formulas.append(f"{tensor.formula} × {tensor.role} bytes")
        values.append(f"{tensor.substituted} × {width}")
    has_recurrent = any(tensor.role == "temporal" for tensor in tensors)
    return StateCell(
        bytes=total,
        dtype=f"{CONV_DTYPE} + {temporal_dtype}" if has_recurrent else CONV_DTYPE,
        split="heads",
        formula=" + ".join(formulas),
        substituted=" + ".join(values),
        source="SGLang 0.5.23 `BaseLinearStateParams.mamba_cache_per_req`",
    )
