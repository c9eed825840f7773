"""Properties that hold for every model: what more memory, longer requests and more ranks may and may not do."""

from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kvcore.answer import answer
from kvcore.arithmetic import GIB, KIB, MIB
from kvcore.catalog import load_models
from kvcore.commandline import engine_command, read_command
from kvcore.commandline.sizes import bytes_of
from kvcore.config import read_config
from kvcore.layout import lay_out
from kvcore.report.render import render
from kvcore.report.report import Report
from kvcore.report.writers import text

MODELS = st.sampled_from([entry.id for entry in load_models()])
WITH_STATES = st.sampled_from(
    [
        entry.id
        for entry in load_models()
        if any(part.cache.growth == "per_request" for part in lay_out(read_config(entry.config)).parts)
    ]
)
"""Models that keep a state per request: of the others few draws would be left."""

LENGTHS = st.integers(min_value=1, max_value=200_000)
BUDGETS = st.integers(min_value=1 * GIB, max_value=400 * GIB)
RANKS = st.sampled_from((2, 4, 8))
MOST_BYTES = 1 << 50
EXAMPLES = settings(max_examples=60, suppress_health_check=(HealthCheck.filter_too_much, HealthCheck.too_slow))


def ask(model: str, **fields: Any) -> Report:
    """The report of one model on a GPU large enough for every backend; the example is dropped where it is refused."""
    report = answer({"model": model, "gpu": "B200", **fields})
    assume(not report.errors)
    return report


def concurrency(report: Report) -> float:
    """Requests at once as logged, 0 where one does not fit; examples without a cache are dropped."""
    assert report.capacity is not None
    assume(report.plan is not None and report.plan.groups)
    return report.capacity.concurrency.engine_log or 0.0


@EXAMPLES
@given(MODELS, BUDGETS, st.integers(min_value=0, max_value=100 * GIB), LENGTHS)
def test_a_larger_budget_never_holds_fewer_requests(model: str, budget: int, more: int, length: int) -> None:
    small = ask(model, kv_cache_memory_bytes=budget, max_model_len=length)
    large = ask(model, kv_cache_memory_bytes=budget + more, max_model_len=length)
    assert concurrency(large) >= concurrency(small)


@EXAMPLES
@given(MODELS, BUDGETS, LENGTHS, st.integers(min_value=0, max_value=100_000))
def test_longer_requests_never_fit_more_often(model: str, budget: int, length: int, more: int) -> None:
    fixed = {"kv_cache_memory_bytes": budget, "max_num_batched_tokens": 4096, "max_num_seqs": 256}
    short = ask(model, max_model_len=length, **fixed)
    long = ask(model, max_model_len=length + more, **fixed)
    assert concurrency(long) <= concurrency(short)


@EXAMPLES
@given(WITH_STATES, BUDGETS, LENGTHS)
def test_where_states_have_an_align_copy_more_can_be_held_than_is_logged(model: str, budget: int, length: int) -> None:
    report = ask(model, kv_cache_memory_bytes=budget, max_model_len=length)
    logged = concurrency(report)
    assert report.capacity is not None
    assert report.request is not None
    assert report.tax is not None
    assume(any(cause.name == "align copy of states" and cause.bytes for cause in report.tax.causes))
    held = report.capacity.concurrency.held
    assume(held is not None and report.capacity.num_gpu_blocks is not None)
    assert report.request.bytes_held < report.request.bytes_estimate
    # One null block leaves the pool; the copy leaves every request: with several requests the copy weighs more.
    assert held >= logged or logged < 2


@EXAMPLES
@given(MODELS, BUDGETS, LENGTHS)
def test_parts_add_up_to_the_request_and_causes_to_the_tax(model: str, budget: int, length: int) -> None:
    report = ask(model, kv_cache_memory_bytes=budget, max_model_len=length)
    request, tax, plan = report.request, report.tax, report.plan
    assert request is not None
    assert tax is not None
    assert plan is not None
    assume(plan.groups)
    assert sum(part.bytes_estimate for part in request.parts) == request.bytes_estimate
    assert sum(part.bytes_held for part in request.parts) == request.bytes_held
    assert sum(part.bytes_plain for part in request.parts) == request.bytes_plain
    assert sum(cause.bytes for cause in tax.causes) == tax.bytes
    assert tax.bytes == request.bytes_estimate - request.bytes_plain + plan.page_size_bytes
    assert all(cause.bytes >= 0 for cause in tax.causes)


@EXAMPLES
@given(MODELS, RANKS)
def test_tensor_parallelism_never_stores_less_than_its_share(model: str, ranks: int) -> None:
    one = ask(model, tensor_parallel_size=1).layout
    split = ask(model, tensor_parallel_size=ranks).layout
    assert one is not None
    assert split is not None
    assert Fraction(split.bytes_per_token) >= Fraction(one.bytes_per_token, ranks)
    assert Fraction(split.bytes_per_request) >= Fraction(one.bytes_per_request, ranks)
    assert split.bytes_per_token <= one.bytes_per_token


@EXAMPLES
@given(st.integers(min_value=1, max_value=MOST_BYTES))
def test_a_budget_keeps_its_bytes_as_gib_in_an_answer_and_in_a_command(number: int) -> None:
    request = {"model": "meta-llama/Llama-3.1-8B-Instruct", "available_kv_cache_gib": number / GIB}
    budget = answer({**request, "max_model_len": 1}, ("budget",)).budget
    assert budget is not None
    assert budget.kv_cache_bytes == number
    assert read_command(engine_command(request)).request["kv_cache_memory_bytes"] == number


@EXAMPLES
@given(st.integers(min_value=1, max_value=MOST_BYTES), st.sampled_from((("KiB", KIB), ("MiB", MIB), ("GiB", GIB))))
def test_a_suffix_multiplies_by_its_unit(number: int, suffix: tuple[str, int]) -> None:
    name, unit = suffix
    assert bytes_of("kv_cache_memory_bytes", f"{number}{name}") == number * unit


@EXAMPLES
@given(MODELS, BUDGETS, LENGTHS)
def test_every_answer_can_be_read_as_text(model: str, budget: int, length: int) -> None:
    shown = text.write(render(ask(model, kv_cache_memory_bytes=budget, max_model_len=length)))
    assert model in shown
    assert "nan" not in shown.lower().split()
