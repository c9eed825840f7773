"""Start-up logs that people posted: the printed tokens and concurrency follow from the printed budget.

A log prints its budget in GiB with two decimals, so the true number lies within half a hundredth of it. The figures of the
two ends must enclose what the log prints. A case that cannot be answered states why in ``reason``.
"""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from kvcore.answer import answer
from kvcore.arithmetic import GIB
from tests.golden.points import FOLDER

pytestmark = pytest.mark.golden

Case = Mapping[str, Any]

CASES: tuple[Case, ...] = tuple(
    json.loads(line) for line in (FOLDER / "logs" / "vllm.jsonl").read_text("utf-8").splitlines()
)
EXPLAINED = tuple(case for case in CASES if "reason" in case)
REPRODUCED = tuple(case for case in CASES if "reason" not in case)
HALF_A_HUNDREDTH = Fraction(5, 1000)
WANTED_SHARE = Fraction(95, 100)


def figures(case: Case, budget_gib: Fraction) -> dict[str, Any]:
    """The figures of a case under a budget, by the names the log's have; concurrency as printed."""
    report = answer({"model": case["model"], **case["request"], "kv_cache_memory_bytes": int(budget_gib * GIB)})
    assert report.errors == ()
    assert report.capacity is not None
    concurrency = report.capacity.concurrency.engine_log
    return {
        "tokens": report.capacity.tokens.engine_log,
        "concurrency": None if concurrency is None else round(concurrency, 2),
        "num_gpu_blocks": report.capacity.num_gpu_blocks,
    }


@pytest.mark.parametrize("case", REPRODUCED, ids=lambda case: case["id"])
def test_what_the_log_prints_follows_from_its_budget(case: Case) -> None:
    printed = Fraction(str(case["available_kv_cache_gib"]))
    least, most = figures(case, printed - HALF_A_HUNDREDTH), figures(case, printed + HALF_A_HUNDREDTH)

    outside = {name: value for name, value in case["logged"].items() if not least[name] <= value <= most[name]}

    assert outside == {}


def test_at_least_95_percent_of_the_logs_of_a_known_release_and_model_are_reproduced() -> None:
    known = [case for case in CASES if "engine_version" in case and "model" in case]

    reproduced = [case for case in known if "reason" not in case]

    assert Fraction(len(reproduced), len(known)) >= WANTED_SHARE


def test_every_other_log_says_why_it_is_not() -> None:
    assert all(len(case["reason"].split()) > 3 for case in EXPLAINED)
