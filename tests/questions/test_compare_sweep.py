"""Comparisons mark what differs; sweeps answer at every combination and stay bounded."""

import json

import pytest

from kvcore.errors import InputError
from kvcore.questions import compare, iso_concurrency, longest_context, sweep, to_csv
from kvcore.questions.axes import axis
from kvcore.report.json import to_json
from tests.questions.deployment import BLOCK_BYTES, CONFIG

DEPLOYMENT = {"config": CONFIG, "max_model_len": 1600, "kv_cache_memory_bytes": 1000 * BLOCK_BYTES}


def test_an_fp8_cache_doubles_the_requests_and_is_the_only_input_that_differs() -> None:
    comparison = compare([DEPLOYMENT, {**DEPLOYMENT, "kv_cache_dtype": "fp8"}])
    requests = next(row for row in comparison.figures if row.path == "capacity.concurrency.engine_log")
    assert requests.differs
    assert requests.values == (10.0, 20.0)
    assert [row.label for row in comparison.inputs] == ["kv_cache_dtype"]


def test_a_deployment_the_engine_refuses_keeps_its_place() -> None:
    comparison = compare([DEPLOYMENT, {**DEPLOYMENT, "tensor_parallel_size": 5}])
    assert not comparison.reports[0].errors
    assert comparison.reports[1].errors[0].field == "tensor_parallel_size"


@pytest.mark.parametrize("count", [0, 5])
def test_one_to_four_deployments_are_compared(count: int) -> None:
    with pytest.raises(InputError, match="1 to 4"):
        compare([DEPLOYMENT] * count)


def test_a_sweep_answers_every_combination_with_the_last_axis_fastest() -> None:
    result = sweep(DEPLOYMENT, {"max_model_len": [800, 1600], "kv_cache_dtype": ["auto", "fp8"]})
    assert [point.figures["capacity.concurrency.engine_log"] for point in result.points] == [20.0, 40.0, 10.0, 20.0]


def test_a_refused_point_says_why_and_the_others_stand() -> None:
    result = sweep(DEPLOYMENT, {"tensor_parallel_size": [1, 3]})
    assert result.points[0].fits
    assert "tensor_parallel_size" in result.points[1].error


def test_too_many_points_are_refused() -> None:
    with pytest.raises(InputError, match="4,096"):
        sweep(DEPLOYMENT, {"max_model_len": list(range(1, 5000))})


def test_csv_cells_never_read_as_formulas() -> None:
    lines = to_csv(sweep(DEPLOYMENT, {"kv_cache_dtype": ["=1+1"]})).splitlines()
    assert lines[1].startswith('"\'=1+1"')


def test_the_curve_of_equal_load_is_the_longest_context_for_each_number_of_users() -> None:
    curve = iso_concurrency(DEPLOYMENT, [5, 10])
    assert curve == tuple((number, longest_context(DEPLOYMENT, number).value) for number in (5, 10))


@pytest.mark.parametrize("text", ["1e999", "-inf", "nan", "9" * 400])
def test_a_value_that_is_no_number_of_json_is_refused_at_its_point(text: str) -> None:
    name, values = axis(f"gpu_memory_utilization={text}")
    point = sweep(DEPLOYMENT, {name: values}).points[0]
    assert "gpu_memory_utilization" in point.error
    json.dumps(to_json(point), allow_nan=False)
