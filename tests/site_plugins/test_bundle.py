"""The bundle: made once per set of inputs, the same every time, and complete enough to answer anything."""

import gzip
import hashlib
import io
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import pytest

from kvcore.browser import answer_form, answer_json
from kvcore.catalog import load_models
from site_plugins.bundle.bundle import Bundle, build_bundle
from site_plugins.bundle.exercise import exercise_requests
from site_plugins.bundle.imports import standard_library_imports
from site_plugins.bundle.inputs import Inputs, MissingInputError
from site_plugins.bundle.node import run_script
from tests.golden.points import config_of, points_by_config

ROOT = Path(__file__).resolve().parent.parent.parent
INPUTS = Inputs(project=ROOT, pyodide=ROOT / "node_modules" / "pyodide", scripts=ROOT / "docs" / "assets" / "kv")
CACHE = ROOT / ".cache" / "kv_bundle"
MODELS = tuple(entry.id for entry in load_models())


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return build_bundle(INPUTS, MODELS, CACHE)


def served(bundle: Bundle, suffix: str) -> Path:
    (found,) = [path for name, path in bundle.files if name.endswith(suffix)]
    return found


def answers_under_node(bundle: Bundle, folder: Path, door: str, texts: Sequence[str]) -> list[dict[str, Any]]:
    for name, path in bundle.files:
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, target)
    job = {
        "runtime": str(folder / bundle.runtime),
        "packages": str(folder / bundle.packages),
        "door": door,
        "texts": list(texts),
    }
    return [json.loads(line) for line in run_script(ROOT / "tools" / "answer.mjs", job).splitlines()]


@pytest.mark.slow
def test_the_trimmed_library_answers_every_field_every_model_and_every_kind_of_bad_input(
    bundle: Bundle, tmp_path: Path
) -> None:
    texts = exercise_requests(MODELS)
    answered = answers_under_node(bundle, tmp_path, "answer_json", texts)
    for text, line in zip(texts, answered, strict=True):
        assert line == {"answer": answer_json(text)}, text[:200]


@pytest.mark.slow
def test_the_trimmed_library_answers_texts_of_a_form(bundle: Bundle, tmp_path: Path) -> None:
    texts = [
        json.dumps(fields)
        for fields in (
            {"model": MODELS[0], "available_kv_cache_gib": "20"},
            {"config": "[" * 5000, "speculative_config": "[" * 5000},
            {"config": "{", "max_model_len": "many", "tensor_parallel_size": "1e999"},
            {"model": "no/such-model"},
        )
    ]
    answered = answers_under_node(bundle, tmp_path, "answer_form", texts)
    assert answered == [{"answer": answer_form(text)} for text in texts]


@pytest.mark.slow
@pytest.mark.golden
def test_pyodide_answers_a_golden_point_of_every_config_as_this_python_does(bundle: Bundle, tmp_path: Path) -> None:
    texts = [
        json.dumps({"config": config_of(config), **points[0].request})
        for config, points in points_by_config("vllm-0.33.0/hopper.jsonl").items()
    ]
    answered = answers_under_node(bundle, tmp_path, "answer_json", texts)
    assert answered == [{"answer": answer_json(text)} for text in texts]


@pytest.mark.slow
def test_two_builds_of_the_same_inputs_are_the_same_bytes(bundle: Bundle, tmp_path: Path) -> None:
    again = build_bundle(INPUTS, MODELS, tmp_path)
    assert {name: path.read_bytes() for name, path in again.files} == {
        name: path.read_bytes() for name, path in bundle.files
    }


def test_a_second_build_takes_what_the_first_left(bundle: Bundle) -> None:
    begun = time.process_time()
    again = build_bundle(INPUTS, MODELS, CACHE)
    assert again == bundle
    assert time.process_time() - begun < 1.0


def test_the_lock_names_the_wheel_and_its_hash(bundle: Bundle) -> None:
    lock = json.loads(served(bundle, "pyodide-lock.json").read_text())
    wheel = gzip.decompress(served(bundle, ".whl.gz").read_bytes())
    assert lock["packages"]["kvcore"]["sha256"] == hashlib.sha256(wheel).hexdigest()
    assert served(bundle, ".whl.gz").name == lock["packages"]["kvcore"]["file_name"] + ".gz"


def test_the_wheel_holds_byte_code_and_data_but_no_source_and_no_command_line(bundle: Bundle) -> None:
    with ZipFile(io.BytesIO(gzip.decompress(served(bundle, ".whl.gz").read_bytes()))) as wheel:
        names = wheel.namelist()
        assert {info.compress_type for info in wheel.infolist()} == {ZIP_STORED}
    assert "kvcore/browser.pyc" in names
    assert any(name.startswith("kvcore/catalog/data/models/") for name in names)
    assert not [name for name in names if name.endswith(".py") or "subcommands" in name or "site_plugins" in name]


def test_every_folder_is_named_by_its_content(bundle: Bundle) -> None:
    assert len({bundle.runtime, bundle.packages, bundle.app}) == 3
    assert {name.split("/")[0] for name, _ in bundle.files} == {bundle.runtime, bundle.packages, bundle.app}


def test_a_missing_runtime_says_how_to_get_it(tmp_path: Path) -> None:
    inputs = Inputs(project=ROOT, pyodide=tmp_path, scripts=INPUTS.scripts)
    with pytest.raises(MissingInputError, match="npm ci"):
        build_bundle(inputs, MODELS, tmp_path)


def test_modules_imported_inside_functions_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import json\ndef f():\n    from decimal import Decimal\n    import kvcore\n")
    (tmp_path / "cli.py").write_text("import argparse\n")
    assert standard_library_imports(tmp_path) == ("decimal", "json")
