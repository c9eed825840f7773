"""``deployments/GPU.json``: every model on one, two, four and eight cards of one kind, with the budget estimated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import kvcore
from kvcore.catalog import ModelEntry
from site_plugins.pages.fleet import OnGpus
from site_plugins.pages.scenarios import INDEX_CONTEXTS
from site_plugins.pages.summary import Summary
from site_plugins.published.places import FORMAT


@dataclass(frozen=True, kw_only=True)
class Place:
    """One model on some cards of the kind, tensor-parallel over all of them.

    Attributes:
        tensor_parallel_size: How many cards.
        fits: Whether the engine starts for requests of the shortest context, or of the model's own limit.
        concurrency: Requests at once for each context of ``max_model_len``; null where there is no such figure.
        reasons: Why there is none, or why the engine stops although it logs one, for each context; null where it starts.
    """

    tensor_parallel_size: int
    fits: bool
    concurrency: tuple[float | None, ...]
    reasons: tuple[str | None, ...]


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """Every model on cards of one kind.

    Attributes:
        format: Version of this form.
        kvcore_version: Version of kvcore that worked the figures out.
        engine: Engine with version whose rules gave the figures; null where no model is listed.
        gpu: The card.
        budget: How the bytes for the cache were found: "estimated".
        max_model_len: The contexts in tokens that each place answers, in this order.
        models: Places of each model, by its catalogue id.
    """

    format: int
    kvcore_version: str
    engine: str | None
    gpu: str
    budget: str
    max_model_len: tuple[int, ...]
    models: Mapping[str, tuple[Place, ...]]


def fleet(models: Sequence[tuple[ModelEntry, Summary]], gpu: str) -> Fleet:
    """Returns the document of one GPU.

    Args:
        models: Models with their summaries.
        gpu: The GPU, as the catalogue names it.
    """
    return Fleet(
        format=FORMAT,
        kvcore_version=kvcore.__version__,
        engine=models[0][1].engine if models else None,
        gpu=gpu,
        budget="estimated",
        max_model_len=INDEX_CONTEXTS,
        models={
            entry.id: tuple(_place(place) for place in summary.on_gpus if place.gpu == gpu) for entry, summary in models
        },
    )


def _place(place: OnGpus) -> Place:
    return Place(
        tensor_parallel_size=place.size,
        fits=place.fits,
        concurrency=tuple(outcome.requests for outcome in place.requests),
        reasons=tuple(outcome.reason or None for outcome in place.requests),
    )
