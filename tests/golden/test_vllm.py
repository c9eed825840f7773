"""vLLM 0.33.0's own planning code and ``kvcore batch`` give the same figures, to the token.

The figures come from the engine's real model classes (built without weights) and its real planning; see
``tools/golden.py`` for the form they are kept in.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.golden.points import Point, answer_of, points_by_config

pytestmark = pytest.mark.golden

FILES = ("vllm-0.33.0/hopper.jsonl", "vllm-0.33.0/blackwell.jsonl", "vllm-0.33.0/further.jsonl")
REFUSED = ("vllm-0.33.0/refused.jsonl", "vllm-0.33.0/further-refused.jsonl")
RESOLVED_INPUTS = (
    "dtype",
    "max_num_batched_tokens",
    "max_num_seqs",
    "async_scheduling",
    "max_in_flight_tokens",
    "enable_prefix_caching",
)

Report = Mapping[str, Any]


def by_config(*files: str) -> pytest.MarkDecorator:
    """One test per config of the files, named after both; all tests of a config in a row, since they share its answers."""
    cases = [
        pytest.param(file, config, id=f"{file[12:-6]}-{config}") for file in files for config in points_by_config(file)
    ]
    return pytest.mark.parametrize(("file", "config"), cases, scope="module")


def answered(file: str, config: str) -> list[tuple[Point, Report]]:
    """Points with their reports."""
    return list(zip(points_by_config(file)[config], answer_of(file, config), strict=True))


def figures(report: Report) -> Mapping[str, Any]:
    """The figures of a report by the names they have in the golden files; groups in a stable order."""
    if report["errors"]:
        return {"errors": [f"{error['field']} = {error['value']}: {error['rule']}" for error in report["errors"]]}
    capacity, plan = report["capacity"], report["plan"]
    return {
        "fits": capacity["fits"],
        "num_gpu_blocks": capacity["num_gpu_blocks"],
        "tokens": capacity["tokens"]["engine_log"],
        "concurrency": capacity["concurrency"]["engine_log"],
        "block_size": plan["block_size"],
        "max_model_len": report["request"]["max_model_len"],
        "max_model_len_that_fits": capacity["max_model_len_that_fits"],
        "groups": sorted(
            [group["layers"], group["block_size"], group["blocks_per_request"]] for group in plan["groups"]
        ),
        "stage_page_size_bytes": list(plan["stage_page_size_bytes"]),
    }


def compared(point: Point) -> Mapping[str, Any]:
    """The engine's figures of a point that kvcore states too."""
    expected = {**point.expected}
    expected.pop("kv_cache_layout")
    if "groups" in expected:
        expected["groups"] = sorted(expected["groups"])
    # A model without any cache has no block size, no group and no length of its own.
    if expected["fits"] and not expected["groups"]:
        expected = {name: expected[name] for name in ("fits", "tokens", "concurrency", "max_model_len", "groups")}
    return expected


@by_config(*FILES)
def test_every_figure_equals_the_engine_s(file: str, config: str) -> None:
    differences = []
    for point, report in answered(file, config):
        found = figures(report)
        if "errors" in found:
            differences.append(f"{point.id}: {found['errors'][0]}")
        else:
            differences += [
                f"{point.id}: {name} is {found[name]} instead of {wanted}"
                for name, wanted in compared(point).items()
                if found[name] != wanted
            ]

    assert differences == []


@by_config(*FILES)
def test_every_setting_resolves_as_the_engine_resolves_it(file: str, config: str) -> None:
    differences = []
    for point, report in answered(file, config):
        found = {name: report["inputs"].get(name, {}).get("value") for name in RESOLVED_INPUTS}
        differences += [
            f"{point.id}: {name} is {found[name]} instead of {point.resolved[name]}"
            for name in RESOLVED_INPUTS
            if found[name] != point.resolved[name]
        ]

    assert differences == []


@by_config(*FILES)
def test_the_parts_and_the_tax_add_up(file: str, config: str) -> None:
    wrong = []
    for point, report in answered(file, config):
        request, tax = report["request"], report["tax"]
        if not request or not request["parts"]:
            continue
        wrong += [
            f"{point.id}: {total}"
            for total in ("bytes_estimate", "bytes_held", "bytes_plain")
            if sum(part[total] for part in request["parts"]) != request[total]
        ]
        if sum(cause["bytes"] for cause in tax["causes"]) != tax["bytes"]:
            wrong.append(f"{point.id}: tax")
        if any(cause["bytes"] < 0 for cause in tax["causes"]):
            wrong.append(f"{point.id}: negative tax")

    assert wrong == []


@by_config(*REFUSED)
def test_what_the_engine_refuses_is_refused(file: str, config: str) -> None:
    """Points that only the machine they were asked on could not answer may be answered, but not with a crash."""
    answered_all_the_same = [
        f"{point.id}: {point.reason}"
        for point, report in answered(file, config)
        if point.cause == "engine" and not report["errors"]
    ]

    assert answered_all_the_same == []


@by_config(*REFUSED)
def test_a_refusal_names_field_rule_and_remedy(file: str, config: str) -> None:
    vague = [
        (point.id, error)
        for point, report in answered(file, config)
        for error in report["errors"]
        if not (error["field"] and error["rule"] and error["remedy"])
    ]

    assert vague == []
