"""Every entry of the catalogue is well formed, is answered, and names what it rests on."""

import re
from pathlib import Path

import pytest

from kvcore.answer import answer
from kvcore.catalog.models import FOLDER, ModelEntry, load_models
from kvcore.catalog.schema import SCHEMA_FILE, check_file, json_schema
from tests.golden.points import FOLDER as GOLDEN
from tests.golden.points import config_of, points_by_config

GIB = 1 << 30
BUDGET_BYTES = 40 * GIB
FILES_OF_GPU = {"Hopper": "vllm-0.33.0/hopper.jsonl", "Blackwell": "vllm-0.33.0/blackwell.jsonl"}
GOLDEN_POINTS = re.compile(r"vLLM 0\.33\.0 planning code, (?P<gpu>\w+): (?P<count>\d+) points? of (?P<config>\S+)")

every_entry = pytest.mark.parametrize("entry", load_models(), ids=lambda entry: entry.id)
every_proven_entry = pytest.mark.parametrize(
    "entry", [entry for entry in load_models() if entry.status == "engine"], ids=lambda entry: entry.id
)


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*/*.json")), ids=lambda path: path.relative_to(FOLDER).with_suffix("").as_posix()
)
def test_an_entry_has_the_form_of_the_schema_and_a_known_mechanism(path: Path) -> None:
    assert check_file(path) == []


def test_the_published_schema_is_the_one_that_is_checked() -> None:
    assert SCHEMA_FILE.read_text("utf-8") == json_schema()


def test_the_catalogue_holds_what_people_look_for() -> None:
    assert len(load_models()) >= 150


@every_entry
def test_an_entry_is_answered(entry: ModelEntry) -> None:
    report = answer({"model": entry.id, "kv_cache_memory_bytes": BUDGET_BYTES})

    assert report.errors == ()
    assert report.layout is not None


@every_entry
def test_an_entry_answers_as_its_config_does(entry: ModelEntry) -> None:
    fields = {"kv_cache_memory_bytes": BUDGET_BYTES, "tensor_parallel_size": 2}
    by_id, by_config = answer({"model": entry.id, **fields}), answer({"config": entry.config, **fields})

    assert (by_id.plan, by_id.capacity, by_id.request) == (by_config.plan, by_config.capacity, by_config.request)


@every_entry
def test_an_entry_says_where_its_config_and_its_sizes_were_read(entry: ModelEntry) -> None:
    read = [source for source in entry.sources if source.what == "config.json"]

    assert read
    assert all(source.reference.startswith("https://") for source in read)
    assert all(entry.weights.get("source") for size in ("params", "safetensors_bytes") if size in entry.weights)


@every_proven_entry
def test_an_entry_equal_to_engine_code_names_golden_points_of_its_config(entry: ModelEntry) -> None:
    named = [match for match in map(GOLDEN_POINTS.fullmatch, entry.evidence) if match]

    assert named
    for match in named:
        points = points_by_config(FILES_OF_GPU[match["gpu"]])[match["config"]]
        assert len(points) >= int(match["count"])
        assert config_of(match["config"]) == entry.config


def test_only_entries_equal_to_engine_code_name_golden_points() -> None:
    naming = {entry.status for entry in load_models() if any(map(GOLDEN_POINTS.fullmatch, entry.evidence))}

    assert naming == {"engine"}


def test_the_golden_folder_is_the_one_the_entries_name() -> None:
    assert all((GOLDEN / file).is_file() for file in FILES_OF_GPU.values())
