"""Importer: from a config.json to an entry of the catalogue, with a list of what only a person can add."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kvcore.catalog.facts import compact, facts
from kvcore.catalog.models import FOLDER
from kvcore.config import read_config
from kvcore.errors import input_error
from kvcore.layout import architecture_of, lay_out

SCHEMA_REFERENCE = "../../model.schema.json"
"""The published JSON Schema, as seen from an entry's file; editors check entries with it."""

REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
REVISION = re.compile(r"[0-9a-f]{40}")

_MISSING = {
    "revision": "the commit of the repository the config was read at, 40 hexadecimal digits",
    "family": "the family pages group the model under, for example Qwen3",
    "released": "the month of release, YYYY-MM, with a source",
    "weights": "params and safetensors_bytes as published, with a source",
    "evidence": "golden points or logs whose figures kvcore equals; status stays derived without",
}


def entry_of(config: Mapping[str, Any], repo: str, revision: str = "") -> dict[str, Any]:
    """Returns the data of an entry.

    Args:
        config: The model's config.json.
        repo: Hugging Face repository, ``organisation/name``.
        revision: Commit the config was read at; empty where not known.

    Raises:
        InputError: ``repo`` or ``revision`` is malformed.
        ConfigError: The config lacks a fact or uses a mechanism kvcore does not know; no entry can be made.
    """
    if not REPOSITORY.fullmatch(repo):
        raise input_error("repo", repo, "a Hugging Face repository is expected", "Write organisation/name.")
    if revision and not REVISION.fullmatch(revision):
        remedy = "Give the full commit of the repository, or leave it out."
        raise input_error("revision", revision, "40 hexadecimal digits are expected", remedy)
    kept = facts(config)
    read = read_config(kept)
    lay_out(read)
    organisation, _, name = repo.partition("/")
    where = f"https://huggingface.co/{repo}/blob/{revision}/config.json" if revision else ""
    return {
        "$schema": SCHEMA_REFERENCE,
        "id": repo,
        "revision": revision,
        "title": name,
        "organisation": organisation,
        "family": "",
        "released": "",
        "config": kept,
        "weights": {},
        "status": "derived",
        "evidence": [],
        "sources": [
            {"what": "config.json", "kind": "cited", "reference": where, "checked": ""},
            {"what": "cache of each layer", "kind": "cited", "reference": architecture_of(read).source, "checked": ""},
        ],
        "notes": [],
    }


def missing(entry: Mapping[str, Any]) -> list[str]:
    """What an entry still lacks, one line each: the key and what belongs there."""
    lines = [f"{key}: {what}" for key, what in _MISSING.items() if not entry.get(key)]
    for number, source in enumerate(entry["sources"]):
        if not source["reference"]:
            lines.append(f"sources.{number}.reference: where {source['what']} was read, a public address")
        if not source["checked"]:
            lines.append(f"sources.{number}.checked: the date someone looked, YYYY-MM-DD")
    return lines


def write_entry(entry: Mapping[str, Any], folder: Path = FOLDER, *, replace: bool = False) -> Path:
    """Writes an entry's file.

    Args:
        entry: The data of the entry.
        folder: Folder of all entries.
        replace: Whether an existing file may be overwritten.

    Raises:
        InputError: The catalogue has this entry already.
    """
    path = folder / f"{entry['id']}.json"
    if path.exists() and not replace:
        raise input_error("repo", entry["id"], f"the catalogue has this entry: {path}", "Edit it, or add --replace.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(compact(entry), "utf-8")
    return path
