"""Memory: what of a GPU's free memory SGLang may spend on pools, and how much states take of it first."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from kvcore.arithmetic import GIB
from kvcore.engines.sglang.cells import STATE, BilledLayer
from kvcore.engines.sglang.settings import SglangSettings
from kvcore.engines.sglang.stages import layer_ranges
from kvcore.errors import refusal


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Free memory of one GPU in GiB, in the engine's double precision.

    Attributes:
        before_gib: Free before the weights.
        after_gib: Free after the weights, the drafter's included.
        slack_gib: Left free for activations and graphs.
        vision_gib: Left free for image embeddings.
    """

    before_gib: float
    after_gib: float
    slack_gib: float
    vision_gib: float

    @property
    def rest_gib(self) -> float:
        """What the pools share (SGLang 0.5.23 `KVCacheConfigurator._profile_available_bytes`)."""
        return self.after_gib - self.slack_gib - self.vision_gib


@dataclass(frozen=True, kw_only=True)
class StatePool:
    """Slots for states.

    Attributes:
        slots: Slots requests can use; the pool keeps one more as padding.
        slot_bytes: Bytes of one slot on the GPU with the most state layers.
        draft_bytes: Bytes of the states kept per drafted token.
        rule: Which rule decided the slots: ``given``, ``requests`` or ``memory``.
    """

    slots: int
    slot_bytes: int
    draft_bytes: int
    rule: str

    @property
    def bytes(self) -> int:
        """Bytes of the whole pool."""
        return (self.slots + 1) * self.slot_bytes + self.draft_bytes


def memory_of(before_gib: float, after_gib: float, settings: SglangSettings) -> Memory:
    """Divides the free memory.

    Raises:
        EngineRefusal: More is free after the load than before, or the weights leave nothing for pools.
    """
    if after_gib > before_gib:
        rule = f"more memory cannot be free after the load than the {before_gib:g} GiB before it"
        raise refusal("available_after_load_gib", after_gib, rule, "Give both figures as the log prints them.")
    memory = Memory(
        before_gib=before_gib,
        after_gib=_measured(after_gib, settings.tp_size * settings.pp_size),
        slack_gib=before_gib * (1 - settings.mem_fraction_static),
        vision_gib=settings.vision_gib,
    )
    if memory.rest_gib <= 0:
        raise _nothing_left(memory, settings)
    return memory


def _measured(gib: float, ranks: int) -> float:
    """Free memory as SGLang measures it: whole bytes, exchanged between ranks in 32-bit floats.

    Source: SGLang 0.5.23 `get_available_gpu_memory`.
    """
    measured = int(gib * GIB) / GIB
    return measured if ranks == 1 else float(struct.unpack("f", struct.pack("f", measured))[0])


def _nothing_left(memory: Memory, settings: SglangSettings) -> Exception:
    needed = 1 - memory.after_gib / memory.before_gib
    rule = f"the weights leave no memory for pools within the static share; it must exceed {needed:.4f}"
    remedy = f"Use a mem_fraction_static above {needed:.4f}, more GPUs or a smaller checkpoint."
    return refusal("mem_fraction_static", round(settings.mem_fraction_static, 4), rule, remedy)


def slot_bytes(billed: Sequence[BilledLayer], num_hidden_layers: int, settings: SglangSettings) -> int:
    """Bytes of one request's states, on the stage with the most state layers (`_handle_max_mamba_cache`)."""
    states = [layer for layer in billed if layer.pool == STATE]
    if not states:
        return 0
    total = sum(layer.cell.bytes for layer in states)
    most = max(
        sum(1 for layer in states if layer.index in layers)
        for layers in layer_ranges(num_hidden_layers, settings.pp_size)
    )
    return int(total * (most / len(states)))


def divide_for_states(memory: Memory, per_slot: int, settings: SglangSettings) -> tuple[StatePool | None, int]:
    """The state pool, and the bytes left for tokens (SGLang 0.5.23 `_handle_max_mamba_cache`).

    Raises:
        EngineRefusal: Not one slot fits, or the states leave nothing for tokens.
    """
    rest = memory.rest_gib
    if per_slot == 0:
        return None, int(rest * GIB)
    drafted, per_request = settings.num_state_drafts, settings.state_reuse.slots_per_request
    requests = settings.requests_per_group
    draft_bytes = 0
    if settings.max_mamba_cache_size is not None:
        rule, slots = "given", settings.max_mamba_cache_size // settings.attn_dp_size
        if drafted and requests is not None:
            draft_bytes = per_slot * (min(requests, slots // per_request) + 1) * drafted
    elif settings.disable_radix_cache and requests is not None:
        rule, slots = "requests", requests
        draft_bytes = per_slot * (slots + 1) * drafted
    else:
        rule = "memory"
        ratio = settings.mamba_full_memory_ratio
        budget = rest * ratio / (1 + ratio) * GIB
        if drafted and requests is not None:
            slots = int((budget - per_slot * (1 + drafted)) // (per_slot * (1 + drafted / per_request)))
            draft_bytes = per_slot * (min(requests, slots // per_request) + 1) * drafted
        else:
            slots = int((budget - per_slot) // per_slot)
    if slots <= 0:
        rule = f"not one slot of {per_slot:,} bytes fits the memory for states"
        raise refusal("max_mamba_cache_size", slots, rule, "Use a higher mem_fraction_static or more GPUs.")
    if draft_bytes:
        rest -= draft_bytes / GIB
    rest -= (slots + 1) * per_slot / GIB
    if rest <= 0:
        rule_text = f"{slots:,} state slots of {per_slot:,} bytes leave no memory for tokens"
        raise refusal("max_mamba_cache_size", slots, rule_text, "Use fewer slots or a higher mem_fraction_static.")
    return StatePool(slots=slots, slot_bytes=per_slot, draft_bytes=draft_bytes, rule=rule), int(rest * GIB)
