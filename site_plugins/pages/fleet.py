"""A model on every card and number of cards of the index: the requests at once, and the fewest cards it starts on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kvcore.questions.many import Outcome
from kvcore.questions.names import Fields
from site_plugins.pages.scenarios import INDEX_CONTEXTS, INDEX_GPUS, INDEX_SIZES

Many = Callable[[str, Iterable[Fields]], tuple[Outcome, ...]]
"""Answers many deployments of one model at once."""

TOO_LONG = "longer than the model's limit"


@dataclass(frozen=True, kw_only=True)
class OnGpus:
    """One model on some cards of one kind, tensor-parallel over all of them, the budget estimated.

    Attributes:
        gpu: The card.
        size: How many.
        fits: Whether the engine starts, for requests of the shortest context of the index or of the model's own limit.
        requests: Requests at once for each context of the index.
        reason: Why the engine does not start; empty where it does.
    """

    gpu: str
    size: int
    fits: bool
    requests: tuple[Outcome, ...]
    reason: str = ""


def on_every_gpu(model: str, limit: int | None, many: Many) -> tuple[OnGpus, ...]:
    """Returns a model on every card and number of cards of the index.

    Args:
        model: Catalogue id.
        limit: Longest request in tokens that the engine allows; None where it refuses the model.
        many: Answers deployments.
    """
    places = [(gpu, size) for gpu in INDEX_GPUS for size in INDEX_SIZES]
    lengths = tuple(length for length in INDEX_CONTEXTS if limit is None or length <= limit)
    shortest = lengths[0] if lengths else limit or INDEX_CONTEXTS[0]
    known = dict(zip(places, many(model, (_fields(*place, shortest) for place in places)), strict=True))
    starting = [place for place in places if known[place].requests is not None]
    # A longer request never fits where a shorter one does not, so only the others are asked.
    longer = [(place, length) for length in lengths[1:] for place in starting]
    found = dict(zip(longer, many(model, (_fields(*place, length) for place, length in longer)), strict=True))

    def outcome(place: tuple[str, int], length: int) -> Outcome:
        if length not in lengths:
            return Outcome(requests=None, reason=TOO_LONG)
        return found.get((place, length), known[place])

    return tuple(
        OnGpus(
            gpu=gpu,
            size=size,
            fits=known[gpu, size].starts,
            requests=tuple(outcome((gpu, size), length) for length in INDEX_CONTEXTS),
            reason=known[gpu, size].reason,
        )
        for gpu, size in places
    )


def fewest(places: Iterable[OnGpus], gpu: str) -> int | None:
    """Returns the fewest cards of a kind on which a model starts; None where it starts on none of the numbers asked."""
    return next((place.size for place in places if place.gpu == gpu and place.fits), None)


def _fields(gpu: str, size: int, length: int) -> Fields:
    return {"gpu": gpu, "tensor_parallel_size": size, "max_model_len": length}
