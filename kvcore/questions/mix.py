"""A mix of requests: how many are held at once when lengths differ, not only at the longest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kvcore.errors import input_error
from kvcore.questions.forward import ask
from kvcore.questions.names import SGLANG, Fields, names_of
from kvcore.report.report import Capacity, Report

MOST_LENGTHS = 256
_PERCENTILE = Fraction(95, 100)


@dataclass(frozen=True, kw_only=True)
class Length:
    """One kind of request: prompt and output in tokens, and how often it comes."""

    prompt_tokens: int
    output_tokens: int
    weight: Fraction

    @property
    def tokens(self) -> int:
        """Tokens the request has at its end, when it holds most."""
        return self.prompt_tokens + self.output_tokens


@dataclass(frozen=True, kw_only=True)
class MixAnswer:
    """Requests held at once under a mix.

    Attributes:
        usable_blocks: Blocks of the pool without the null block; of SGLang's pools what the scarcest has.
        blocks: Blocks a request of each length holds at its end, in the order of the mix.
        average: Usable blocks divided by the mean number of blocks of a request.
        percentile_tokens: Length that 95 % of requests do not exceed.
        percentile: Requests at once if all were of that length.
        longest: Requests at once if all were as long as the longest of the mix.
        unit: What ``usable_blocks`` and ``blocks`` count: blocks, or the name of SGLang's scarcest pool.
    """

    usable_blocks: int
    blocks: tuple[int, ...]
    average: Fraction
    percentile_tokens: int
    percentile: Fraction
    longest: Fraction
    unit: str = "blocks"


@dataclass(frozen=True, kw_only=True)
class _Pool:
    """What a pool has, what a request of each length takes of it, and in which unit."""

    usable: int
    needs: Mapping[int, int]
    unit: str = "blocks"

    def mean(self, mix: Sequence[Length]) -> Fraction:
        """What a request of the mix takes on average."""
        total = sum((length.weight for length in mix), Fraction(0))
        return sum((length.weight * self.needs[length.tokens] for length in mix), Fraction(0)) / total


def request_mix(fields: Fields, lengths: Sequence[Mapping[str, Any]]) -> MixAnswer:
    """Works out how many requests of a mix are held at once.

    Every request is counted with the blocks it holds at its end (prompt and output), by the engine's own arithmetic.

    Args:
        fields: The deployment.
        lengths: Objects with ``prompt_tokens``, ``output_tokens`` and ``weight``.

    Raises:
        InputError: A length is not positive, the mix is empty or longer than the deployment's context, or no budget is
            known.
    """
    mix = [_length(number, item) for number, item in enumerate(_bounded(lengths))]
    report = ask(fields, ("capacity", "request"))
    capacity = report.capacity
    if capacity is None or capacity.num_gpu_blocks is None or report.request is None:
        names = names_of(fields)
        rule, remedy = "a mix needs a budget under which the engine starts", "Name the GPU, or give the budget."
        raise input_error(names.cache_bytes or names.share, None, rule, remedy)
    names, limit = names_of(fields), report.request.max_model_len
    longest = max(mix, key=lambda length: length.tokens).tokens
    if longest > limit:
        rule = f"a request of the mix is longer than {names.context} ({limit:,} tokens)"
        raise input_error("lengths", longest, rule, f"Raise {names.context} or shorten the request.")
    pools = _sglang_pools(fields, mix, capacity) if names is SGLANG else (_block_pool(fields, mix, capacity),)
    percentile = _percentile(mix, sum((length.weight for length in mix), Fraction(0)))
    scarce = min(pools, key=lambda pool: pool.usable / pool.mean(mix))
    return MixAnswer(
        usable_blocks=scarce.usable,
        blocks=tuple(scarce.needs[length.tokens] for length in mix),
        average=scarce.usable / scarce.mean(mix),
        percentile_tokens=percentile,
        percentile=min(Fraction(pool.usable, pool.needs[percentile]) for pool in pools),
        longest=min(Fraction(pool.usable, pool.needs[longest]) for pool in pools),
        unit=scarce.unit,
    )


def _block_pool(fields: Fields, mix: Sequence[Length], capacity: Capacity) -> _Pool:
    """The one pool of blocks vLLM has, without its null block."""
    needs = {length.tokens: _held_blocks(fields, length.tokens) for length in mix}
    return _Pool(usable=(capacity.num_gpu_blocks or 0) - 1, needs=needs)


def _held_blocks(fields: Fields, tokens: int) -> int:
    report = ask(fields, ("plan", "request"), max_model_len=tokens)
    if report.request is None or report.plan is None or not report.plan.page_size_bytes:
        raise input_error("model", fields.get("model"), "this model keeps no cache", "Choose another model.")
    return report.request.bytes_held // report.plan.page_size_bytes


def _sglang_pools(fields: Fields, mix: Sequence[Length], capacity: Capacity) -> tuple[_Pool, ...]:
    """SGLang's pools of tokens and of states, each with needs of its own, and the requests its scheduler runs."""
    shorter = {length.tokens: ask(fields, context_length=length.tokens) for length in mix}
    pools = [
        _Pool(
            usable=pool.entries,
            needs={tokens: _taken(report, pool.name) for tokens, report in shorter.items()},
            unit=pool.name,
        )
        for pool in capacity.pools
        if all(_taken(report, pool.name) for report in shorter.values())
    ]
    running = capacity.max_running_requests or 0
    return (*pools, _Pool(usable=running, needs=dict.fromkeys(shorter, 1), unit="running requests"))


def _taken(report: Report, pool: str) -> int:
    """Tokens or slots one request takes of a pool; 0 where it takes none of its own."""
    for group in report.plan.groups if report.plan is not None else ():
        if group.kind == pool:
            return group.blocks_per_request * group.block_size
    return 0


def _percentile(mix: Sequence[Length], total: Fraction) -> int:
    reached = Fraction(0)
    ordered = sorted(mix, key=lambda length: length.tokens)
    for length in ordered:
        reached += length.weight
        if reached >= _PERCENTILE * total:
            return length.tokens
    return ordered[-1].tokens


def _bounded(lengths: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    if not isinstance(lengths, list | tuple) or not 1 <= len(lengths) <= MOST_LENGTHS:
        rule = f"a list of 1 to {MOST_LENGTHS} lengths is expected"
        remedy = 'For example [{"prompt_tokens": 2000, "output_tokens": 500, "weight": 1}].'
        raise input_error("lengths", lengths, rule, remedy)
    return lengths


def _length(number: int, item: Mapping[str, Any]) -> Length:
    if not isinstance(item, Mapping):
        raise input_error(f"lengths.{number}", item, "an object is expected", "Give prompt_tokens and output_tokens.")
    prompt, output, weight = item.get("prompt_tokens"), item.get("output_tokens", 0), item.get("weight", 1)
    for key, value, least in (("prompt_tokens", prompt, 1), ("output_tokens", output, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise input_error(
                f"lengths.{number}.{key}", value, f"a whole number of at least {least} is expected", "Give tokens."
            )
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < 1e12:
        raise input_error(
            f"lengths.{number}.weight", weight, "a positive number is expected", "Give how often it comes."
        )
    return Length(prompt_tokens=int(prompt or 0), output_tokens=int(output), weight=Fraction(weight))
