"""The form of a catalogue entry, checked at build time. Needs pydantic; nothing that answers a request imports it."""

import json
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kvcore.catalog.facts import facts
from kvcore.catalog.importer import REPOSITORY, REVISION
from kvcore.catalog.models import FOLDER
from kvcore.config import read_config
from kvcore.errors import KvcoreError
from kvcore.layout import lay_out

SCHEMA_FILE = FOLDER.parent / "model.schema.json"
"""The published JSON Schema of an entry."""

_PLACE_OF_CONFIG = "config.json"

Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SourceForm(_Strict):
    """Evidence for facts of the entry."""

    what: Text = Field(description="What the source shows.")
    kind: Literal["logged", "pinned", "derived", "assumed", "cited"] = Field(description="Kind of evidence.")
    reference: Text = Field(description="Where to look: a public address, a repository with commit and path, a symbol.")
    checked: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="Day someone looked, YYYY-MM-DD.")

    @model_validator(mode="after")
    def _checked_on_a_day_that_has_been(self) -> "SourceForm":
        if date.fromisoformat(self.checked) > date.today():  # noqa: DTZ011 - days, not moments
            message = f"checked = {self.checked}: the day lies in the future"
            raise ValueError(message)
        return self


class WeightsForm(_Strict):
    """Published sizes; empty where none is known."""

    params: int | None = Field(default=None, gt=0, description="Parameters of the checkpoint, as published.")
    safetensors_bytes: int | None = Field(default=None, gt=0, description="Bytes of all weight files, as published.")
    source: str | None = Field(default=None, min_length=1, description="Where the sizes were read.")

    @model_validator(mode="after")
    def _sized_with_a_source(self) -> "WeightsForm":
        if (self.params or self.safetensors_bytes) and not self.source:
            message = "source is missing: every published size names where it was read"
            raise ValueError(message)
        return self


class EntryForm(_Strict):
    """One model of the catalogue."""

    schema_: str | None = Field(default=None, alias="$schema")
    id: str = Field(pattern=f"^{REPOSITORY.pattern}$", description="Hugging Face repository, organisation/name.")
    revision: str = Field(pattern=f"^({REVISION.pattern})?$", description="Commit the config was read at, or empty.")
    title: Text = Field(description="Name shown to people.")
    organisation: Text = Field(description="First half of the id.")
    family: Text = Field(description="Family that pages group the model under.")
    released: str = Field(pattern=r"^(\d{4}-\d{2}(-\d{2})?)?$", description="Month or day of release, or empty.")
    config: dict[str, Any] = Field(description="Facts of config.json under Hugging Face's names.")
    weights: WeightsForm
    status: Literal["engine", "log", "derived"] = Field(description="Strongest evidence for the layout.")
    evidence: list[Text] = Field(description="Golden points or logs whose figures kvcore equals.")
    sources: list[SourceForm] = Field(min_length=1, description="Where the facts come from.")
    notes: list[Text] = Field(description="What to know.")

    @model_validator(mode="after")
    def _means_something(self) -> "EntryForm":
        for problem in self._problems():
            raise ValueError(problem)
        return self

    def _problems(self) -> list[str]:
        problems = []
        if self.organisation != self.id.partition("/")[0]:
            problems.append(f"organisation = {self.organisation}: the first half of id is expected")
        if self.status != "derived" and not self.evidence:
            problems.append(f"status = {self.status}: evidence is empty; name the points or logs, or use derived")
        if not any(source.what == _PLACE_OF_CONFIG for source in self.sources):
            problems.append(f"sources: none of them shows {_PLACE_OF_CONFIG}")
        if facts(self.config) != self.config:
            problems.append("config: holds keys that no engine reads; import it again")
        try:
            lay_out(read_config(self.config))
        except KvcoreError as error:
            problems.append(f"config.{error}")
        return problems


def check_file(path: Path, folder: Path = FOLDER) -> list[str]:
    """Returns what is wrong with an entry's file, each line naming file and field; empty when nothing is."""
    place = path.relative_to(folder).as_posix()
    try:
        entry = EntryForm.model_validate_json(path.read_text("utf-8"))
    except ValidationError as error:
        return [f"{place}: {_field(item['loc'])}{item['msg']}" for item in error.errors(include_url=False)]
    if place != f"{entry.id}.json":
        return [f"{place}: id = {entry.id}: the file's place is expected to be {entry.id}.json"]
    return []


def json_schema() -> str:
    """The text of the published JSON Schema."""
    return json.dumps(EntryForm.model_json_schema(by_alias=True), indent=2) + "\n"


def _field(location: tuple[int | str, ...]) -> str:
    return "".join(f"{'.' if number else ''}{part}" for number, part in enumerate(location)) + ": " if location else ""
