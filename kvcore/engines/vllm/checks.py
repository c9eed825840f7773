"""Deployments vLLM refuses before it plans anything."""

from collections.abc import Sequence

from kvcore.catalog.gpus import ADA, HOPPER
from kvcore.dtypes import is_fp8
from kvcore.engines.vllm.paging_settings import PagingSettings
from kvcore.engines.vllm.selection import LayerQuery, select_backend
from kvcore.engines.vllm.selection.query import ENCODER_ONLY
from kvcore.errors import refusal
from kvcore.layout.cache import AttentionCache, LatentCache
from kvcore.layout.layout import Layout
from kvcore.layout.traits import Traits


def check_deployment(layout: Layout, settings: PagingSettings, traits: Traits) -> None:
    """Raises for parallel sizes the engine cannot use on this model.

    Raises:
        EngineRefusal: The first rule that refuses, with the field to change.
    """
    _check_pipeline(settings, traits)
    _check_towers(layout, settings)
    _check_alibi(settings, traits)
    _check_mixed_head_sizes(layout, settings)
    _check_encoder(layout, settings)
    _check_decode_context_parallel(layout, settings, traits)


def check_attention_heads(num_attention_heads: int | None, tensor_parallel_size: int) -> None:
    """Query heads must divide over the ranks (vLLM 0.33.0 `ModelConfig.verify_with_parallel_config`).

    Raises:
        EngineRefusal: They do not.
    """
    if num_attention_heads and num_attention_heads % tensor_parallel_size:
        rule = f"vLLM needs the {num_attention_heads} attention heads to divide evenly over the ranks"
        raise refusal("tensor_parallel_size", tensor_parallel_size, rule, f"Use a divisor of {num_attention_heads}.")


def check_heads_per_kv_head(num_attention_heads: int | None, layout: Layout, decode_context_parallel_size: int) -> None:
    """Ranks that share tokens divide the query heads of each KV head (vLLM 0.33.0 `verify_with_parallel_config`).

    Raises:
        EngineRefusal: They do not divide evenly.
    """
    dcp = decode_context_parallel_size
    if dcp == 1 or not num_attention_heads:
        return
    kv_heads = _most_kv_heads(layout)
    if not kv_heads:
        return
    queries = num_attention_heads // kv_heads
    if queries % dcp:
        rule = f"vLLM divides the {queries} query heads of each KV head over these ranks, and it does not divide evenly"
        raise refusal("decode_context_parallel_size", dcp, rule, f"Use a divisor of {queries}.")


def check_shared_layers(layout: Layout, stages: Sequence[int]) -> None:
    """A layer that reads another's cache must be on that layer's pipeline stage (vLLM `validate_kv_sharing_target`).

    Args:
        layout: What persists.
        stages: The stage of each layer.

    Raises:
        EngineRefusal: They are on different stages.
    """
    for layer, target in layout.shared_layers:
        if stages[layer] != stages[target]:
            rule = f"vLLM needs layer {layer} on the stage of layer {target}, whose cache it reads"
            raise refusal("pipeline_parallel_size", max(stages) + 1, rule, "Use 1.")


def _check_towers(layout: Layout, settings: PagingSettings) -> None:
    tp = settings.tensor_parallel_size
    for key, size in layout.tower_sizes:
        if size % tp:
            rule = f"vLLM divides the tower's {key} ({size}) over the ranks, and it does not divide evenly"
            raise refusal("tensor_parallel_size", tp, rule, f"Use a divisor of {size}.")


def _check_alibi(settings: PagingSettings, traits: Traits) -> None:
    if traits.alibi and is_fp8(settings.kv_cache_dtype) and settings.gpu.capability[0] == HOPPER:
        rule = "vLLM runs ALiBi on FlashAttention 2, which does not read an fp8 cache"
        raise refusal("kv_cache_dtype", settings.kv_cache_dtype, rule, "Use auto.")


def _check_mixed_head_sizes(layout: Layout, settings: PagingSettings) -> None:
    """Models of several head sizes run on Triton where FlashAttention 4 does not (vLLM 0.33.0 `Gemma4Config`)."""
    sizes = {part.cache.head_size for part in layout.parts if isinstance(part.cache, AttentionCache)}
    old = settings.gpu.capability < ADA and settings.attention_backend is None
    if len(sizes) > 1 and old and settings.kv_cache_dtype.startswith("fp8"):
        rule = "vLLM runs models of several head sizes on Triton here, whose fp8 cache needs compute capability 8.9"
        raise refusal("kv_cache_dtype", settings.kv_cache_dtype, rule, "Use auto.")


def _check_encoder(layout: Layout, settings: PagingSettings) -> None:
    """An encoder keeps nothing, yet its layers need a backend for these settings (vLLM `EncoderOnlyAttention`)."""
    if layout.layers or layout.head_size is None:
        return
    query = LayerQuery(
        capability=settings.gpu.capability,
        head_size=layout.head_size,
        dtype=settings.dtype,
        kv_cache_dtype=settings.kv_cache_dtype,
        block_size=settings.block_size,
        attn_type=ENCODER_ONLY,
    )
    select_backend(query, settings.attention_backend)


def _check_pipeline(settings: PagingSettings, traits: Traits) -> None:
    if settings.pipeline_parallel_size > 1 and not traits.supports_pipeline:
        rule = "vLLM's class for this architecture does not support pipeline parallelism"
        raise refusal("pipeline_parallel_size", settings.pipeline_parallel_size, rule, "Use 1.")


def _check_decode_context_parallel(layout: Layout, settings: PagingSettings, traits: Traits) -> None:
    dcp, tp = settings.decode_context_parallel_size, settings.tensor_parallel_size
    if dcp == 1:
        return
    field = "decode_context_parallel_size"
    if tp % dcp:
        raise refusal(field, dcp, f"must divide tensor_parallel_size ({tp})", f"Use a divisor of {tp}.")
    if traits.attention_free:
        rule = "vLLM counts the ranks that share tokens by KV heads, and the model has none"
        raise refusal(field, dcp, rule, "Use 1.")
    caches = [part.cache for part in layout.parts]
    if any(cache.growth == "sliding_window" for cache in caches):
        raise refusal(field, dcp, "vLLM does not share the tokens of sliding-window layers between ranks", "Use 1.")
    heads = _most_kv_heads(layout)
    if not heads:
        return
    if tp <= heads:
        rule = f"vLLM needs tensor_parallel_size ({tp}) greater than the {heads} KV heads"
        raise refusal(field, dcp, rule, f"Use tensor_parallel_size above {heads}, or {field} 1.")
    if dcp > tp // heads:
        rule = f"at most tensor_parallel_size / KV heads = {tp // heads} ranks hold copies of one head"
        raise refusal(field, dcp, rule, f"Use at most {tp // heads}.")


def _most_kv_heads(layout: Layout) -> int:
    """KV heads of the model, as the rules for shared tokens count them: none where anything keeps latents."""
    if not layout.layers:
        return layout.num_key_value_heads or 0
    caches = [part.cache for part in layout.parts]
    if any(isinstance(cache, LatentCache) for cache in caches):
        return 0
    return max((cache.num_kv_heads for cache in caches if isinstance(cache, AttentionCache)), default=0)
