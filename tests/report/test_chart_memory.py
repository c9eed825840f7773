"""Where the memory goes: pieces that add up to the card, estimates marked, and cards that are too small drawn as such."""

from dataclasses import replace
from typing import Any

from kvcore.arithmetic import GIB
from kvcore.report.charts import memory_bars
from kvcore.report.document import Chart, plain
from kvcore.report.report import BudgetReport, Report, Reserve
from tests.report.reports import REPORT

WEIGHTS, ACTIVATION, GRAPHS, OUTSIDE, SYSTEM, CACHE = 15 * GIB, 2 * GIB, GIB, GIB, 6 * GIB, 55 * GIB
CARD = WEIGHTS + ACTIVATION + GRAPHS + OUTSIDE + SYSTEM + CACHE
RESERVES = (
    Reserve(name="weights", bytes=WEIGHTS, kind="derived", source=""),
    Reserve(name="activation peak", bytes=ACTIVATION, kind="assumed", source=""),
    Reserve(name="outside PyTorch", bytes=OUTSIDE, kind="assumed", source=""),
    Reserve(name="CUDA graphs", bytes=GRAPHS, kind="given", source=""),
    Reserve(name="left to the system", bytes=SYSTEM, kind="derived", source=""),
)
LOW, HIGH = CACHE - 2 * GIB, CACHE + GIB
STARTS = BudgetReport(kv_cache_bytes=CACHE, kind="estimated", interval_bytes=(LOW, HIGH), reserves=RESERVES)

MISSING = 10 * GIB
TOO_SMALL = BudgetReport(
    kv_cache_bytes=0, kind="estimated", interval_bytes=(0, 0), reserves=RESERVES, missing_bytes=MISSING
)


def with_budget(budget: BudgetReport) -> Report:
    return replace(REPORT, budget=budget)


def drawn(**budgets: BudgetReport) -> Chart:
    chart = memory_bars({name: with_budget(budget) for name, budget in budgets.items()})
    assert chart is not None
    return chart


def pieces(chart: Chart) -> list[dict[str, Any]]:
    spec: Any = chart.spec
    return list(spec["data"]["values"])


def cells(chart: Chart, label: str) -> list[str]:
    (row,) = [row for row in chart.table.rows if plain(row.cells[0]) == label]
    return [plain(cell) for cell in row.cells[1:]]


def test_the_pieces_follow_each_other_from_the_weights_to_what_the_system_keeps() -> None:
    found = pieces(drawn(card=STARTS))
    names = ["weights", "≈ activation peak", "CUDA graphs", "≈ outside PyTorch", "≈ cache", "left to the system"]
    assert [item["term"] for item in found] == names
    assert [item["start"] for item in found] == [0, 15, 17, 18, 19, 74]
    assert found[-1]["end"] == CARD / GIB


def test_what_was_given_or_computed_is_not_marked_as_an_estimate() -> None:
    kinds = {item["term"]: item["kind"] for item in pieces(drawn(card=STARTS))}
    assert kinds["weights"] == "computed"
    assert kinds["CUDA graphs"] == "given"
    assert kinds["≈ cache"] == "estimate"


def test_the_line_beneath_a_bar_spans_where_the_cache_may_begin() -> None:
    spec: Any = drawn(card=STARTS).spec
    (rule,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "rule"]
    # The cache ends at 74 GiB, whatever it takes; 56 GiB of it begin at 18, 53 GiB at 21.
    assert [(item["start"], item["end"]) for item in rule["data"]["values"]] == [(18, 21)]


def test_the_table_says_the_same_numbers_and_both_intervals() -> None:
    chart = drawn(card=STARTS)
    assert cells(chart, "weights") == ["15.00", "computed"]
    assert cells(chart, "cache") == ["55.00", "estimate"]
    assert cells(chart, "cache, between") == ["53.00 – 56.00", "80 % interval"]
    # Activation peak and outside PyTorch are 3 GiB together; what the cache gains they lose.
    assert cells(chart, "estimated terms together, between") == ["2.00 – 5.00", "80 % interval"]
    assert cells(chart, "memory of the card") == ["80.00", "computed"]


def test_a_card_too_small_for_the_weights_ends_within_the_bar_and_says_what_is_missing() -> None:
    chart = drawn(small=TOO_SMALL, large=STARTS)
    spec: Any = chart.spec
    needed = (CARD - CACHE) // GIB
    assert max(item["end"] for item in pieces(chart) if item["row"] == "small") == needed
    (ends,) = [layer["data"]["values"] for layer in spec["layer"] if layer["mark"].get("thickness") == 2]
    assert [item["start"] for item in ends] == [needed - 10, CARD / GIB]
    captions = [
        layer["data"]["values"] for layer in spec["layer"] if layer["encoding"].get("text") == {"field": "caption"}
    ]
    assert captions[0][0]["caption"] == "small: does not start, 10.00 GiB are missing"
    assert cells(chart, "missing") == ["10.00", "", "estimate"]


def test_a_given_budget_divides_no_card_and_makes_no_chart() -> None:
    given = BudgetReport(kv_cache_bytes=CACHE, kind="given", interval_bytes=None, reserves=())
    assert memory_bars({"card": with_budget(given)}) is None
