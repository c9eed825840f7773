"""Models by id: the facts kvcore reads from a checkpoint's config, and the evidence for them."""

import difflib
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kvcore.errors import input_error

# Beside this module rather than through importlib.resources, whose import alone costs the browser more than all the data.
FOLDER = Path(__file__).parent / "data" / "models"
"""Where entries live: one file ``<organisation>/<name>.json`` each."""

_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")
"""An id that is also a safe file name below the folder."""


@dataclass(frozen=True, kw_only=True)
class ModelSource:
    """Evidence for facts of an entry: what it shows, its kind, a reference, and the date someone checked it."""

    what: str
    kind: str
    reference: str
    checked: str


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """One model of the catalogue.

    Attributes:
        id: Hugging Face repository, ``organisation/name``.
        revision: Commit the config was read at; empty where not known.
        title: Name shown to people.
        organisation: First half of the id.
        family: Family the model belongs to, for grouping pages.
        released: Month or day of release, newest first in lists; empty where not known.
        config: Facts of config.json that kvcore reads.
        weights: Published sizes: ``params``, ``safetensors_bytes``, each with its source; may be empty.
        status: Strongest evidence: ``engine`` (equal to engine code), ``log`` (equal to a log) or ``derived``.
        evidence: Names of the golden vectors or logs that prove the layout.
        sources: Where the facts come from.
        notes: What to know.
    """

    id: str
    revision: str
    title: str
    organisation: str
    family: str
    config: Mapping[str, Any] = field(repr=False)
    released: str = ""
    weights: Mapping[str, Any] = field(default_factory=dict, repr=False)
    status: str = "derived"
    evidence: tuple[str, ...] = ()
    sources: tuple[ModelSource, ...] = ()
    notes: tuple[str, ...] = ()


@functools.cache
def load_models() -> tuple[ModelEntry, ...]:
    """All models of the catalogue, by id."""
    return tuple(_load(_files()[key]) for key in sorted(_files()))


@functools.cache
def _files() -> Mapping[str, Path]:
    """The file of every model, by its id in lower case; files are not opened."""
    return {
        f"{folder.name}/{file.stem}".lower(): file
        for folder in FOLDER.iterdir()
        if folder.is_dir()
        for file in folder.iterdir()
        if file.suffix == ".json"
    }


@functools.cache
def model_keys() -> tuple[str, ...]:
    """The ids of all models in lower case, without opening a file."""
    return tuple(_files())


def _load(file: Path) -> ModelEntry:
    return model_entry(json.loads(file.read_text("utf-8")))


def model_entry(data: Mapping[str, Any]) -> ModelEntry:
    """Builds an entry from the data of its file."""
    values = {key: value for key, value in data.items() if not key.startswith("$")}
    values["sources"] = tuple(ModelSource(**source) for source in values.get("sources", ()))
    for key in ("evidence", "notes"):
        values[key] = tuple(values.get(key, ()))
    values.setdefault("organisation", str(values["id"]).partition("/")[0])
    return ModelEntry(**values)


@functools.lru_cache(maxsize=256)
def find_model(model_id: str) -> ModelEntry:
    """Returns the entry of an id, upper and lower case alike.

    Raises:
        InputError: The catalogue has no such model.
    """
    exact = FOLDER / f"{model_id}.json"
    # Listing the catalogue costs the browser more than answering; only a misspelt id needs the list.
    if _ID.fullmatch(model_id) and exact.is_file():
        return _load(exact)
    files = _files()
    file = files.get(model_id.lower())
    if file is not None:
        return _load(file)
    near = difflib.get_close_matches(model_id.lower(), files, n=1)
    hint = f"Did you mean {_load(files[near[0]]).id}?" if near else "`kvcore models` lists the catalogue."
    rule = "the catalogue has no model of this id"
    raise input_error("model", model_id, rule, f"{hint} For any other model give its config.json as config.")
