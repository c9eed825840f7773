"""Pagings are kept: what decides them is the compute capability, and a refusal names the card that was asked for."""

from kvcore.engines.vllm.answer import work_out
from kvcore.engines.vllm.paging import Paging
from kvcore.request import parse_request
from tests.engines.vllm.test_latent_store import V4, report


def paging(gpu: str) -> Paging:
    return work_out(parse_request({"model": "deepseek-ai/DeepSeek-V3.2", "gpu": gpu})).plan.paging


def test_cards_of_one_compute_capability_are_paged_once() -> None:
    assert paging("H200") is paging("H100")
    assert paging("B200") is not paging("H100")


def test_a_refusal_names_the_card_that_was_asked_for_and_not_its_like() -> None:
    refused = [report(V4, gpu=gpu).errors[0].value for gpu in ("L4", "L40S")]

    assert refused == ["'L4'", "'L40S'"]
