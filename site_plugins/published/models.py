"""``models.json``: what the models index shows, for programs."""

from collections.abc import Sequence
from typing import Any

import kvcore
from kvcore.catalog import ModelEntry
from site_plugins.pages.scenarios import HEADLINE_BUDGET, INDEX_CONTEXTS
from site_plugins.pages.summary import SIZES, Summary
from site_plugins.published.places import FORMAT, REPORT_SCHEMA, model_data


def models_data(models: Sequence[tuple[ModelEntry, Summary]], site_url: str) -> dict[str, Any]:
    """Returns the document.

    Args:
        models: Models with their summaries, in the order of the index.
        site_url: Where the site will be published; every address starts with it.
    """
    return {
        "format": FORMAT,
        "kvcore_version": kvcore.__version__,
        "kv_cache_bytes_per_gpu": HEADLINE_BUDGET,
        "units": {"bytes": "on one GPU", "requests": "at once, as the engine logs them"},
        "report_schema": f"{site_url}{REPORT_SCHEMA}",
        "models": [_model(entry, summary, site_url) for entry, summary in models],
    }


def _model(entry: ModelEntry, summary: Summary, site_url: str) -> dict[str, Any]:
    data = f"{site_url}{model_data(entry.id)}"
    deployments = [(size, length) for size in SIZES for length in INDEX_CONTEXTS]
    return {
        "id": entry.id,
        "title": entry.title,
        "organisation": entry.organisation,
        "family": entry.family,
        "kind": summary.kind,
        "engine": summary.engine,
        "status": entry.status,
        "refusal": summary.refusal or None,
        "max_model_len": summary.limit,
        "bytes_per_token": {f"tp{size}": value for size, value in zip(SIZES, summary.per_token, strict=True)},
        "bytes_per_request": summary.per_request,
        "requests": [
            {
                "tensor_parallel_size": size,
                "max_model_len": length,
                "concurrency": cell.value,
                "reason": cell.reason or None,
            }
            for (size, length), cell in zip(deployments, summary.requests, strict=True)
        ],
        "page": f"{site_url}models/{entry.id}/",
        "report": f"{data}/report.json",
        "layout": f"{data}/layout.json",
    }
