import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml

from kvcore.catalog import ModelEntry, ModelSource
from kvcore.errors import FieldError
from kvcore.questions.many import Outcome
from kvcore.questions.names import Fields
from kvcore.report.document import Note, plain
from kvcore.report.report import Input, Report
from site_plugins.pages.answers import Ask
from site_plugins.pages.facts import contexts, headline_request, parameter_count, short_kind, short_length
from site_plugins.pages.fleet import fewest, on_every_gpu
from site_plugins.pages.generated import GeneratedFile, whole
from site_plugins.pages.index_page import index_files, newest_first
from site_plugins.pages.kinds_page import kinds_files
from site_plugins.pages.matrix import capacity_blocks, capacity_matrix
from site_plugins.pages.model_page import model_files
from site_plugins.pages.scenarios import (
    BUDGETS,
    CONTEXTS,
    INDEX_GPU,
    INDEX_SIZES,
    TENSOR_PARALLEL_SIZES,
    headline_parallel,
)
from site_plugins.pages.summary import summarise
from tests.report.reports import MAX_MODEL_LEN, REPORT

GIB = 1024**3
SITE_URL = "https://atlas.example/"

ENTRY = ModelEntry(
    id="example/dense-8b",
    revision="0123abc",
    title="dense-8b",
    organisation="example",
    family="dense",
    config={},
    weights={"params": 8_030_261_248, "safetensors_bytes": 16 * GIB},
    status="engine",
    sources=(ModelSource(what="config.json", kind="cited", reference="example/dense-8b", checked="2026-11-29"),),
)


def ask(request: Mapping[str, object], _sections: object = None, /) -> Report:
    """The sample report, with the request's fields as inputs."""
    return replace(REPORT, inputs={name: Input(value=value, origin="given") for name, value in request.items()})


def refuse(_: Mapping[str, object], _sections: object = None, /) -> Report:
    error = FieldError("tensor_parallel_size", "8", "does not divide the heads", "Use 4.")
    return Report(inputs={}, kvcore_version="0.1.0", errors=(error,))


def many(_: str, deployments: Iterable[Fields]) -> tuple[Outcome, ...]:
    """Two requests at once for each card; long contexts do not fit on one."""
    return tuple(
        Outcome(requests=2.0 * item["tensor_parallel_size"])
        if item["tensor_parallel_size"] > 1 or item["max_model_len"] <= MAX_MODEL_LEN
        else Outcome(requests=None, reason="one request does not fit")
        for item in deployments
    )


def complete(file: GeneratedFile) -> str:
    """A page with its HTML in place."""
    return whole(file.content, file.fragments)


def page(entry: ModelEntry = ENTRY) -> str:
    return complete(model_files(entry, ask, SITE_URL)[0])


def beside(name: str) -> str:
    """The content of a file that is made with the page."""
    (found,) = (item.content for item in model_files(ENTRY, ask, SITE_URL) if item.src_uri.endswith(f"/{name}"))
    return found


def index(answers: Ask) -> str:
    return complete(index_files([(ENTRY, summarise(ENTRY, answers, many))])[0])


def meta(markdown: str) -> dict[str, Any]:
    found = yaml.safe_load(markdown.split("---\n")[1])
    assert isinstance(found, dict)
    return found


def test_a_context_is_shortened_only_where_nothing_is_lost() -> None:
    assert short_length(128 * 1024) == "128k"
    assert short_length(128 * 1024 - 1) == "131,071"


def test_a_model_gets_a_page_with_report_and_layout_beside_it() -> None:
    assert [item.src_uri for item in model_files(ENTRY, ask, SITE_URL)] == [
        "models/example/dense-8b.md",
        "models/example/dense-8b/charts.json",
        "data/v1/models/example/dense-8b/report.json",
        "data/v1/models/example/dense-8b/layout.json",
        "models/example/dense-8b/report.csv",
        "models/example/dense-8b/review.txt",
        "models/example/dense-8b/badge.svg",
    ]


def test_the_data_files_are_the_pages_own_report() -> None:
    report, layout = beside("report.json"), beside("layout.json")
    assert json.loads(report)["capacity"]["tokens"]["engine_log"] == 327_680
    assert json.loads(layout) == json.loads(report)["layout"]


