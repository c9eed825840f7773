"""Grouping: which layers share a block table (vLLM 0.33.0 `v1/core/kv_cache_planning.get_kv_cache_groups`)."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kvcore.arithmetic import cdiv
from kvcore.engines.vllm.packing import packed_groups
from kvcore.engines.vllm.profile import Profile
from kvcore.engines.vllm.specs import (
    AttentionSpec,
    ChunkedLocalAttentionSpec,
    CircularBufferSpec,
    FullAttentionSpec,
    LayerSpec,
    MambaSpec,
    MLAAttentionSpec,
    SlidingWindowMLASpec,
    SlidingWindowSpec,
)
from kvcore.errors import refusal


@dataclass(frozen=True, kw_only=True)
class PlannedLayer:
    """One cache of one layer with its spec, the layout part it belongs to and its pipeline stage."""

    part: str
    layer_index: int
    stage: int
    spec: LayerSpec


@dataclass(frozen=True, kw_only=True)
class CacheGroup:
    """Layers that share a block table. ``is_uniform_type``: pages may differ between its layers."""

    layers: tuple[PlannedLayer, ...]
    is_uniform_type: bool = False

    @functools.cached_property
    def specs(self) -> tuple[LayerSpec, ...]:
        """The layers' specs in order."""
        return tuple(layer.spec for layer in self.layers)

    @functools.cached_property
    def counted_specs(self) -> tuple[tuple[LayerSpec, int], ...]:
        """Every spec with the number of layers that have it."""
        return counted_specs(self.layers)

    @functools.cached_property
    def counted_parts(self) -> tuple[tuple[str, LayerSpec, int], ...]:
        """Every part of the layout in the group with its spec and the number of its layers, in first-seen order."""
        counts: dict[tuple[str, int], int] = {}
        specs: dict[int, LayerSpec] = {}
        for layer in self.layers:
            key = (layer.part, id(layer.spec))
            specs[key[1]] = layer.spec
            counts[key] = counts.get(key, 0) + 1
        return tuple((part, specs[spec], count) for (part, spec), count in counts.items())

    @functools.cached_property
    def part_names(self) -> tuple[str, ...]:
        """The parts of the layout in the group."""
        return tuple(dict.fromkeys(part for part, _, _ in self.counted_parts))

    @functools.cached_property
    def block_size(self) -> int:
        """Tokens per block of the group."""
        return self.layers[0].spec.block_size

    @functools.cached_property
    def prefix_cacheable(self) -> bool:
        """Whether finished blocks of the group can be kept for reuse; rings cannot."""
        return not any(isinstance(spec, CircularBufferSpec) for spec, _ in self.counted_specs)

    @functools.cached_property
    def page_size_bytes(self) -> int:
        """Bytes of one block over the group's layers."""
        return sum(spec.page_size_bytes * count for spec, count in self.counted_specs)


def counted_specs(layers: Iterable[PlannedLayer]) -> tuple[tuple[LayerSpec, int], ...]:
    """The specs of some layers, each once, with the number of its layers. Layers of one part share one spec object."""
    counts: dict[int, int] = {}
    specs: dict[int, LayerSpec] = {}
    for layer in layers:
        key = id(layer.spec)
        specs[key] = layer.spec
        counts[key] = counts.get(key, 0) + 1
    return tuple((spec, counts[key]) for key, spec in specs.items())


def distinct_specs(layers: Iterable[PlannedLayer]) -> tuple[LayerSpec, ...]:
    """The specs of some layers, each once."""
    return tuple(spec for spec, _ in counted_specs(layers))


def with_specs(layers: Iterable[PlannedLayer], change: Callable[[LayerSpec], LayerSpec]) -> list[PlannedLayer]:
    """The layers with every spec changed; layers that shared a spec share the changed one."""
    layers = list(layers)
    changed = {id(spec): change(spec) for spec in distinct_specs(layers)}
    return [dataclasses.replace(layer, spec=changed[id(layer.spec)]) for layer in layers]


