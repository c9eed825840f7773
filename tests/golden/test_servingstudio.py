"""Capacities other people logged or pinned, on forks and releases whose rules are not vLLM 0.33.0's.

Each is answered from a layout given by hand (``servingstudio/layouts``); where the model is known, the figure of vLLM
0.33.0 for the same memory stands beside it, so that a change of either is seen. Figures come from the public repository
named in each case.
"""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.arithmetic import GIB
from kvcore.report.report import Report
from tests.golden.points import config_of

FOLDER = Path(__file__).parent / "servingstudio"
CASES: list[Mapping[str, Any]] = [json.loads(line) for line in (FOLDER / "cases.jsonl").read_text("utf-8").splitlines()]
ENGINE_CASES = [case for case in CASES if "vllm_0_33_0" in case]


def layout_of(name: str) -> Mapping[str, Any]:
    layout: Mapping[str, Any] = json.loads((FOLDER / "layouts" / f"{name}.json").read_text("utf-8"))
    return layout


def by_part(report: Any, value: Callable[[Any], int]) -> Mapping[str, int]:
    return {part.name: value(part) for part in report.layout.parts}


READERS: Mapping[str, Callable[[Any], Any]] = {
    "num_gpu_blocks": lambda report: report.capacity.num_gpu_blocks,
    "tokens": lambda report: report.capacity.tokens.engine_log,
    "usable_tokens": lambda report: (report.capacity.num_gpu_blocks - 1) * report.plan.block_size,
    "concurrency": lambda report: report.capacity.concurrency.engine_log,
    "whole_requests": lambda report: math.floor(report.capacity.concurrency.engine_log),
    "fits": lambda report: report.capacity.fits,
    "needed_gib": lambda report: round(report.capacity.needed_bytes / GIB, 2),
    "set_aside_blocks": lambda report: report.capacity.set_aside_blocks,
    "charged_blocks": lambda report: sum(group.blocks_per_request for group in report.plan.groups),
    "held_blocks": lambda report: report.request.bytes_held // report.plan.page_size_bytes,
    "block_size": lambda report: report.plan.block_size,
    "padding_percent": lambda report: report.plan.padding_percent,
    "page_size_bytes": lambda report: report.plan.page_size_bytes,
    "stage_page_size_bytes": lambda report: list(report.plan.stage_page_size_bytes),
    "stage_layers": lambda report: list(report.plan.stage_layers),
    "bytes_per_token": lambda report: report.layout.bytes_per_token_partition,
    "part_bytes": lambda report: by_part(report, lambda part: part.layers * part.entry_bytes_partition),
    "part_pages_bytes": lambda report: by_part(report, lambda part: part.layers * part.engine["page_size_bytes"]),
    "layer_page_size_bytes": lambda report: by_part(report, lambda part: part.engine["page_size_bytes"]),
}


def check(report: Report, expected: Mapping[str, Any]) -> None:
    """The report has the figures, to as many decimals as they were recorded with."""
    assert not report.errors, report.errors
    found = {name: READERS[name](report) for name in expected}
    for name, value in expected.items():
        if isinstance(value, dict):
            found[name] = {key: found[name][key] for key in value}
        if isinstance(value, float):
            found[name] = round(found[name], len(str(value).partition(".")[2]))
    assert found == expected


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_layout_by_hand_gives_the_figure_recorded(case: Mapping[str, Any]) -> None:
    check(answer({"layout": layout_of(case["layout"]), **case["request"]}), case["expected"])


@pytest.mark.parametrize("case", ENGINE_CASES, ids=[case["case"] for case in ENGINE_CASES])
def test_the_figure_of_vllm_0_33_0_stands_beside_it(case: Mapping[str, Any]) -> None:
    beside = case["vllm_0_33_0"]
    check(answer({"config": config_of(beside["config"]), **beside["request"]}), beside["expected"])
