from dataclasses import replace
from itertools import chain

from kvcore.errors import FieldError
from kvcore.report.document import Details, Document, Heading, Headline, Layers, Note, Table, plain
from kvcore.report.render import SECTIONS, render, render_section, review
from kvcore.report.report import BudgetReport, Capacity, Concurrency, Input, Report, Reserve, Tokens
from kvcore.report.sections.layout import factors
from kvcore.report.sections.wording import condition, tone
from tests.report.reports import ENTRY_BYTES, PART, REPORT

GIB = 1024**3


def headline(report: Report) -> Headline:
    return next(block for block in render(report).blocks if isinstance(block, Headline))


def find_table(document: Document, anchor: str) -> Table:
    """A table of a document, folded or not."""
    unfolded = chain.from_iterable(b.blocks if isinstance(b, Details) else (b,) for b in document.blocks)
    return next(block for block in unfolded if isinstance(block, Table) and block.id == anchor)


def table(document: Document, anchor: str) -> dict[str, str]:
    """First column to second column of a table, as shown."""
    found = find_table(document, anchor)
    return {plain(row.cells[0]): plain(row.cells[1]) for row in found.rows}


def test_sections_come_in_reading_order_with_stable_anchors() -> None:
    anchors = [block.id for block in render(REPORT).blocks if isinstance(block, Heading)]
    assert anchors == ["layout", "one-request", "capacity", "memory", "derivation", "evidence"]
    assert set(anchors) <= set(SECTIONS)


def test_the_answer_comes_first() -> None:
    assert isinstance(render(REPORT).blocks[0], Headline)


def test_the_condition_names_engine_version_parallel_size_dtype_context_and_budget() -> None:
    assert condition(REPORT) == (
        "vLLM 0.33.0 · tp 1 · bfloat16 cache · 8,192 tokens of context · 40.00 GiB of cache per GPU (given)"
    )


def test_a_model_that_keeps_nothing_says_so_and_shows_no_figures_of_a_cache() -> None:
    assert REPORT.layout is not None
    encoder = replace(REPORT, layout=replace(REPORT.layout, attention_kind="no cache", parts=(), bytes_per_token=0))
    assert condition(encoder) == "vLLM 0.33.0 · tp 1 · 8,192 tokens of context"
    assert headline(encoder).figures == ()
    assert "no cache limits how many requests run at once" in plain(headline(encoder).sentence)
    anchors = [block.id for block in render(encoder).blocks if isinstance(block, Heading)]
    assert anchors == ["layout", "derivation", "evidence"]


def test_an_estimated_budget_is_shown_with_its_interval() -> None:
    budget = BudgetReport(kv_cache_bytes=38 * GIB, kind="estimated", interval_bytes=(36 * GIB, 40 * GIB), reserves=())
    assert "38.00 GiB of cache per GPU (estimated, 36.00 GiB to 40.00 GiB)" in condition(replace(REPORT, budget=budget))


def test_the_derivation_table_lists_factors_entry_and_totals() -> None:
    rows = table(render(REPORT), "arithmetic")
    assert rows["attention kind"] == "GQA (32 query heads, 8 key/value heads)"
    assert rows["attention: layers"] == "32"
    assert rows["attention: num_kv_heads"] == "8"
    assert rows["attention: head_size"] == "128"
    assert rows["attention: dtype_bytes"] == "2"
    assert rows["attention: bytes per entry of one layer"] == f"{ENTRY_BYTES:,}"
    # 32 layers × 4,096 bytes = 131,072 bytes = 128 KiB; × 1,000 ÷ 1,048,576 = 125 MiB
    assert rows["bytes per token, all layers"] == "131,072"
    assert rows["KiB per token"] == "128.00 KiB"
    assert rows["MiB per 1,000 tokens"] == "125.00 MiB"


def test_the_derivation_table_says_that_it_is_not_a_measurement() -> None:
    assert "not a measurement" in find_table(render(REPORT), "arithmetic").caption


def test_the_document_ends_by_saying_that_nothing_was_measured() -> None:
    assert "None was measured" in plain(render(REPORT).blocks[-1].content)  # type: ignore[union-attr]


def test_factors_pair_names_with_values_and_leave_numbers_out() -> None:
    assert factors(PART) == (("num_kv_heads", "8"), ("head_size", "128"), ("dtype_bytes", "2"))


def test_factors_are_left_out_where_formula_and_values_do_not_match() -> None:
    assert factors(replace(PART, substituted="4096")) == ()


