"""Lines of 157 public logs, of every engine kvcore reads: each printed figure is found, and is the one that stands there.

Paths, addresses and names of hosts are left out of the lines. What a record says that its lines do not print (a weight
read elsewhere, a rounded title) is not asked for.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kvcore.reconcile.document import document
from kvcore.reconcile.explain import explain
from kvcore.reconcile.reader import read_log_text
from kvcore.reconcile.reconcile import reconcile
from kvcore.report.writers import markdown
from tests.golden.points import FOLDER

pytestmark = pytest.mark.golden

Case = Mapping[str, Any]

CASES: tuple[Case, ...] = tuple(
    json.loads(line) for line in (FOLDER / "log-lines.jsonl").read_text("utf-8").splitlines()
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_every_printed_figure_is_found(case: Case) -> None:
    record = read_log_text("\n".join(case["lines"]))

    found = {(figure.name, float(figure.value)) for figure in record.figures}
    assert record.engine == case["engine"]
    assert {(name, float(value)) for name, value in case["figures"]} <= found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_every_figure_is_among_what_is_explained(case: Case) -> None:
    record = read_log_text("\n".join(case["lines"]))

    lines = {line for item in explain(record) for line in item.lines} | {seen.line for seen in record.seen}

    assert {figure.line for figure in record.figures} <= lines


def test_every_log_gets_an_answer_without_an_error() -> None:
    for case in CASES:
        found = reconcile(read_log_text("\n".join(case["lines"])), {})

        assert markdown.write(document(found))