def test_the_description_is_the_headline_sentence() -> None:
    assert meta(page())["description"].startswith("KV cache of example/dense-8b: 40.00 requests of 8,192 tokens")


def test_sections_have_stable_anchors_in_order() -> None:
    anchors = [line.rpartition("{#")[2].rstrip("}") for line in page().splitlines() if line.startswith("## ")]
    assert anchors == ["layout", "one-request", "capacity", "memory", "derivation", "evidence"]


def test_the_page_links_to_the_calculator_with_its_request() -> None:
    assert 'href="../../../calculator/?model=example%2Fdense-8b&amp;tensor_parallel_size=1' in page()


def test_the_page_shows_revision_status_and_sources() -> None:
    assert "revision 0123abc" in page()
    assert "equal to the engine&#x27;s own code" in page()
    assert "2026-11-29" in page()


def test_a_title_cannot_become_markup() -> None:
    written = page(replace(ENTRY, title="<b>*x*</b> | # y"))
    assert "<b>" not in written
    assert "*x*" not in written.split("\n# ")[1].splitlines()[0]


def test_markdown_never_sees_the_html_of_a_page() -> None:
    file = model_files(ENTRY, ask, SITE_URL)[0]
    assert "<table" not in file.content
    assert "<table" in complete(file)
    assert "<!-- kv:" not in complete(file)


def test_the_context_is_the_models_limit_where_that_is_shorter_than_the_usual_one() -> None:
    assert headline_request(ENTRY, ask)["max_model_len"] == MAX_MODEL_LEN


@pytest.mark.parametrize(("weights", "size"), [(None, 1), (32 * GIB, 1), (33 * GIB, 2), (640 * GIB, 8)])
def test_the_opening_deployment_has_enough_gpus_for_the_weights(weights: int | None, size: int) -> None:
    assert headline_parallel(weights) == size


def test_the_matrix_has_a_row_per_budget_and_size_and_a_column_per_context() -> None:
    def divided(request: Mapping[str, object], _sections: object = None, /) -> Report:
        report = ask(request)
        assert report.capacity is not None
        requests = float(str(request["tensor_parallel_size"]))
        concurrency = replace(report.capacity.concurrency, engine_log=requests)
        return replace(report, capacity=replace(report.capacity, concurrency=concurrency))

    table = capacity_matrix(ENTRY.id, CONTEXTS, divided, "../")
    assert len(table.rows) == len(BUDGETS) * len(TENSOR_PARALLEL_SIZES)
    assert len(table.columns) == 1 + len(CONTEXTS)


def test_sizes_that_change_no_figure_share_a_row_of_the_matrix() -> None:
    rows = capacity_matrix(ENTRY.id, CONTEXTS, ask, "../").rows
    assert [plain(row.cells[0]) for row in rows] == [
        f"{budget} GiB\u00a0· tp\u00a01,\u00a02,\u00a04,\u00a08" for budget in ("40.00", "80.00")
    ]


def test_a_refused_cell_says_refused() -> None:
    assert capacity_matrix(ENTRY.id, CONTEXTS, refuse, "../").rows[0].cells[1] == ("refused",)


def test_the_matrix_says_once_why_cells_are_refused() -> None:
    _, *notes = capacity_blocks(ENTRY.id, CONTEXTS, refuse, "../")
    assert notes == [
        Note("info", ("Refused: tensor_parallel_size = 8: does not divide the heads. Use 4.",)),
    ]
    assert len(capacity_blocks(ENTRY.id, CONTEXTS, ask, "../")) == 1


def test_parameters_are_counted_in_millions_billions_or_trillions() -> None:
    assert parameter_count(22_713_216) == "22.7\u00a0M"
    assert parameter_count(137_000_000) == "137.0\u00a0M"
    assert parameter_count(8_030_261_248) == "8.0\u00a0B"
    assert parameter_count(1_573_000_000_000) == "1.6\u00a0T"


def test_the_index_lists_every_model_with_exact_values_to_sort_by() -> None:
    written = index(ask)
    assert '<a href="example/dense-8b/">dense-8b</a>' in written
    assert 'data-kv="layout.bytes_per_token" value="131072">128.00</data>' in written
    assert 'data-kind="GQA"' in written


def test_the_index_needs_no_script_to_be_read() -> None:
    written = index(ask)
    assert "<form" in written
    assert "hidden" in written.split("<form")[1].split(">")[0]