def test_the_budget_table_lists_reserves_and_what_is_left() -> None:
    reserve = Reserve(name="weights", bytes=30 * GIB, kind="derived", source="config")
    budget = replace(REPORT.budget, kv_cache_bytes=40 * GIB, reserves=(reserve,))  # type: ignore[type-var]
    rows = table(render(replace(REPORT, budget=budget)), "budget-table")
    assert rows["− weights"] == "30.00 GiB"
    assert rows["left for the cache"] == "40.00 GiB"


def test_a_request_that_does_not_fit_gets_a_shortfall_and_no_capacity() -> None:
    capacity = Capacity(
        num_gpu_blocks=400,
        concurrency=Concurrency(engine_log=None, held=None, plain=None),
        tokens=Tokens(engine_log=None, per_token_pool=None),
        max_model_len_that_fits=6_400,
        binds=None,
        fits=False,
        needed_bytes=2 * GIB,
        short_bytes=GIB,
    )
    found = headline(replace(REPORT, capacity=capacity))
    assert found.kind == "refusal"
    assert "does not fit: 1.00 GiB short per GPU (2.00 GiB needed)" in plain(found.sentence)
    assert "the longest context that fits is 6,400 tokens" in plain(found.sentence)
    assert not any(key.figure.path.startswith("capacity") for key in found.figures)


def test_a_token_figure_that_is_no_pool_is_said_to_be_none() -> None:
    capacity = replace(REPORT.capacity, tokens=Tokens(engine_log=861_798, per_token_pool=None))  # type: ignore[type-var]
    blocks = render(replace(REPORT, capacity=capacity)).blocks
    assert any(isinstance(block, Note) and "not a pool" in plain(block.content) for block in blocks)


def test_errors_name_field_value_rule_and_remedy() -> None:
    error = FieldError("max_model_len", "-5", "must be positive", "Give a number of tokens.")
    blocks = render(Report(inputs={}, kvcore_version="0.1.0", errors=(error,))).blocks
    assert [plain(block.content) for block in blocks if isinstance(block, Note)] == [
        "max_model_len = -5: must be positive. Give a number of tokens."
    ]


def test_an_error_report_shows_no_number() -> None:
    error = FieldError("model", "x", "unknown", "Choose one.")
    blocks = render(Report(inputs={}, kvcore_version="0.1.0", errors=(error,))).blocks
    assert all(isinstance(block, Note) for block in blocks)


def test_given_inputs_come_before_defaults() -> None:
    details = next(b for b in render(REPORT).blocks if isinstance(b, Details) and b.id == "inputs")
    assert isinstance(details.blocks[0], Table)
    origins = [plain(row.cells[2]) for row in details.blocks[0].rows]
    assert origins == ["given", "given", "default"]


def test_a_pasted_config_is_named_by_its_size_not_printed() -> None:
    config = {f"key_{number}": number for number in range(200)}
    report = replace(REPORT, inputs={"config": Input(value=config, origin="given")})
    details = next(b for b in render(report).blocks if isinstance(b, Details) and b.id == "inputs")
    assert isinstance(details.blocks[0], Table)
    assert plain(details.blocks[0].rows[0].cells[1]) == "object with 200 keys"


def test_layers_that_cache_nothing_are_drawn_neutral() -> None:
    part = replace(PART, layer_indices=(0, 2))
    report = replace(REPORT, layout=replace(REPORT.layout, parts=(part,)))  # type: ignore[type-var]
    picture = next(block for block in render_section(report, "layout") if isinstance(block, Layers))
    assert picture.cells == (("token",), ("neutral",), ("token",))


def test_the_tone_of_a_part_follows_growth_and_content() -> None:
    def toned(name: str, growth: str) -> str:
        return tone(replace(PART, name=name, growth=growth))

    assert toned("attention", "per_token") == "token"
    assert toned("latent", "per_token") == "latent"
    assert toned("indexer keys", "per_token") == "indexer"
    assert toned("attention", "sliding_window") == "window"
    assert toned("recurrent state", "per_request") == "state"


def test_a_review_states_headline_inputs_split_and_versions_without_the_derivation() -> None:
    ids = [block.id for block in review(REPORT).blocks if isinstance(block, Table)]
    assert ids == ["inputs-given", "request-split"]
    assert "kvcore 0.1.0, vLLM 0.33.0 rules." in plain(review(REPORT).blocks[-1].content)  # type: ignore[union-attr]
