"""Everything generated from the catalogue, in one call: what the plugin hands to MkDocs, and what it keeps."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import kvcore
import site_plugins.charts
import site_plugins.pages
from kvcore.catalog import ModelEntry
from site_plugins.charts.drawn import draw
from site_plugins.charts.figure import Draw
from site_plugins.pages.answers import Ask
from site_plugins.pages.generated import GeneratedFile
from site_plugins.pages.index_page import index_files
from site_plugins.pages.kinds_page import kinds_files
from site_plugins.pages.model_page import model_files
from site_plugins.pages.related import related_section
from site_plugins.pages.store import Store, folder_digest
from site_plugins.pages.summary import Summary, summarise


def catalogue_files(
    entries: Sequence[ModelEntry], ask: Ask, site_url: str, store: Store, drawing: Draw = draw
) -> tuple[tuple[GeneratedFile, ...], tuple[tuple[ModelEntry, Summary], ...]]:
    """Returns the pages and data files of every model, the models index and the overview of kinds; and all summaries.

    Args:
        entries: Models, in the order of the index.
        ask: Answers a request.
        site_url: Where the site will be published; permalinks start with it.
        store: Pages of earlier builds.
        drawing: Draws a chart's specification.
    """
    kept = [(entry, *kept_pages(entry, ask, site_url, store, drawing)) for entry in entries]
    models = tuple((entry, summary) for entry, _, summary in kept)
    files: list[GeneratedFile] = []
    for entry, (first, *others), summary in kept:
        files += [replace(first, content=first.content + related_section(entry, summary, models)), *others]
    return (*files, *index_files(models), *kinds_files(models)), models


def kept_pages(
    entry: ModelEntry, ask: Ask, site_url: str, store: Store, drawing: Draw = draw
) -> tuple[tuple[GeneratedFile, ...], Summary]:
    """Returns one model's page with its data files, and its summary: from an earlier build, or made and kept.

    Args:
        entry: The model.
        ask: Answers a request.
        site_url: Where the site will be published.
        store: Pages of earlier builds.
        drawing: Draws a chart's specification.
    """
    return store.get(
        _made_of(entry, site_url), lambda: (model_files(entry, ask, site_url, drawing), summarise(entry, ask))
    )


def is_kept(entry: ModelEntry, site_url: str, store: Store) -> bool:
    """Tells whether a model's page was made before, of the same things.

    Args:
        entry: The model.
        site_url: Where the site will be published.
        store: Pages of earlier builds.
    """
    return store.has(_made_of(entry, site_url))


def _made_of(entry: ModelEntry, site_url: str) -> str:
    return json.dumps([site_url, asdict(entry)], sort_keys=True)


def page_store(folder: Path) -> Store:
    """Returns the store for pages made by the present sources of kvcore and of the page builders."""
    sources = [Path(module.__path__[0]) for module in (kvcore, site_plugins.pages, site_plugins.charts)]
    gpus = sources[0] / "catalog/data/gpus"
    return Store(folder, folder_digest(sources) + folder_digest([gpus], ("*.json",)))
