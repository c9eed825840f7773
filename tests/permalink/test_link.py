"""A link carries the question, what was said and who said it; it reads back the same."""

import importlib
import json
from pathlib import Path

import pytest

from kvcore import __version__
from kvcore.answer import answer
from kvcore.errors import InputError
from kvcore.permalink import read_link, then_and_now, write_link
from kvcore.request import parse_request
from tests.questions.deployment import BLOCK_BYTES, CONFIG

then_and_now_module = importlib.import_module("kvcore.permalink.then_and_now")

POOL_BLOCKS = 1000
QUESTION = {
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "tensor_parallel_size": 2,
    "max_model_len": 8192,
    "kv_cache_memory_bytes": 42_949_672_960,
}
FROZEN = [json.loads(line) for line in (Path(__file__).parent / "frozen_links.jsonl").read_text("utf-8").splitlines()]


def test_a_link_reads_as_a_sentence_of_the_request() -> None:
    link = write_link(QUESTION, answer(QUESTION))
    assert link.startswith("?model=meta-llama/Llama-3.1-8B-Instruct&engine_version=0.33.0&tensor_parallel_size=2&")
    assert f"kvcore={__version__}" in link


def test_a_link_asks_the_same_question_again() -> None:
    link = read_link("https://example.org/calculator/" + write_link(QUESTION, answer(QUESTION)))
    again = {name: value for name, value in link.request.items() if name != "engine_version"}
    assert parse_request(again) == parse_request(QUESTION)


def test_a_pasted_config_travels_in_the_fragment_which_is_not_sent() -> None:
    question = {"config": CONFIG, "kv_cache_memory_bytes": POOL_BLOCKS * BLOCK_BYTES}
    link = write_link(question, answer(question))
    query, _, fragment = link.partition("#")
    assert "LlamaForCausalLM" not in query
    assert fragment.startswith("config=")
    assert read_link(link).request["config"] == CONFIG


def test_an_unchanged_answer_says_so() -> None:
    report = answer(QUESTION)
    assert then_and_now(read_link(write_link(QUESTION, report)), report).unchanged


def test_another_figure_is_shown_beside_what_the_link_said() -> None:
    report = answer(QUESTION)
    assert report.capacity is not None
    tokens = report.capacity.tokens.engine_log
    told = write_link(QUESTION, report).replace(f"tokens:{tokens}", "tokens:1")
    result = then_and_now(read_link(told), report)
    (difference,) = result.differences
    assert difference.path == "capacity.tokens.engine_log"
    assert difference.then == 1
    assert difference.now == tokens
    assert result.reasons


@pytest.mark.parametrize("fragment", ["config=!!!", "config=AAAA", "config=eJwDAAAAAAE"])
def test_a_damaged_fragment_is_refused(fragment: str) -> None:
    with pytest.raises(InputError, match="damaged"):
        read_link(f"?tensor_parallel_size=2#{fragment}")


def test_a_config_too_long_for_an_address_is_refused_with_what_to_do() -> None:
    noise = {**CONFIG, "ignore": [f"model.layers.{number}.{number * 7919 % 100_003}" for number in range(40_000)]}
    question = {"config": noise, "kv_cache_memory_bytes": POOL_BLOCKS * BLOCK_BYTES}
    with pytest.raises(InputError, match="file"):
        write_link(question, answer(question))


def test_a_search_or_campaign_parameter_is_no_request_field() -> None:
    assert read_link("?q=cache&utm_source=mail&tensor_parallel_size=2").request == {"tensor_parallel_size": "2"}


@pytest.mark.parametrize("frozen", FROZEN, ids=[row["link"][:60] for row in FROZEN])
def test_links_of_every_release_keep_working(frozen: dict[str, object]) -> None:
    link = read_link(str(frozen["link"]))
    report = answer(link.request)
    assert not report.errors
    assert then_and_now(link, report).unchanged


CHANGES = (
    then_and_now_module.RuleChange(version="0.2.0", what="states of hybrids are padded"),
    then_and_now_module.RuleChange(version="0.10.0", what="windows keep one block more"),
)


@pytest.mark.parametrize(
    ("then", "named"),
    [
        ("0.1.0", ["kvcore 0.2.0: states of hybrids are padded", "kvcore 0.10.0: windows keep one block more"]),
        ("0.2.0", ["kvcore 0.10.0: windows keep one block more"]),
        ("0.9.5", ["kvcore 0.10.0: windows keep one block more"]),
    ],
)
def test_the_changes_of_rules_since_a_link_are_named(
    monkeypatch: pytest.MonkeyPatch, then: str, named: list[str]
) -> None:
    monkeypatch.setattr(then_and_now_module, "RULE_CHANGES", CHANGES)
    monkeypatch.setattr(then_and_now_module, "__version__", "0.10.0")
    report = answer(QUESTION)
    told = (
        write_link(QUESTION, report).replace(f"kvcore={__version__}", f"kvcore={then}").replace("blocks:", "blocks:1")
    )
    assert list(then_and_now(read_link(told), report).reasons) == named


@pytest.mark.parametrize("then", ["", "<b>", "9" * 60])
def test_where_no_change_is_on_record_both_versions_are_said(then: str) -> None:
    report = answer(QUESTION)
    told = (
        write_link(QUESTION, report).replace(f"kvcore={__version__}", f"kvcore={then}").replace("blocks:", "blocks:1")
    )
    (reason,) = then_and_now(read_link(told), report).reasons
    assert __version__ in reason
    assert "no change of rules is on record" in reason