def group_layers(
    layers: Sequence[PlannedLayer],
    *,
    profile: Profile,
    disable_hybrid_kv_cache_manager: bool = False,
    block_outermost: bool = False,
) -> tuple[CacheGroup, ...]:
    """Splits the model's layers into cache groups.

    Args:
        layers: All layers of all pipeline stages, in model order.
        profile: The engine version's switches.
        disable_hybrid_kv_cache_manager: Window layers are charged as full attention.
        block_outermost: Whether the cache tensor lays blocks outermost, which allows groups of mixed pages.

    Returns:
        The groups, in the engine's order; none where nothing is cached.

    Raises:
        EngineRefusal: The engine cannot bring the layers' pages together.
    """
    if not layers:
        return ()
    if disable_hybrid_kv_cache_manager:
        layers = promote_local_layers(layers)
    if _is_uniform(layers):
        return (CacheGroup(layers=tuple(layers)),)
    if is_uniform_type(layers):
        return (CacheGroup(layers=tuple(layers), is_uniform_type=True),)
    if block_outermost and len({spec.page_size_bytes for spec in distinct_specs(layers)}) > 1:
        return tuple(
            CacheGroup(layers=tuple(group), is_uniform_type=True)
            for group in packed_groups(layers, lambda layer: layer.spec)
        )
    if profile.unequal_pages != "padded":
        _check_multiples(layers, profile)
    if not _can_unify_pages(layers):
        promoted = _full_allocation_fallback(layers)
        return (CacheGroup(layers=tuple(promoted), is_uniform_type=True),)
    return _equal_size_groups(_unify_page_size(layers), profile)


def promote_local_layers(layers: Sequence[PlannedLayer]) -> list[PlannedLayer]:
    """Charges window and chunk layers as full attention (vLLM 0.33.0 `_promote_local_kv_cache_specs`).

    Raises:
        EngineRefusal: The layers still differ in type, as states do.
    """
    if _is_uniform(layers) or is_uniform_type(layers):
        return list(layers)
    full_block_sizes = {layer.spec.block_size for layer in layers if isinstance(layer.spec, FullAttentionSpec)}
    promoted = list(layers)
    if full_block_sizes:
        block_size = full_block_sizes.pop() if len(full_block_sizes) == 1 else None
        promoted = with_specs(layers, lambda spec: _promoted(spec, block_size))
    if not (_is_uniform(promoted) or is_uniform_type(promoted)):
        raise refusal(
            "disable_hybrid_kv_cache_manager",
            "true",
            "vLLM fails to promote the local KV cache specs to one unified type: the model keeps states or cross "
            "attention beside attention",
            "Leave the hybrid KV cache manager on.",
        )
    return promoted


