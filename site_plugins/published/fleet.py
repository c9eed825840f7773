"""``deployments/GPU.json``: every model on one, two, four and eight cards of one kind, with the budget estimated."""

from collections.abc import Sequence
from typing import Any

import kvcore
from kvcore.catalog import ModelEntry
from site_plugins.pages.fleet import OnGpus
from site_plugins.pages.scenarios import INDEX_CONTEXTS
from site_plugins.pages.summary import Summary
from site_plugins.published.places import FORMAT


def fleet(models: Sequence[tuple[ModelEntry, Summary]], gpu: str) -> dict[str, Any]:
    """Returns the document of one GPU.

    Args:
        models: Models with their summaries.
        gpu: The GPU, as the catalogue names it.
    """
    return {
        "format": FORMAT,
        "kvcore_version": kvcore.__version__,
        "engine": models[0][1].engine if models else None,
        "gpu": gpu,
        "budget": "estimated",
        "max_model_len": INDEX_CONTEXTS,
        "models": {
            entry.id: [_place(place) for place in summary.on_gpus if place.gpu == gpu] for entry, summary in models
        },
    }


def _place(place: OnGpus) -> dict[str, Any]:
    return {
        "tensor_parallel_size": place.size,
        "fits": place.fits,
        "concurrency": [outcome.requests for outcome in place.requests],
        "reasons": [outcome.reason or None for outcome in place.requests],
    }
