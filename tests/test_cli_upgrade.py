"""``kvcore upgrade``: what a reader sees of two releases."""

import json

import pytest

from kvcore.cli import main

MODEL = "google/gemma-3-27b-it"
BUDGET = ["--kv-cache-memory-bytes", str(40 << 30), "--max-model-len", "65536", "--tensor-parallel-size", "2"]


def test_the_changes_that_matter_are_listed_with_figures_before_and_after(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upgrade", MODEL, "--from", "0.19.1", "--to", "0.33.0", *BUDGET]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "vLLM 0.19.1 → 0.33.0"
    assert any(
        line.startswith("1. Windows and chunks keep the tokens of every batch in flight: no → yes") for line in lines
    )
    assert any(line.startswith("2. GPU KV cache size, as printed") for line in lines)
    assert not any("max_model_len -1" in line for line in lines)


def test_every_switch_is_listed_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    main(["upgrade", MODEL, "--from", "0.13.0", "--all", *BUDGET])

    assert "max_model_len -1 fits the length to the memory: no → yes" in capsys.readouterr().out


def test_the_upgrade_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["upgrade", MODEL, "--from", "0.19.1", "--to", "0.33.0", "--json", *BUDGET])

    found = json.loads(capsys.readouterr().out)
    effective = [change["field"] for change in found["changes"] if change["has_effect"]]
    assert effective == ["in_flight_window", "printed_tokens"]
    assert found["changes"][-1]["after"] == found["after"]


def test_a_release_that_refuses_the_model_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    main(["upgrade", "Qwen/Qwen3.5-27B", "--from", "0.16.0", "--to", "0.19.1", *BUDGET])

    assert "vLLM 0.16.0 refuses this deployment" in capsys.readouterr().out


def test_releases_between_which_nothing_changed_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    main(["upgrade", MODEL, "--from", "0.30.0", "--to", "0.31.0", *BUDGET])

    assert "No switch between these releases" in capsys.readouterr().out


def test_an_upgrade_to_a_release_that_does_not_start_exits_with_1() -> None:
    tight = ["--kv-cache-memory-bytes", "1000000", "--max-model-len", "8192"]

    assert main(["upgrade", MODEL, "--from", "0.19.1", *tight]) == 1


def test_comparing_two_releases_shows_the_switches_between_them(capsys: pytest.CaptureFixture[str]) -> None:
    main([
        "compare", "Qwen/Qwen3.5-27B", "--engine-version", "0.19.1", "--max-model-len", "32768",
        "--available-kv-cache-gib", "40", "--with", '{"engine_version": "0.25.1"}',
    ])  # fmt: skip
    shown = capsys.readouterr().out

    assert "* engine_version" in shown
    assert "vLLM 0.19.1 → 0.25.1" in shown
    assert "`get_kv_cache_capacity`" in shown


def test_comparing_anything_else_shows_no_switches(capsys: pytest.CaptureFixture[str]) -> None:
    main([
        "compare", "Qwen/Qwen3.5-27B", "--available-kv-cache-gib", "40", "--engine-version", "0.19.1",
        "--with", '{"engine_version": "0.25.1", "kv_cache_dtype": "fp8"}',
    ])  # fmt: skip

    assert "→" not in capsys.readouterr().out
