"""SGLang 0.5.23's own pool arithmetic and ``kvcore batch`` give the same figures, to the token.

The figures come from the engine's own resolution and pool code, run without a GPU; see ``tools/golden.py`` for the form
they are kept in.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.golden.points import Point, answer_of, points_by_config

pytestmark = pytest.mark.golden

FILES = ("sglang-0.5.23.jsonl", "sglang-0.5.23-further.jsonl")
RESOLVED_INPUTS = (
    "mem_fraction_static",
    "chunked_prefill_size",
    "page_size",
    "attention_backend",
    "max_running_requests",
)

Report = Mapping[str, Any]


def configs(*, refused: bool) -> list[tuple[str, str]]:
    """Files and configs with points the engine refuses, or with points it answers."""
    return [
        (file, config)
        for file in FILES
        for config, points in points_by_config(file).items()
        if any(bool(point.expected["refused"]) is refused for point in points)
    ]


# Module-wide, so that all tests of a config run in a row: they share its answers.
by_config = pytest.mark.parametrize(("file", "config"), configs(refused=False), scope="module")
by_refused_config = pytest.mark.parametrize(("file", "config"), configs(refused=True), scope="module")


def answered(file: str, config: str, *, refused: bool) -> list[tuple[Point, Report]]:
    """Points the engine refuses, or those it answers, with their reports."""
    points = zip(points_by_config(file)[config], answer_of(file, config), strict=True)
    return [(point, report) for point, report in points if bool(point.expected["refused"]) is refused]


def figures(report: Report) -> Mapping[str, Any]:
    """The figures of a report by SGLang's names; only those it states."""
    if report["errors"]:
        return {"errors": [f"{error['field']} = {error['value']}: {error['rule']}" for error in report["errors"]]}
    capacity = report["capacity"]
    pools = {pool["name"]: pool["entries"] for pool in capacity["pools"]}
    return {
        "max_total_num_tokens": capacity["tokens"]["engine_log"],
        "max_running_requests": capacity["max_running_requests"],
        "mem_fraction_static": report["inputs"]["mem_fraction_static"]["value"],
        "full_max_total_num_tokens": pools.get("full tokens"),
        "swa_max_total_num_tokens": pools.get("window tokens"),
        "max_mamba_cache_size": pools.get("states"),
    }


@by_config
def test_every_figure_equals_the_engine_s(file: str, config: str) -> None:
    differences = []
    for point, report in answered(file, config, refused=False):
        found = figures(report)
        wanted = point.expected["result"]
        if "errors" in found:
            differences.append(f"{point.id}: {found['errors'][0]}")
        else:
            differences += [
                f"{point.id}: {name} is {found[name]} instead of {wanted[name]}"
                for name in found
                if name in wanted and found[name] != wanted[name]
            ]

    assert differences == []


@by_config
def test_every_setting_resolves_as_the_engine_resolves_it(file: str, config: str) -> None:
    differences = []
    for point, report in answered(file, config, refused=False):
        found = {name: report["inputs"].get(name, {}).get("value") for name in RESOLVED_INPUTS}
        differences += [
            f"{point.id}: {name} is {found[name]} instead of {point.resolved[name]}"
            for name in RESOLVED_INPUTS
            if name in point.resolved and found[name] != point.resolved[name]
        ]

    assert differences == []


@by_config
def test_the_bytes_of_one_token_equal_the_engine_s(file: str, config: str) -> None:
    differences = []
    for point, report in answered(file, config, refused=False):
        if point.request.get("pp_size", 1) > 1:
            continue  # the engine's own figure is that of one stage only
        steps = {step["path"]: step["result"] for step in report["derivation"]}
        own = point.expected["configurator"]
        wanted = own.get("cell_size", own.get("bytes_per_full_token"))
        # By request cap the engine's cell still counts the ratio it does not use.
        if own["class"] != "SWARequestCapPoolConfigurator" and steps["plan.cell_bytes"] != wanted:
            differences.append(f"{point.id}: {steps['plan.cell_bytes']} instead of {wanted}")

    assert differences == []


@by_config
def test_the_parts_and_the_tax_add_up(file: str, config: str) -> None:
    wrong = []
    for point, report in answered(file, config, refused=False):
        request, tax = report["request"], report["tax"]
        wrong += [
            f"{point.id}: {total}"
            for total in ("bytes_estimate", "bytes_held", "bytes_plain")
            if sum(part[total] for part in request["parts"]) != request[total]
        ]
        if sum(cause["bytes"] for cause in tax["causes"]) != request["bytes_estimate"] - request["bytes_plain"]:
            wrong.append(f"{point.id}: tax")
        if any(cause["bytes"] < 0 for cause in tax["causes"]):
            wrong.append(f"{point.id}: negative tax")

    assert wrong == []


@by_refused_config
def test_what_the_engine_refuses_is_refused_with_field_rule_and_remedy(file: str, config: str) -> None:
    for point, report in answered(file, config, refused=True):
        assert report["errors"], point.id
        assert all(error["field"] and error["rule"] and error["remedy"] for error in report["errors"])
