"""``models.json``: what the models index shows, for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import kvcore
from kvcore.catalog import ModelEntry
from site_plugins.pages.scenarios import HEADLINE_BUDGET, INDEX_CONTEXTS
from site_plugins.pages.summary import SIZES, Summary
from site_plugins.published.places import FORMAT, REPORT_SCHEMA, model_data

_UNITS = {"bytes": "on one GPU", "requests": "at once, as the engine logs them"}


@dataclass(frozen=True, kw_only=True)
class RequestsAtOnce:
    """Requests of one length that one tensor-parallel size holds in the stated budget.

    Attributes:
        tensor_parallel_size: GPUs that split each layer.
        max_model_len: Tokens of each request.
        concurrency: Requests at once as the engine logs them; null where there is no such figure.
        reason: Why there is none; null where there is one.
    """

    tensor_parallel_size: int
    max_model_len: int
    concurrency: float | None
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class PublishedModel:
    """One model.

    Attributes:
        id: Catalogue id, ORG/NAME as on the Hugging Face Hub.
        title: Its name alone.
        organisation: Who made it.
        family: The family it belongs to.
        kind: Attention kind.
        engine: Engine with version whose rules gave the figures.
        status: How the figures were checked.
        refusal: Why the engine refuses the model; null where it does not.
        max_model_len: Longest request in tokens; null where it is not known.
        bytes_per_token: Bytes per token on one GPU by parallel size (tp1, tp8); null where the engine refuses that size.
        bytes_per_request: Bytes of state per request on one GPU at tp1; null where the engine refuses.
        requests: Requests at once, by parallel size and length.
        page: Address of its page.
        report: Address of the report behind that page.
        layout: Address of its layout alone.
    """

    id: str
    title: str
    organisation: str
    family: str
    kind: str
    engine: str
    status: str
    refusal: str | None
    max_model_len: int | None
    bytes_per_token: Mapping[str, int | None]
    bytes_per_request: int | None
    requests: tuple[RequestsAtOnce, ...]
    page: str
    report: str
    layout: str


@dataclass(frozen=True, kw_only=True)
class PublishedModels:
    """Every model of the catalogue in one line each.

    Attributes:
        format: Version of this form.
        kvcore_version: Version of kvcore that worked the figures out.
        kv_cache_bytes_per_gpu: Budget for the cache on one GPU behind the requests at once.
        units: What the figures count.
        report_schema: Address of the schema of a report.
        models: The models, in the order of the index.
    """

    format: int
    kvcore_version: str
    kv_cache_bytes_per_gpu: int
    units: Mapping[str, str]
    report_schema: str
    models: tuple[PublishedModel, ...]


def models_data(models: Sequence[tuple[ModelEntry, Summary]], site_url: str) -> PublishedModels:
    """Returns the document.

    Args:
        models: Models with their summaries, in the order of the index.
        site_url: Where the site will be published; every address starts with it.
    """
    return PublishedModels(
        format=FORMAT,
        kvcore_version=kvcore.__version__,
        kv_cache_bytes_per_gpu=HEADLINE_BUDGET,
        units=_UNITS,
        report_schema=f"{site_url}{REPORT_SCHEMA}",
        models=tuple(_model(entry, summary, site_url) for entry, summary in models),
    )


def _model(entry: ModelEntry, summary: Summary, site_url: str) -> PublishedModel:
    data = f"{site_url}{model_data(entry.id)}"
    deployments = [(size, length) for size in SIZES for length in INDEX_CONTEXTS]
    return PublishedModel(
        id=entry.id,
        title=entry.title,
        organisation=entry.organisation,
        family=entry.family,
        kind=summary.kind,
        engine=summary.engine,
        status=entry.status,
        refusal=summary.refusal or None,
        max_model_len=summary.limit,
        bytes_per_token={f"tp{size}": value for size, value in zip(SIZES, summary.per_token, strict=True)},
        bytes_per_request=summary.per_request,
        requests=tuple(
            RequestsAtOnce(
                tensor_parallel_size=size,
                max_model_len=length,
                concurrency=cell.value,
                reason=cell.reason or None,
            )
            for (size, length), cell in zip(deployments, summary.requests, strict=True)
        ),
        page=f"{site_url}models/{entry.id}/",
        report=f"{data}/report.json",
        layout=f"{data}/layout.json",
    )
