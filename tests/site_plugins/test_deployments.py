from collections.abc import Mapping
from dataclasses import replace

from kvcore.report.document import Note, Table, plain
from kvcore.report.report import BudgetReport, Report
from site_plugins.pages.deployments import (
    Deployment,
    candidates,
    deployment_blocks,
    deployment_words,
    deployments,
    headline_deployment,
    opening_request,
    too_large,
)
from site_plugins.pages.related import related_section
from site_plugins.pages.summary import summarise
from tests.report.reports import REPORT
from tests.site_plugins.test_pages_model import ENTRY, GIB, ask

BUDGET = BudgetReport(kv_cache_bytes=40 * GIB, kind="estimated", interval_bytes=(38 * GIB, 42 * GIB), reserves=())


def estimated(request: Mapping[str, object], requests: float = 8.0) -> Report:
    report = ask(request)
    assert report.capacity is not None
    concurrency = replace(report.capacity.concurrency, engine_log=requests)
    return replace(report, budget=BUDGET, capacity=replace(report.capacity, concurrency=concurrency))


def deployment(size: int, requests: float) -> Deployment:
    return Deployment("H200", size, {}, estimated({}, requests))


def test_small_weights_are_shown_on_one_card_of_each_kind_and_on_eight() -> None:
    assert candidates(16 * GIB) == (("H100", 1), ("H200", 1), ("B200", 1), ("H100", 8), ("H200", 8), ("B200", 8))


def test_cards_that_cannot_hold_the_weights_are_left_out() -> None:
    # 642 GiB: 8 x 79.2 GiB x 0.85 is less, 8 x 139.8 GiB x 0.85 is more, and so is 8 x 178 GiB x 0.85.
    assert candidates(642 * GIB) == (("H200", 8), ("B200", 8))


def test_only_estimated_budgets_are_shown() -> None:
    assert deployments(ENTRY, ask) == ()
    assert len(deployments(ENTRY, estimated)) == len(candidates(16 * GIB))


def test_the_page_quotes_the_smallest_deployment_that_serves_a_few_requests() -> None:
    quoted = headline_deployment((deployment(1, 1.5), deployment(2, 5.0), deployment(8, 50.0)))
    assert quoted is not None
    assert quoted.name == "2 × H200"


def test_the_largest_is_quoted_where_none_serves_a_few() -> None:
    quoted = headline_deployment((deployment(1, 1.5), deployment(8, 3.0)))
    assert quoted is not None
    assert quoted.name == "8 × H200"


def test_a_deployment_that_stops_later_is_not_quoted_and_says_why() -> None:
    objection = "max_num_seqs of 1,024 needs 1,024 state blocks: vLLM stops at CUDA graph capture."
    first, second = deployment(1, 5.0), deployment(2, 8.0)
    assert first.report.capacity is not None
    capacity = replace(first.report.capacity, objection=objection)
    stopping = replace(first, report=replace(first.report, capacity=capacity))
    quoted = headline_deployment((stopping, second))
    assert quoted is not None
    assert quoted.name == "2 × H200"
    notes = [block for block in deployment_blocks((stopping, second), "../") if isinstance(block, Note)]
    assert plain(notes[-1].content) == f"1 × H200: {objection}"


def test_weights_that_no_common_deployment_holds_are_set_beside_its_memory() -> None:
    # 8 × B200 have 8 × 178.35 GiB, 85 % of which is less than 1,300 GiB.
    large = replace(ENTRY, weights={"safetensors_bytes": 1300 * GIB})
    (note,) = too_large(large, ask)
    assert isinstance(note, Note)
    assert plain(note.content).startswith(
        "8 × B200 do not hold it: its weights take 1,300.00 GiB, the cards have 1,426."
    )
    assert too_large(ENTRY, ask) == ()


def test_each_row_states_requests_tokens_interval_and_what_binds() -> None:
    (table,) = (
        block for block in deployment_blocks((deployment(8, 8.0),), "../calculator/") if isinstance(block, Table)
    )
    cells = [plain(cell) for cell in table.rows[0].cells]
    assert cells[0] == "8 × H200"
    assert "8.00" in cells
    assert "38.00 GiB – 42.00 GiB" in cells


def test_the_page_opens_with_the_deployment_it_quotes() -> None:
    request = opening_request(ENTRY, estimated)
    assert (request["gpu"], request["tensor_parallel_size"]) == ("H100", 1)


def test_the_page_opens_with_a_given_budget_where_none_is_estimated() -> None:
    assert opening_request(ENTRY, ask)["kv_cache_memory_bytes"] == 40 * GIB


def test_a_deployment_that_does_not_start_says_so() -> None:
    none_left = replace(REPORT, budget=replace(BUDGET, kv_cache_bytes=None))
    (table,) = (
        block
        for block in deployment_blocks((Deployment("H100", 1, {}, none_left),), "../calculator/")
        if isinstance(block, Table)
    )
    assert "does not start" in [plain(cell) for cell in table.rows[0].cells]


def test_the_words_for_previews_carry_their_condition() -> None:
    assert deployment_words((deployment(8, 8.0),)).startswith("8 × H200, tp 8: 8.00 requests of ")
    assert deployment_words(()) == ""


def test_related_models_share_the_mechanism_and_come_nearest_first() -> None:
    summary = summarise(ENTRY, ask)
    sibling = replace(ENTRY, id="example/dense-70b", title="dense-70b")
    stranger = replace(ENTRY, id="other/dense", title="other dense", organisation="other", family="other")
    models = [(ENTRY, summary), (stranger, summary), (sibling, summary)]
    section = related_section(ENTRY, summary, models)
    assert section.index("example/dense-70b") < section.index("other/dense")
    assert "example/dense-8b" not in section


def test_a_model_alone_has_no_related_ones() -> None:
    summary = summarise(ENTRY, ask)
    assert related_section(ENTRY, summary, [(ENTRY, summary)]) == ""
