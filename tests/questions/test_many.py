"""Many deployments at once give the figures of a report for each."""

import pytest

from kvcore.answer import answer
from kvcore.questions.many import DOES_NOT_FIT, NO_MEMORY, NOT_KNOWN, NOTHING_CACHED, Outcome, requests_at_once

GIB = 1024**3
BOTH_LENGTHS = (32_768, 131_072)


@pytest.mark.parametrize(
    "model",
    [
        "meta-llama/Llama-3.1-8B-Instruct",
        "deepseek-ai/DeepSeek-V3.2",
        "openai/gpt-oss-120b",
        "Qwen/Qwen3-Next-80B-A3B-Instruct",
    ],
)
def test_every_figure_is_that_of_the_report(model: str) -> None:
    deployments = [
        {"gpu": gpu, "tensor_parallel_size": size, "max_model_len": length}
        for gpu in ("H200", "B200")
        for size in (1, 8)
        for length in BOTH_LENGTHS
    ]
    reports = [answer({"model": model, **deployment}) for deployment in deployments]
    logged = [report.capacity.concurrency.engine_log if report.capacity else None for report in reports]
    assert [outcome.requests for outcome in requests_at_once(model, deployments)] == logged


def test_weights_that_fill_the_card_leave_no_memory() -> None:
    (outcome,) = requests_at_once("meta-llama/Llama-3.1-70B-Instruct", [{"gpu": "H100"}])
    assert outcome == Outcome(requests=None, reason=NO_MEMORY)


def test_a_request_longer_than_the_cache_does_not_fit() -> None:
    tight = {"kv_cache_memory_bytes": GIB, "max_model_len": 131_072}
    assert requests_at_once("meta-llama/Llama-3.1-8B-Instruct", [tight]) == (
        Outcome(requests=None, reason=DOES_NOT_FIT),
    )


def test_a_deployment_without_a_budget_says_so() -> None:
    assert requests_at_once("meta-llama/Llama-3.1-8B-Instruct", [{}]) == (Outcome(requests=None, reason=NOT_KNOWN),)


def test_a_refused_deployment_does_not_stop_the_others() -> None:
    given = {"kv_cache_memory_bytes": 40 * GIB, "max_model_len": 131_072}
    refused, answered = requests_at_once(
        "meta-llama/Llama-3.1-8B-Instruct", [{**given, "tensor_parallel_size": 3}, given]
    )
    assert "tensor_parallel_size" in refused.reason
    # 40 GiB of 128 KiB per token are 327,680 tokens, two and a half times 131,072.
    assert answered.requests == 2.5


def test_a_model_that_keeps_no_cache_is_not_said_to_be_too_large() -> None:
    assert requests_at_once("BAAI/bge-m3", [{"gpu": "H200"}]) == (Outcome(requests=None, reason=NOTHING_CACHED),)


def test_what_stops_at_graph_capture_has_a_figure_and_does_not_start() -> None:
    """max_num_seqs is 1,024 on this card, and the cache holds fewer blocks of state than that."""
    deployment = {"gpu": "H100", "max_model_len": 32_768}
    (outcome,) = requests_at_once("Qwen/Qwen3.6-27B", [deployment])
    report = answer({"model": "Qwen/Qwen3.6-27B", **deployment})
    assert report.capacity is not None
    assert outcome == Outcome(
        requests=report.capacity.concurrency.engine_log, reason=report.capacity.objection or "it should object"
    )
    assert not outcome.starts
    (fewer,) = requests_at_once("Qwen/Qwen3.6-27B", [{**deployment, "max_num_seqs": 64}])
    assert fewer.starts
