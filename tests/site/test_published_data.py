"""The published data files, read against the schemas published beside them."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

pytestmark = pytest.mark.site

DATA = "data/v1"
SAMPLE = 25
"""Of the models' reports one in so many is read: the same code writes them all."""


def validator(site: Path, schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((site / DATA / schema).read_text("utf-8")))


def invalid(validator: Draft202012Validator, files: list[Path]) -> list[Path]:
    return [file for file in files if not validator.is_valid(json.loads(file.read_text("utf-8")))]


def test_the_overviews_are_valid_by_their_schemas(site: Path) -> None:
    cards = sorted((site / DATA / "deployments").glob("*.json"))
    assert len(cards) == 5
    assert invalid(validator(site, "models.schema.json"), [site / DATA / "models.json"]) == []
    assert invalid(validator(site, "deployments.schema.json"), cards) == []
    assert invalid(validator(site, "changes.schema.json"), [site / DATA / "changes.json"]) == []


def test_the_reports_of_models_are_valid_by_their_schema(site: Path) -> None:
    reports = sorted((site / DATA / "models").rglob("report.json"))[::SAMPLE]
    assert reports
    assert invalid(validator(site, "report.schema.json"), reports) == []
