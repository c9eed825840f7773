"""Tensor layout: the order of layers, blocks, heads and tokens in the cache (vLLM 0.33.0 `resolve_kv_cache_layout`).

The letters stand for L layer, B block, H head, N token, C content; the first is outermost. Only whether blocks lie
outermost changes capacity: it lets layers of different pages share a block.
"""

from collections import Counter
from collections.abc import Sequence

from kvcore.engines.vllm.selection import Backend
from kvcore.engines.vllm.specs import AttentionSpec, CircularBufferSpec, LayerSpec
from kvcore.errors import refusal

ALL_LAYOUTS = ("LBHNC", "LBNHC", "LHBNC", "BLHNC", "BLNHC", "BHLNC")
DEFAULT_PREFERENCE = ("LBNHC", "LBHNC", "BLNHC", "BLHNC", "BHLNC", "LHBNC")

BLOCK_OUTERMOST = "BLHNC"


def is_block_outermost(layout: str) -> bool:
    """Whether blocks lie outermost."""
    return layout.startswith("B")


def is_block_compact(layout: str) -> bool:
    """Whether a page of one layer is one run of memory."""
    return set(layout[:2]) == {"L", "B"}


def resolve_tensor_layout(backends: Sequence[Backend], specs: Sequence[LayerSpec]) -> str:
    """The layout every backend takes that the engine likes best.

    Raises:
        EngineRefusal: The backends share no layout the specs can be stored in.
    """
    candidates = _shared_layouts(backends)
    if len({_shape(spec) for spec in specs}) > 1:
        candidates = [layout for layout in candidates if is_block_compact(layout)]
    sharding = {
        spec.dcp_sharded
        for spec in specs
        if isinstance(spec, AttentionSpec) and not isinstance(spec, CircularBufferSpec)
    }
    if len(sharding) > 1 and len({spec.page_size_bytes for spec in specs}) > 1:
        candidates = [layout for layout in candidates if is_block_outermost(layout)]
    if not candidates:
        names = ", ".join(backend.name for backend in backends)
        rule = f"the backends {names} share no cache layout that stores pages of these sizes"
        raise refusal("attention_backend", None, rule, "Choose other backends.")
    return candidates[0]


def _shared_layouts(backends: Sequence[Backend]) -> list[str]:
    """Layouts in the intersection of all declarations, the most wanted first (`get_supported_kv_cache_layouts`)."""
    declared = [backend.kv_cache_layouts for backend in backends if backend.kv_cache_layouts] or [DEFAULT_PREFERENCE]
    if all(layouts == declared[0] for layouts in declared):
        return list(declared[0])
    wanted = Counter(layouts[0] for layouts in declared)
    shared = [layout for layout in ALL_LAYOUTS if all(layout in layouts for layouts in declared)]
    return sorted(shared, key=lambda layout: -wanted[layout])


def _shape(spec: LayerSpec) -> tuple[int, int, int]:
    """Heads, stored entries and bytes of a page: what layers that share memory must agree on."""
    if not isinstance(spec, AttentionSpec):
        return (1, 1, spec.page_size_bytes)
    heads = spec.num_kv_heads if spec.num_head_slots is None else spec.num_head_slots
    return (heads, spec.block_size // spec.tokens_per_state, spec.page_size_bytes)
