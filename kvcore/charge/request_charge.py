"""One request's cost per part, on the pipeline stage that binds: the engine's estimate, what is held, and plain."""

from dataclasses import dataclass

from kvcore.charge.plain import plain_bytes
from kvcore.engines.vllm.grouping import CacheGroup
from kvcore.engines.vllm.plan import Plan
from kvcore.engines.vllm.specs import MambaSpec


@dataclass(frozen=True, kw_only=True)
class PartCharge:
    """What one part of a request costs on one GPU.

    Attributes:
        name: The part.
        blocks: Blocks the estimate charges in groups that hold the part.
        copies: Copies of a state the estimate charges; 1 for parts that grow.
        bytes_estimate: Bytes by the engine's estimate, padding of the group's blocks included.
        bytes_held: Bytes a running request holds.
        bytes_plain: Bytes without engine overhead.
    """

    name: str
    blocks: int
    copies: int
    bytes_estimate: int
    bytes_held: int
    bytes_plain: int


@dataclass(frozen=True, kw_only=True)
class RequestCharge:
    """What one request costs on one GPU of the binding stage."""

    stage: int
    block_bytes: int
    parts: tuple[PartCharge, ...]

    @property
    def bytes_estimate(self) -> int:
        """The engine's estimate: charged blocks times the bytes of a block."""
        return sum(part.bytes_estimate for part in self.parts)

    @property
    def bytes_held(self) -> int:
        """What a running request holds."""
        return sum(part.bytes_held for part in self.parts)

    @property
    def bytes_plain(self) -> int:
        """Entries times bytes."""
        return sum(part.bytes_plain for part in self.parts)


@dataclass
class _Total:
    """A :class:`PartCharge` while the groups that hold the part are added up."""

    blocks: int = 0
    copies: int = 0
    bytes_estimate: int = 0
    bytes_held: int = 0
    bytes_plain: int = 0


def binding_stage(plan: Plan) -> int:
    """The pipeline stage with the fewest blocks; without a budget, the one whose blocks are largest."""
    stages = range(len(plan.stage_block_bytes))
    if plan.stages:
        with_layers = [stage for stage in stages if plan.stage_block_bytes[stage] > 0]
        budgets = dict(zip(with_layers, plan.stages, strict=True))
        return min(with_layers, key=lambda stage: budgets[stage].raw_num_blocks)
    return max(stages, key=lambda stage: plan.stage_block_bytes[stage])


def charge_request(plan: Plan) -> RequestCharge:
    """Charges one request of the plan's ``max_model_len`` tokens, part by part.

    Every group's blocks are divided among its parts by the bytes of their pages; what a block is wider than the group
    goes to the group's largest part, so that the parts add up to the engine's total.
    """
    stage = binding_stage(plan)
    block_bytes = plan.stage_block_bytes[stage]
    totals = {item.part.name: _Total() for item in plan.parts}
    for group, own, charged, held in zip(
        plan.groups, plan.stage_groups[stage], plan.group_blocks, plan.group_blocks_held, strict=True
    ):
        for name, share in _shares(group, own, block_bytes).items():
            total = totals[name]
            total.blocks += charged
            total.copies = max(total.copies, _copies(group, charged))
            total.bytes_estimate += charged * share
            total.bytes_held += held * share
        for name, spec, count in own.counted_parts:
            totals[name].bytes_plain += plain_bytes(spec, plan.max_model_len, plan.context) * count
    parts = tuple(PartCharge(name=name, **vars(total)) for name, total in totals.items())
    return RequestCharge(stage=stage, block_bytes=block_bytes, parts=parts)


def _copies(group: CacheGroup, charged: int) -> int:
    return charged if isinstance(group.specs[0], MambaSpec) else 1


def _shares(group: CacheGroup, own: CacheGroup, block_bytes: int) -> dict[str, int]:
    """Bytes of one block of the pool each part of the group takes; a group absent here still takes whole blocks."""
    shares = dict.fromkeys((own if own.layers else group).part_names, 0)
    for name, spec, count in own.counted_parts:
        shares[name] += spec.page_size_bytes * count
    largest = max(shares, key=lambda name: shares[name])
    shares[largest] += block_bytes - sum(shares.values())
    return shares
