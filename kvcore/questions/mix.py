"""A mix of requests: how many are held at once when lengths differ, not only at the longest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kvcore.errors import input_error
from kvcore.questions.forward import Fields, ask

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
        usable_blocks: Blocks of the pool without the null block.
        blocks: Blocks a request of each length holds at its end, in the order of the mix.
        average: Usable blocks divided by the mean number of blocks of a request.
        percentile_tokens: Length that 95 % of requests do not exceed.
        percentile: Requests at once if all were of that length.
        longest: Requests at once if all were as long as the longest of the mix.
    """

    usable_blocks: int
    blocks: tuple[int, ...]
    average: Fraction
    percentile_tokens: int
    percentile: Fraction
    longest: Fraction


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
        raise input_error(
            "kv_cache_memory_bytes", None, "a mix needs a budget under which the engine starts", "Give one."
        )
    limit = report.request.max_model_len
    longest = max(mix, key=lambda length: length.tokens)
    if longest.tokens > limit:
        rule = f"a request of the mix is longer than max_model_len ({limit:,} tokens)"
        raise input_error("lengths", longest.tokens, rule, "Raise max_model_len or shorten the request.")
    blocks = {length.tokens: _held_blocks(fields, length.tokens) for length in mix}
    usable = capacity.num_gpu_blocks - 1
    total = sum((length.weight for length in mix), Fraction(0))
    mean = sum((length.weight * blocks[length.tokens] for length in mix), Fraction(0)) / total
    percentile = _percentile(mix, total)
    return MixAnswer(
        usable_blocks=usable,
        blocks=tuple(blocks[length.tokens] for length in mix),
        average=usable / mean,
        percentile_tokens=percentile,
        percentile=Fraction(usable, blocks[percentile]),
        longest=Fraction(usable, blocks[longest.tokens]),
    )


def _held_blocks(fields: Fields, tokens: int) -> int:
    report = ask(fields, ("plan", "request"), max_model_len=tokens)
    if report.request is None or report.plan is None or not report.plan.page_size_bytes:
        raise input_error("model", fields.get("model"), "this model keeps no cache", "Choose another model.")
    return report.request.bytes_held // report.plan.page_size_bytes


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
