"""Start-up logs of SGLang that people posted: the logged tokens follow from the printed free memory.

A log prints free memory in GiB with two decimals, one line for each rank, and the engine takes the least of all ranks after
reading it once more: figures within 3 % of the log are reproduced. Releases before 0.5.8 put room for drafts on top; such
logs have their settings under ``drafts``. A case that cannot be answered, or is not reproduced, states why in ``reason``.
"""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.engines.sglang.room_for_drafts import tokens_with_room_for_drafts
from tests.golden.points import FOLDER

pytestmark = pytest.mark.golden

Case = Mapping[str, Any]

CASES: tuple[Case, ...] = tuple(
    json.loads(line) for line in (FOLDER / "logs" / "sglang.jsonl").read_text("utf-8").splitlines()
)
ANSWERABLE = tuple(case for case in CASES if "request" in case)
REPRODUCED = tuple(case for case in ANSWERABLE if "reason" not in case)
TOLERANCE = Fraction(3, 100)
NEARLY = Fraction(1, 200)
"""How near most logs are: what free memory changes between its line and its use."""

WANTED_SHARE = Fraction(90, 100)


def tokens_of(case: Case) -> int:
    """Tokens kvcore gives for a case."""
    report = answer({"engine": "sglang", "model": case["model"], **case["request"]})
    assert report.errors == ()
    assert report.capacity is not None
    assert report.capacity.tokens.engine_log is not None
    tokens = report.capacity.tokens.engine_log
    if "drafts" not in case:
        return tokens
    return tokens_with_room_for_drafts(tokens, page_size=case["request"]["page_size"], **case["drafts"])


@pytest.mark.parametrize("case", REPRODUCED, ids=lambda case: case["id"])
def test_the_logged_tokens_follow_from_the_printed_free_memory(case: Case) -> None:
    logged = case["logged"]["tokens"]

    assert abs(tokens_of(case) - logged) <= TOLERANCE * logged


def test_at_least_90_percent_of_the_logs_with_enough_figures_are_reproduced() -> None:
    assert Fraction(len(REPRODUCED), len(ANSWERABLE)) >= WANTED_SHARE


def test_most_of_them_are_met_within_half_a_percent() -> None:
    near = [
        case
        for case in REPRODUCED
        if abs(tokens_of(case) - case["logged"]["tokens"]) <= NEARLY * case["logged"]["tokens"]
    ]

    assert Fraction(len(near), len(ANSWERABLE)) >= WANTED_SHARE


def test_every_other_log_says_why() -> None:
    assert all(case["reason"] for case in CASES if case not in REPRODUCED)


def test_the_pool_of_kimi_k25_has_the_bytes_its_log_prints() -> None:
    layers, latent, rotary, bytes_of_bfloat16 = 61, 512, 64, 2
    logged_tokens, logged_gib = 2_454_421, 160.63

    report = answer({"engine": "sglang", "model": "moonshotai/Kimi-K2.5", "tp_size": 8})

    assert report.layout is not None
    assert report.layout.bytes_per_token == layers * (latent + rotary) * bytes_of_bfloat16
    assert round(logged_tokens * report.layout.bytes_per_token / 2**30, 2) == logged_gib
