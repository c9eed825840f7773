"""Selection: the first backend of vLLM's order that can run a layer, or the one the user asked for."""

import difflib

from kvcore.catalog.gpus import ADA
from kvcore.engines.vllm.selection.backend import Backend
from kvcore.engines.vllm.selection.dense import DENSE_BACKENDS, dense_priorities, on_this_gpu
from kvcore.engines.vllm.selection.latent import LATENT_BACKENDS, latent_priorities
from kvcore.engines.vllm.selection.query import LayerQuery
from kvcore.errors import refusal

BY_NAME = {backend.name: backend for backend in (*DENSE_BACKENDS, *LATENT_BACKENDS)}

TRITON_BACKENDS = frozenset({"TRITON_MLA", "TRITON_ATTN", "TRITON_ATTN_DIFFKV"})


def select_backend(query: LayerQuery, asked_for: str | None = None) -> Backend:
    """The backend a layer runs on (vLLM 0.33.0 `CudaPlatformBase.get_attn_backend_cls`).

    Args:
        query: What the layer demands.
        asked_for: The request's ``attention_backend``.

    Raises:
        EngineRefusal: No backend, or not the one asked for, can run the layer.
    """
    if asked_for is not None:
        return _asked_for(query, asked_for)
    reasons: list[str] = []
    for backend in latent_priorities(query) if query.use_mla else dense_priorities(query):
        candidate = on_this_gpu(backend, query)
        against = list(candidate.reasons_against(query))
        if not against:
            _check_kernels(candidate, query)
            return candidate
        if backend.is_sparse == query.use_sparse:
            reasons.append(f"{backend.name}: {against[0]}")
    field, value = ("kv_cache_dtype", query.kv_cache_dtype) if query.is_quantized else ("gpu", _capability(query))
    rule = f"no attention backend of vLLM 0.33.0 can run this layer ({'; '.join(reasons)})"
    raise refusal(field, value, rule, "Choose another kv_cache_dtype, gpu or model.")


def _asked_for(query: LayerQuery, name: str) -> Backend:
    backend = BY_NAME.get(name.upper())
    if backend is None:
        near = difflib.get_close_matches(name.upper(), BY_NAME, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Known ones are {', '.join(sorted(BY_NAME))}."
        raise refusal("attention_backend", name, "this is no attention backend vLLM runs on NVIDIA GPUs", hint)
    candidate = on_this_gpu(backend, query)
    against = list(candidate.reasons_against(query))
    if against:
        rule = f"vLLM refuses it for this configuration ({'; '.join(against)})"
        raise refusal("attention_backend", name, rule, "Leave attention_backend out, or choose one that fits.")
    _check_kernels(candidate, query)
    return candidate


def _check_kernels(backend: Backend, query: LayerQuery) -> None:
    """Triton's kernels read 8-bit floats from compute capability 8.9 on (`TritonMLAImpl`, `TritonAttentionImpl`)."""
    is_fp8 = query.kv_cache_dtype.startswith("fp8")
    if backend.name in TRITON_BACKENDS and is_fp8 and query.capability < ADA:
        rule = f"{backend.name}, which runs this layer, reads fp8 caches from compute capability 8.9 on"
        raise refusal("kv_cache_dtype", query.kv_cache_dtype, rule, "Use auto, or a newer GPU.")


def _capability(query: LayerQuery) -> str:
    return f"compute capability {query.capability[0]}.{query.capability[1]}"
