"""Charts of the further questions show the figures their tables show."""

from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.questions import compare, sweep
from kvcore.questions.charts import comparison_chart, deployment_names, memory_of
from kvcore.questions.compare import comparison_csv
from kvcore.questions.curves import curves_csv, iso_curves
from kvcore.questions.pages import comparison_page, iso_page, sweep_page
from kvcore.report.document import Chart, Document, Table
from tests.questions.deployment import BLOCK_BYTES, CONFIG

DEPLOYMENT = {"config": CONFIG, "max_model_len": 1600, "kv_cache_memory_bytes": 1000 * BLOCK_BYTES}
"""A request of 1,600 tokens takes 100 blocks of 16 tokens, so ten fit into 1,000."""


def chart_of(page: Document) -> Any:
    (chart,) = [block for block in page.blocks if isinstance(block, Chart)]
    return chart.spec


def test_one_swept_number_is_a_line() -> None:
    spec = chart_of(sweep_page(sweep(DEPLOYMENT, {"max_model_len": [1600, 800]})))
    assert [(item["across"], item["up"]) for item in spec["data"]["values"]] == [(800, 20.0), (1600, 10.0)]


def test_one_swept_word_is_a_bar_each() -> None:
    spec = chart_of(sweep_page(sweep(DEPLOYMENT, {"kv_cache_dtype": ["auto", "fp8"]})))
    assert [(item["name"], item["value"]) for item in spec["data"]["values"]] == [
        ("kv_cache_dtype auto", 10.0),
        ("kv_cache_dtype fp8", 20.0),
    ]


def test_two_swept_inputs_are_a_heat_map_with_each_number_in_its_cell() -> None:
    spec = chart_of(sweep_page(sweep(DEPLOYMENT, {"kv_cache_dtype": ["auto", "fp8"], "max_model_len": [1600, 800]})))
    assert [(item["row"], item["column"], item["text"]) for item in spec["data"]["values"]] == [
        ("auto", "800", "20.00"),
        ("auto", "1,600", "10.00"),
        ("fp8", "800", "40.00"),
        ("fp8", "1,600", "20.00"),
    ]
    assert spec["layer"][2]["mark"]["type"] == "text"


def test_a_point_that_does_not_fit_says_so_in_its_cell() -> None:
    spec = chart_of(sweep_page(sweep(DEPLOYMENT, {"kv_cache_dtype": ["auto", "fp8"], "max_model_len": [800, 17_600]})))
    texts = {(item["row"], item["column"]): item["text"] for item in spec["data"]["values"]}
    # 17,600 tokens are 1,100 blocks: more than all of them, and half as many bytes as fp8.
    assert texts["auto", "17,600"] == "no fit"
    assert texts["fp8", "17,600"] == "1.82"


def test_a_sweep_without_numbers_is_its_table_alone() -> None:
    page = sweep_page(sweep(DEPLOYMENT, {"tensor_parallel_size": [3, 5]}))
    assert not any(isinstance(block, Chart) for block in page.blocks)


def test_curves_of_equal_load_are_one_line_for_each_value_of_an_input() -> None:
    curves = iso_curves(DEPLOYMENT, [10, 20], "kv_cache_dtype", ["auto", "fp8"])
    assert curves["kv_cache_dtype auto"] == ((10, 1600), (20, 800))
    spec = chart_of(iso_page(curves))
    assert [(item["line"], item["across"], item["up"]) for item in spec["data"]["values"]] == [
        ("kv_cache_dtype auto", 800, 20),
        ("kv_cache_dtype auto", 1600, 10),
        ("kv_cache_dtype fp8", 1600, 20),
        ("kv_cache_dtype fp8", curves["kv_cache_dtype fp8"][0][1], 10),
    ]
    assert curves_csv(curves).splitlines()[1:] == ["10,1600,3200", "20,800,1600"]


def test_a_comparison_draws_requests_at_once_under_what_differs() -> None:
    comparison = compare([DEPLOYMENT, {**DEPLOYMENT, "kv_cache_dtype": "fp8"}])
    assert deployment_names(comparison) == ("(1) kv_cache_dtype auto", "(2) kv_cache_dtype fp8")
    spec = chart_of(comparison_page(comparison))
    assert [(item["name"], item["text"]) for item in spec["data"]["values"]] == [
        ("(1) kv_cache_dtype auto", "10.00"),
        ("(2) kv_cache_dtype fp8", "20.00"),
    ]


def test_engines_are_compared_by_what_they_hold_and_told_apart_by_name() -> None:
    model = {"model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "H100"}
    requests = ({**model, "max_model_len": 8192}, {**model, "engine": "sglang", "context_length": 4096})
    comparison = compare(requests)
    assert deployment_names(comparison) == ("(1) vllm, kv_cache_dtype auto, max_model_len 8,192",
                                            "(2) sglang, kv_cache_dtype bfloat16, max_model_len 4,096")  # fmt: skip
    lengths = next(row for row in comparison.inputs if row.path == "inputs.max_model_len")
    assert (lengths.label, lengths.values) == ("max_model_len, context_length", (8192, 4096))
    assert not any(row.path == "inputs.tensor_parallel_size" for row in comparison.inputs)
    held = [report.capacity.concurrency.held for report in comparison.reports if report.capacity]
    chart = comparison_chart(comparison, Table("", (), ()))
    assert chart is not None
    drawn: Any = chart.spec["data"]
    assert [item["text"] for item in drawn["values"]] == [f"{value:,.2f}" for value in held if value is not None]


def test_a_deployment_that_is_refused_is_still_called_by_its_model() -> None:
    names = deployment_names(compare([DEPLOYMENT, {"model": "no/such-model"}]))
    assert names[1].startswith("(2) no/such-model")


def test_a_comparison_as_csv_marks_what_differs() -> None:
    lines = comparison_csv(compare([DEPLOYMENT, {**DEPLOYMENT, "kv_cache_dtype": "fp8"}])).splitlines()
    assert lines[0] == "path,unit,deployment_1,deployment_2,differs"
    assert '"capacity.concurrency.engine_log","requests",10.0,20.0,true' in lines
    assert '"request.max_model_len","tokens",1600,1600,false' in lines


def test_a_given_budget_has_no_picture_of_the_cards_memory() -> None:
    (report,) = compare([DEPLOYMENT]).reports
    assert memory_of(report) is None


def test_more_values_than_can_be_drawn_are_their_table_alone() -> None:
    words = sweep_page(sweep(DEPLOYMENT, {"dtype": [f"word {number}" for number in range(41)]}))
    cells = sweep_page(sweep(DEPLOYMENT, {"block_size": [16], "max_model_len": list(range(16, 16 * 130, 16))}))
    for page in (words, cells):
        assert not any(isinstance(block, Chart) for block in page.blocks)


@pytest.mark.parametrize(
    "split",
    [
        {"tensor_parallel_size": 2, "data_parallel_size": 2},
        {"engine": "sglang", "tp_size": 2, "dp_size": 2},
    ],
)
def test_memory_is_drawn_under_the_cards_of_either_engine(split: dict[str, object]) -> None:
    """Two ranks in two replicas are four cards."""
    chart = memory_of(answer({"model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "H100", **split}))
    assert chart is not None
    assert "4 × H100 under" in chart.title
