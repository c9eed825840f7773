import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from kvcore.answer import answer
from kvcore.report import to_json
from kvcore.report.report import Report
from kvcore.request_fields import REQUEST_FIELDS
from site_plugins.pages.scenarios import INDEX_GPUS
from site_plugins.pages.summary import summarise
from site_plugins.published.build import published_files
from site_plugins.published.changes import Change, changes_page, feed, load_changes
from site_plugins.published.fleet import fleet
from site_plugins.published.llms import llms_text
from site_plugins.published.models import models_data
from site_plugins.published.places import REPORT_SCHEMA, REQUEST_SCHEMA
from site_plugins.published.schemas import schemas
from tests.site_plugins.test_pages_model import ENTRY, ask, many

ROOT = Path(__file__).resolve().parents[2]
SITE_URL = "https://atlas.example/"
ATOM = "{http://www.w3.org/2005/Atom}"
MODELS = [(ENTRY, summarise(ENTRY, ask))]
MOVED = Change(
    id="moved", date="2026-12-01", title="A figure < moved", text="The rule was read anew.", models=(ENTRY.id,),
    figure="layout.bytes_per_token", before=1024, after=2048,
)  # fmt: skip
FILES = published_files([(ENTRY, summarise(ENTRY, ask, many))], ROOT / "docs/data/v1/changes.json", SITE_URL, "Atlas")
PUBLISHED = {file.src_uri: json.loads(file.content) for file in FILES if file.src_uri.endswith(".json")}


def validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(PUBLISHED[schema])


def without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key != name}


def test_models_json_lists_every_model_with_the_address_of_its_report() -> None:
    (model,) = to_json(models_data(MODELS, SITE_URL))["models"]
    assert model["id"] == ENTRY.id
    assert model["report"] == f"{SITE_URL}data/v1/models/{ENTRY.id}/report.json"
    assert set(model["bytes_per_token"]) == {"tp1", "tp8"}


def test_the_request_schema_has_exactly_the_fields_of_a_request() -> None:
    schema = schemas(SITE_URL)[REQUEST_SCHEMA]
    assert set(schema["properties"]) == {field.name for field in REQUEST_FIELDS}
    assert schema["properties"]["tensor_parallel_size"]["minimum"] == 1
    assert "default" not in schema["properties"]["tensor_parallel_size"]


def test_the_report_schema_has_exactly_the_keys_of_a_report() -> None:
    report: dict[str, Any] = to_json(
        answer({"model": "meta-llama/Llama-3.1-8B-Instruct", "available_kv_cache_gib": 40})
    )
    assert set(schemas(SITE_URL)[REPORT_SCHEMA]["properties"]) == set(report)


def test_every_schema_is_one_that_validators_take() -> None:
    for schema in schemas(SITE_URL).values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("place", "schema"),
    [
        ("data/v1/models.json", "data/v1/models.schema.json"),
        *((f"data/v1/deployments/{gpu}.json", "data/v1/deployments.schema.json") for gpu in INDEX_GPUS),
    ],
)
def test_a_published_file_is_valid_by_its_published_schema(place: str, schema: str) -> None:
    check, value = validator(schema), PUBLISHED[place]
    assert check.is_valid(value)
    assert not check.is_valid(without(value, "kvcore_version"))


def test_the_list_of_changes_is_valid_by_its_published_schema() -> None:
    changes = json.loads((ROOT / "docs/data/v1/changes.json").read_text("utf-8"))
    check = validator("data/v1/changes.schema.json")
    assert check.is_valid([*changes, to_json(MOVED)])
    assert not check.is_valid([without(change, "title") for change in changes])


@pytest.mark.parametrize("budget", [{"available_kv_cache_gib": 40}, {"gpu": "H100"}, {"max_model_len": 10**9}])
def test_a_request_and_its_report_are_valid_by_their_published_schemas(budget: dict[str, Any]) -> None:
    request = {"model": "meta-llama/Llama-3.1-8B-Instruct", **budget}
    report = to_json(answer(request))
    assert validator("data/v1/request.schema.json").is_valid(request)
    assert validator("data/v1/report.schema.json").is_valid(report)
    assert not validator("data/v1/report.schema.json").is_valid(without(report, "inputs"))