def test_the_index_shows_the_fewest_cards_and_the_requests_on_eight() -> None:
    summary = summarise(ENTRY, ask, many)
    assert fewest(summary.on_gpus, INDEX_GPU) == 1
    assert [outcome.requests for place in summary.on_gpus if place.gpu == INDEX_GPU for outcome in place.requests] == [
        None
    ] * 2 * len(INDEX_SIZES)
    long = on_every_gpu(ENTRY.id, None, many)
    shown = [(place.size, place.fits, [outcome.requests for outcome in place.requests]) for place in long[:2]]
    assert shown == [(1, False, [None, None]), (2, True, [4.0, 4.0])]


def test_what_does_not_fit_is_not_asked_with_a_longer_context() -> None:
    asked: list[Fields] = []

    def noted(model: str, deployments: Iterable[Fields]) -> tuple[Outcome, ...]:
        asked.extend(given := list(deployments))
        return many(model, given)

    on_every_gpu(ENTRY.id, None, noted)
    assert not [item for item in asked if item["tensor_parallel_size"] == 1 and item["max_model_len"] > 32_768]


def test_a_card_on_which_the_engine_stops_at_capture_is_not_one_it_starts_on() -> None:
    def stopping(_: str, deployments: Iterable[Fields]) -> tuple[Outcome, ...]:
        return tuple(
            Outcome(requests=3.0, reason="stops at graph capture" if item["tensor_parallel_size"] == 1 else "")
            for item in deployments
        )

    places = on_every_gpu(ENTRY.id, None, stopping)
    assert fewest(places, INDEX_GPU) == 2
    assert [outcome.requests for outcome in places[0].requests] == [3.0, 3.0]
    assert places[0].reason == "stops at graph capture"


def test_the_index_says_beside_a_figure_that_the_engine_stops_after_logging_it() -> None:
    def stopping(_: str, deployments: Iterable[Fields]) -> tuple[Outcome, ...]:
        return tuple(Outcome(requests=3.0, reason="stops at graph capture") for _ in deployments)

    summary = replace(summarise(ENTRY, ask), on_gpus=on_every_gpu(ENTRY.id, None, stopping))
    listed = complete(index_files([(ENTRY, summary)])[0])
    assert 'title="stops at graph capture"><data' in listed
    assert 'value="3.0">3.00</data> stops</td>' in listed


def test_the_index_is_newest_first_and_undated_models_follow() -> None:
    dates = {"old": "2024-05", "undated": "", "new": "2025-12-01"}
    listed = [(replace(ENTRY, id=name, released=date), summarise(ENTRY, ask, many)) for name, date in dates.items()]
    assert [entry.id for entry, _ in newest_first(listed)] == ["new", "old", "undated"]


def test_the_index_gives_the_reason_of_a_refusal() -> None:
    assert 'title="tensor_parallel_size = 8: does not divide the heads. Use 4."' in index(refuse)


def test_the_overview_groups_models_by_kind() -> None:
    written = complete(kinds_files([(ENTRY, summarise(ENTRY, ask))])[0])
    assert "## GQA {#gqa}" in written
    assert '<a href="../example/dense-8b/">dense-8b</a>' in written


def test_contexts_beyond_the_models_limit_are_not_shown_and_the_limit_is() -> None:
    assert contexts(40_960) == (8_192, 32_768, 40_960)
    assert contexts(131_072) == (8_192, 32_768, 131_072)
    assert contexts(2_048) == (2_048,)


def test_the_index_leaves_contexts_beyond_the_limit_empty() -> None:
    assert 'title="longer than the model&#x27;s limit"' in index(ask)


def test_the_snippet_for_a_review_ends_with_a_permalink_to_the_same_question() -> None:
    snippet = beside("review.txt")
    assert "40.00 requests of 8,192 tokens fit at once" in snippet
    assert "(<https://atlas.example/calculator/?model=example%2Fdense-8b&tensor_parallel_size=1" in snippet


def test_a_mixed_kind_is_abbreviated_part_by_part() -> None:
    assert short_kind("gated delta-net with grouped-query attention") == "Gated delta-net + GQA"
    assert short_kind("multi-head latent attention with a sparse indexer") == "MLA + indexer"
