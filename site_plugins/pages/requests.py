"""The requests that pages ask, as plain mappings of the contract's fields."""

from collections.abc import Mapping
from urllib.parse import urlencode

from site_plugins.pages.scenarios import HEADLINE_BUDGET

COUNTED = ("request", "capacity")
"""Sections of a report that say how many requests are held at once: all that a cell shows."""


def cell_request(model: str, budget: int, size: int, length: int) -> dict[str, object]:
    """Returns the request behind one cell of a table: cache bytes per GPU, tensor-parallel size, context."""
    return {
        "model": model,
        "tensor_parallel_size": size,
        "max_model_len": length,
        "kv_cache_memory_bytes": budget,
    }


def layout_request(model: str, size: int) -> dict[str, object]:
    """Returns the request for what a token costs, whatever the context."""
    return {"model": model, "tensor_parallel_size": size, "kv_cache_memory_bytes": HEADLINE_BUDGET}


def deployment_request(model: str, gpu: str, size: int, length: int) -> dict[str, object]:
    """Returns the request of a deployment whose budget is estimated: tensor-parallel over all its cards."""
    return {"model": model, "gpu": gpu, "tensor_parallel_size": size, "max_model_len": length}


def calculator_link(calculator: str, request: Mapping[str, object]) -> str:
    """Returns the calculator's address with a request filled in."""
    return f"{calculator}?{urlencode({key: str(value) for key, value in request.items()})}"