def test_a_report_in_json_reads_back_as_the_report_it_was() -> None:
    report = answer({"model": "meta-llama/Llama-3.1-8B-Instruct", "available_kv_cache_gib": 40})
    assert TypeAdapter(Report).validate_python(to_json(report)) == report


def test_the_feed_has_an_entry_for_each_change_with_before_and_after() -> None:
    root = ET.fromstring(feed([MOVED], SITE_URL, "Atlas"))  # noqa: S314 - our own text
    (entry,) = root.findall(f"{ATOM}entry")
    assert entry.findtext(f"{ATOM}title") == "A figure < moved"
    assert "Layout.bytes_per_token: 1,024 before, 2,048 now." in (entry.findtext(f"{ATOM}content") or "")
    assert root.findtext(f"{ATOM}updated") == "2026-12-01T00:00:00Z"


def test_requests_at_once_are_said_with_two_decimals_as_the_engine_logs_them() -> None:
    refused = replace(MOVED, figure="requests of 32,768 tokens, tp8", before=202.26666666666668, after="refused")
    page = changes_page([refused], frozenset())
    assert "Requests of 32,768 tokens, tp8: 202.27 before, refused now." in page


def test_figures_that_moved_together_stand_under_one_heading_and_keep_their_anchors() -> None:
    figures = {"bytes per token, tp1": "dense-8b-tp1", "bytes per token, tp8": "dense-8b-tp8"}
    together = [
        replace(MOVED, id=anchor, title=f"dense-8b: {figure}", figure=figure) for figure, anchor in figures.items()
    ]
    page = changes_page([*together, replace(MOVED, text="For another reason.")], frozenset())
    assert page.count("\n## ") == len({"together", "for another reason"})
    assert "## dense-8b {#" in page
    assert page.count("The rule was read anew.") == 1
    for figure, anchor in figures.items():
        assert f'<li id="{anchor}">{figure.capitalize()}: 1,024 before, 2,048 now.</li>' in page


def test_the_page_of_changes_links_the_models_that_have_a_page() -> None:
    assert f"](models/{ENTRY.id}.md)" in changes_page([MOVED], frozenset({ENTRY.id}))
    assert f"](models/{ENTRY.id}.md)" not in changes_page([MOVED], frozenset())


def test_two_changes_of_one_id_are_refused(tmp_path: Path) -> None:
    item = {"id": "same", "date": "2026-12-01", "title": "t", "text": "t"}
    (tmp_path / "changes.json").write_text(json.dumps([item, item]))
    with pytest.raises(ValueError, match="same id"):
        load_changes(tmp_path / "changes.json")


def test_a_figure_without_its_value_before_is_refused(tmp_path: Path) -> None:
    item = {"id": "one", "date": "2026-12-01", "title": "t", "text": "t", "figure": "tax.bytes", "after": 1}
    (tmp_path / "changes.json").write_text(json.dumps([item]))
    with pytest.raises(ValueError, match="before and after"):
        load_changes(tmp_path / "changes.json")


def test_a_cards_file_has_every_number_of_cards_with_requests_or_reasons() -> None:
    places = to_json(fleet([(ENTRY, summarise(ENTRY, ask, many))], "H200"))["models"][ENTRY.id]
    assert [place["tensor_parallel_size"] for place in places] == [1, 2, 4, 8]
    assert {reason for place in places for reason in place["reasons"]} == {"longer than the model's limit"}
    assert all(place["fits"] for place in places)


def test_llms_txt_names_every_model_and_the_data() -> None:
    text = llms_text(MODELS, SITE_URL, "Atlas")
    assert "requests of 32k and 128k at once on 1, 2, 4 and 8 of them" in text
    assert f"{SITE_URL}models/{ENTRY.id}/" in text
    assert f"{SITE_URL}data/v1/models.json" in text


def test_the_projects_own_changes_can_be_published() -> None:
    assert {file.src_uri for file in FILES} == {
        "data/v1/models.json",
        *(f"data/v1/deployments/{gpu}.json" for gpu in INDEX_GPUS),
        "data/v1/request.schema.json",
        "data/v1/report.schema.json",
        "data/v1/models.schema.json",
        "data/v1/deployments.schema.json",
        "data/v1/changes.schema.json",
        "changes.xml",
        "changes.md",
        "llms.txt",
    }
