import io
import json
from pathlib import Path

import pytest

from kvcore.cli import main
from tests.reconcile.log_lines import vllm_log

REQUEST = {"model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "H100", "max_model_len": 4096}
FLAGS = ("--model", REQUEST["model"], "--gpu", "H100")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text(vllm_log(REQUEST))
    return path


def test_a_log_is_set_beside_the_computed_figures(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reconcile", str(log), *FLAGS]) == 0
    assert "Every figure is equal to what kvcore computes." in capsys.readouterr().out


def test_json_carries_the_verdict_and_the_request(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["reconcile", str(log), *FLAGS, "--json"])
    answered = json.loads(capsys.readouterr().out)

    assert answered["verdict"] == "equal"
    assert answered["request"]["max_model_len"] == 4096


def test_a_log_is_read_from_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(vllm_log(REQUEST).encode())))

    assert main(["reconcile", "-", *FLAGS]) == 0


def test_a_reported_figure_needs_no_log(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    words = [
        "reconcile",
        str(REQUEST["model"]),
        "--reported-tokens",
        "163840",
        "--available-kv-cache-gib",
        "20",
        "--gpu",
        "H100",
    ]

    assert main(words) == 0
    assert "Every figure is equal" in capsys.readouterr().out


def test_a_finished_run_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run_meta.json"
    run.write_text(json.dumps({"workers": [{"worker_id": 3, "kv_pools": [{"group_id": 0, "capacity_tokens": 777}]}]}))

    assert main(["reconcile", str(run)]) == 0
    assert "777 tokens" in capsys.readouterr().out


def test_a_missing_file_and_a_run_without_pools_are_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "kv_cache.json"
    run.write_text("{}")

    assert main(["reconcile", str(tmp_path / "none.log")]) == 2
    assert main(["reconcile", str(run)]) == 2
    assert "kv_pools" in capsys.readouterr().err


def test_a_text_without_any_known_line_is_bad_input_and_says_what_to_look_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.log"
    path.write_text("hello\n")

    assert main(["reconcile", str(path)]) == 2
    assert "grep -E" in capsys.readouterr().out
