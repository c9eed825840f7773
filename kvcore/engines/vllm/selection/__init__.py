"""Backend selection: which attention backend vLLM runs a layer on, as tables of what each backend accepts."""

from kvcore.engines.vllm.selection.backend import DEFAULT_BLOCK_SIZE, Backend
from kvcore.engines.vllm.selection.query import LayerQuery
from kvcore.engines.vllm.selection.select import select_backend

__all__ = ["DEFAULT_BLOCK_SIZE", "Backend", "LayerQuery", "select_backend"]
