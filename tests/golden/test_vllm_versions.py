"""Nine older releases' own planning code and ``kvcore batch`` give the same figures, to the token.

The figures come from each release's real model classes and planning; see ``tools/golden.py`` for the form they are kept in.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.golden.points import FOLDER, Point, points_by_config
from tests.golden.test_vllm import answered, figures

pytestmark = pytest.mark.golden

RELEASES = tuple(sorted(path.name for path in (FOLDER / "vllm-versions").glob("*.jsonl")))
RESOLVED_INPUTS = (
    "dtype",
    "max_num_batched_tokens",
    "max_num_seqs",
    "async_scheduling",
    "enable_prefix_caching",
    "mamba_cache_mode",
)

# Module-wide, so that all tests of a config run in a row: they share its answers.
by_release_and_config = pytest.mark.parametrize(
    ("file", "config"),
    [
        pytest.param(f"vllm-versions/{release}", config, id=f"{release[:-6]}-{config}")
        for release in RELEASES
        for config in points_by_config(f"vllm-versions/{release}")
    ],
    scope="module",
)


def compared(point: Point) -> Mapping[str, Any]:
    """The engine's figures of a point that kvcore states too; a release that refuses may print no length that fits."""
    expected = {name: value for name, value in point.expected.items() if value is not None}
    if "groups" in expected:
        expected["groups"] = sorted(expected["groups"])
    return expected


def test_nine_older_releases_are_held_against() -> None:
    assert len(RELEASES) == 9


@by_release_and_config
def test_every_figure_equals_that_of_the_release(file: str, config: str) -> None:
    differences = []
    for point, report in answered(file, config):
        if "refused" in point.expected:
            if not report["errors"]:
                differences.append(f"{point.id}: not refused, {point.expected['refused']}")
            continue
        found = figures(report)
        if "errors" in found:
            differences.append(f"{point.id}: {found['errors'][0]}")
            continue
        differences += [
            f"{point.id}: {name} is {found[name]} instead of {wanted}"
            for name, wanted in compared(point).items()
            if found[name] != wanted
        ]

    assert differences == []


@by_release_and_config
def test_every_setting_resolves_as_in_the_release(file: str, config: str) -> None:
    differences = []
    for point, report in answered(file, config):
        if report["errors"]:
            continue
        inputs = report["inputs"]
        differences += [
            f"{point.id}: {name} is {inputs[name]['value']} instead of {point.resolved[name]}"
            for name in RESOLVED_INPUTS
            if point.resolved.get(name) is not None and name in inputs and inputs[name]["value"] != point.resolved[name]
        ]

    assert differences == []


@by_release_and_config
def test_the_tax_adds_up_in_every_release(file: str, config: str) -> None:
    wrong = []
    for point, report in answered(file, config):
        request = report["request"]
        if report["errors"] or not request["parts"]:
            continue
        tax = report["tax"]
        over_plain = request["bytes_estimate"] - request["bytes_plain"]
        if tax["bytes"] != over_plain + report["plan"]["page_size_bytes"]:
            wrong.append(f"{point.id}: the tax is {tax['bytes']}")
        if any(cause["bytes"] < 0 for cause in tax["causes"]):
            wrong.append(f"{point.id}: a cause is negative")

    assert wrong == []
