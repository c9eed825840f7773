import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kvcore.reconcile.patterns import MARKS, PATTERNS
from kvcore.reconcile.reader import CHUNK, read_log, read_log_text
from kvcore.reconcile.readings import READINGS

LINES: tuple[Mapping[str, Any], ...] = tuple(
    json.loads(line) for line in (Path(__file__).parent / "lines.jsonl").read_text("utf-8").splitlines()
)


@pytest.mark.parametrize("case", LINES, ids=lambda case: case["what"])
def test_every_format_of_line_gives_its_figures(case: Mapping[str, Any]) -> None:
    record = read_log_text(case["line"])

    assert {figure.name: float(figure.value) for figure in record.figures} == case["figures"]


@pytest.mark.parametrize("case", LINES, ids=lambda case: case["what"])
def test_colours_prefixes_and_collectors_make_no_difference(case: Mapping[str, Any]) -> None:
    plain = read_log_text(case["line"]).figures
    dressed = (
        f"\x1b[32m{case['line']}\x1b[0m",
        f"2026-05-05T12:00:00.000000000Z stderr F {case['line']}",
        f"May 05 12:00:00 host vllm[77]: {case['line']}",
        f"vllm-1  | {case['line']}\r",
        f"[pod/llm-0/server] {case['line']}",
        f"\x1b[36m(RayWorkerWrapper pid=812, ip=10.0.0.7)\x1b[0m {case['line']}",
        json.dumps({"log": case["line"] + "\n", "stream": "stderr"}),
        json.dumps({"MESSAGE": case["line"], "_HOSTNAME": "host"}),
    )

    for text in dressed:
        assert read_log_text(text).figures == plain


def test_every_kind_of_line_has_a_reading() -> None:
    assert {pattern.kind for pattern in PATTERNS} <= set(READINGS)


def test_every_line_of_a_pattern_is_found_among_others() -> None:
    marks = tuple(mark.decode() for mark in MARKS)

    assert [case["what"] for case in LINES if not any(mark in case["line"] for mark in marks)] == []


def test_figures_carry_the_line_they_stand_on_across_chunks() -> None:
    filler = "INFO: 127.0.0.1:5 - POST /v1/completions 200 OK\n"
    before = CHUNK // len(filler) * 2
    log = filler * before + "GPU KV cache size: 1,024 tokens\n" + filler

    record = read_log(io.BytesIO(log.encode()))

    assert [(figure.name, figure.line) for figure in record.figures] == [("gpu_kv_cache_tokens", before + 1)]
    assert record.lines == before + 2


def test_a_line_without_end_is_passed_over_in_bounded_memory() -> None:
    record = read_log(io.BytesIO(b"x" * (3 * CHUNK) + b"\nAvailable KV cache memory: 1.50 GiB"))

    assert [figure.printed for figure in record.figures] == ["1.50"]


def test_the_worker_of_a_line_is_kept() -> None:
    record = read_log_text("(Worker_DP0_TP1_EP1 pid=8) INFO [gpu_worker.py:1] Available KV cache memory: 7.25 GiB")

    assert record.figures[0].rank == "DP0 TP1 EP1"


def test_digits_say_how_exact_a_figure_is() -> None:
    low, high = read_log_text("Available KV cache memory: 7.25 GiB").figures[0].interval

    assert (float(low), float(high)) == (7.245, 7.255)


def test_arguments_are_read_even_where_the_line_is_cut_off() -> None:
    whole = "non-default args: {'model': 'org/name', 'max_model_len': 4096, 'enable_prefix_caching': False, 'api_key': ['x']}"
    record, cut = read_log_text(whole), read_log_text(whole[:75])

    assert record.flags["max_model_len"] == 4096
    assert record.flags["enable_prefix_caching"] is False
    assert record.flags_complete
    assert cut.flags == {"model": "org/name", "max_model_len": 4096}
    assert not cut.flags_complete


def test_arguments_that_follow_a_template_with_braces_are_read() -> None:
    line = """non-default args: {'chat_template': "{% if a['b'] == 'c' %}{{ '}' }}{% endif %}", 'max_num_seqs': 8}"""

    assert read_log_text(line).flags["max_num_seqs"] == 8


def test_the_resolved_configuration_fills_in_what_the_arguments_leave_out() -> None:
    log = (
        "non-default args: {'max_model_len': 2048}\n"
        "Initializing a V1 LLM engine (v0.11.2) with config: model='org/name', dtype=torch.bfloat16, max_seq_len=2048, "
        "tensor_parallel_size=2, kv_cache_dtype=fp8, enable_prefix_caching=True\n"
    )
    record = read_log_text(log)

    assert record.engine_version == "0.11.2"
    assert record.flags["tensor_parallel_size"] == 2
    assert record.flags["kv_cache_dtype"] == "fp8"


def test_the_first_start_that_reached_a_capacity_is_the_one_answered_for() -> None:
    start = "non-default args: {'max_model_len': 4096}\n"
    failed = (
        start
        + "Free memory on device (13.58/15.99 GiB) on startup is less than desired GPU memory utilization (0.85, 13.59 GiB)\n"
    )
    log = failed + start + "Available KV cache memory: 7.57 GiB\nGPU KV cache size: 18,400 tokens\n"
    tokens = read_log_text(log).first("gpu_kv_cache_tokens")

    assert tokens is not None
    assert (tokens.value, tokens.run) == (18400, 2)


@pytest.mark.parametrize(
    "hostile", ["", "\x00" * 100, "{" * 5000, "non-default args: {" + "{'a': " * 5000, "\udcff GiB", "KV self size"]
)
def test_no_text_makes_the_reader_fail(hostile: str) -> None:
    assert read_log_text(hostile).figures == ()