def _promoted(spec: LayerSpec, full_block_size: int | None) -> LayerSpec:
    target: type[FullAttentionSpec]
    if isinstance(spec, SlidingWindowMLASpec):
        rule = "vLLM 0.33.0 fails to charge windows of latents as full attention"
        raise refusal("disable_hybrid_kv_cache_manager", "true", rule, "Leave the hybrid KV cache manager on.")
    if isinstance(spec, SlidingWindowSpec | ChunkedLocalAttentionSpec):
        target = FullAttentionSpec
    else:
        return spec
    block_size = full_block_size or spec.block_size
    padded = spec.page_size_padded
    if padded is not None:
        padded = max(padded, spec.unpadded_page_size_bytes * block_size // spec.block_size)
    known = {field.name for field in dataclasses.fields(target)}
    values = {name: value for name, value in vars(spec).items() if name in known}
    return target(**{**values, "block_size": block_size, "page_size_padded": padded})


def is_uniform_type(layers: Sequence[PlannedLayer]) -> bool:
    """Whether one group may hold the layers though their pages differ (vLLM 0.33.0 `UniformTypeKVCacheSpecs`)."""
    specs = distinct_specs(layers)
    return (
        len({spec.block_size for spec in specs}) == 1
        and len({spec.uniform_type for spec in specs}) == 1
        and len({spec.dcp_sharded for spec in specs}) == 1
    )


def _is_uniform(layers: Sequence[PlannedLayer]) -> bool:
    return len({spec.merge_key for spec in distinct_specs(layers)}) == 1


def _can_unify_pages(layers: Sequence[PlannedLayer]) -> bool:
    specs = distinct_specs(layers)
    largest = max(spec.page_size_bytes for spec in specs)
    return all(not isinstance(spec, MLAAttentionSpec) or largest % spec.page_size_bytes == 0 for spec in specs)


def _check_multiples(layers: Sequence[PlannedLayer], profile: Profile) -> None:
    """Older releases bring pages together only by larger blocks, or not at all."""
    specs = distinct_specs(layers)
    pages = sorted({spec.page_size_bytes for spec in specs})
    if len(pages) == 1:
        return
    if profile.unequal_pages == "refused":
        rule = f"vLLM {profile.version} cannot plan layers whose pages differ"
        raise refusal("engine_version", profile.version, rule, "Use 0.12 or newer.")
    for spec in specs:
        page = spec.page_size_bytes
        if pages[-1] % page or (page != pages[-1] and isinstance(spec, MambaSpec)):
            rule = f"vLLM {profile.version} cannot plan pages of {page:,} bytes beside pages of {pages[-1]:,}"
            raise refusal("engine_version", profile.version, rule, "Use 0.24 or newer, or another block_size.")


def _full_allocation_fallback(layers: Sequence[PlannedLayer]) -> list[PlannedLayer]:
    """Latent layers beside plain windows: the windows become full attention, or the engine refuses."""
    specs = distinct_specs(layers)
    plain_window = any(isinstance(s, SlidingWindowSpec) and not isinstance(s, SlidingWindowMLASpec) for s in specs)
    blocked = any(isinstance(s, SlidingWindowMLASpec | ChunkedLocalAttentionSpec) for s in specs)
    if plain_window and not blocked:
        promoted = promote_local_layers(layers)
        if is_uniform_type(promoted):
            return promoted
    pages = sorted({spec.page_size_bytes for spec in specs})
    raise refusal(
        "block_size",
        pages,
        "vLLM cannot unify these page sizes: a latent page does not divide the largest page and may not be padded",
        "Choose another block_size or kv_cache_dtype.",
    )


def _unify_page_size(layers: Sequence[PlannedLayer]) -> list[PlannedLayer]:
    """Brings every page to the largest one (vLLM 0.33.0 `unify_kv_cache_spec_page_size`)."""
    largest = max(spec.page_size_bytes for spec in distinct_specs(layers))
    return with_specs(layers, lambda spec: _with_page(spec, largest))


def _with_page(spec: LayerSpec, largest: int) -> LayerSpec:
    page = spec.page_size_bytes
    if page == largest:
        return spec
    if isinstance(spec, MambaSpec) or not isinstance(spec, AttentionSpec) or largest % page != 0:
        return dataclasses.replace(spec, page_size_padded=largest)
    if spec.page_size_padded is not None:
        rule = f"vLLM fails to bring a page padded to {page:,} bytes to the {largest:,} bytes of full layers left unquantized"
        raise refusal("kv_cache_dtype_skip_layers", page, rule, "Name window layers only, or leave the field out.")
    return dataclasses.replace(spec, block_size=spec.block_size * (largest // page))


def _equal_size_groups(layers: Sequence[PlannedLayer], profile: Profile) -> tuple[CacheGroup, ...]:
    """Groups of one size, each bucket dealt out in strides (`_get_kv_cache_groups_uniform_page_size`)."""
    keys = {id(spec): spec.merge_key for spec in distinct_specs(layers)}
    buckets: dict[LayerSpec, list[PlannedLayer]] = {}
    for layer in layers:
        buckets.setdefault(keys[id(layer.spec)], []).append(layer)
    counts = [len(bucket) for bucket in buckets.values()]
    size = profile.group_size(counts)
    groups: list[CacheGroup] = []
    for bucket in buckets.values():
        number = cdiv(len(bucket), size)
        groups.extend(CacheGroup(layers=tuple(bucket[first::number])) for first in range(number))
    return tuple(groups)
