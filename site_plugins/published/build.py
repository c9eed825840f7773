"""Every published data file in one call."""

import json
from collections.abc import Sequence
from pathlib import Path

from kvcore.catalog import ModelEntry
from kvcore.report.json import to_json
from site_plugins.pages.generated import GeneratedFile, json_text
from site_plugins.pages.scenarios import INDEX_GPUS
from site_plugins.pages.summary import Summary
from site_plugins.published.changes import changes_page, feed, load_changes
from site_plugins.published.fleet import fleet
from site_plugins.published.llms import llms_text
from site_plugins.published.models import models_data
from site_plugins.published.places import FEED, LLMS, MODELS, fleet_data
from site_plugins.published.schemas import schemas


def published_files(
    models: Sequence[tuple[ModelEntry, Summary]], changes: Path, site_url: str, site_name: str
) -> tuple[GeneratedFile, ...]:
    """Returns models.json, the models on each card, the schemas, the feed with its page, and llms.txt.

    Args:
        models: Models with their summaries, in the order of the index.
        changes: The data file of changes.
        site_url: Where the site will be published.
        site_name: Its name.
    """
    root = f"{site_url.rstrip('/')}/"
    known = load_changes(changes)
    return (
        GeneratedFile(MODELS, json_text(to_json(models_data(models, root)))),
        *(GeneratedFile(fleet_data(gpu), _compact(to_json(fleet(models, gpu)))) for gpu in INDEX_GPUS),
        *(GeneratedFile(place, json_text(schema)) for place, schema in schemas(root).items()),
        GeneratedFile(FEED, feed(known, root, site_name)),
        GeneratedFile("changes.md", changes_page(known, frozenset(entry.id for entry, _ in models))),
        GeneratedFile(LLMS, llms_text(models, root, site_name)),
    )


def _compact(value: object) -> str:
    """JSON that pages fetch, without the spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
