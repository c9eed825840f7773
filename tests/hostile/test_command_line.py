"""Hostile inputs on the command line: a named error or an answer, in bounded time and memory, and nothing raw."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.hostile.inputs import INPUTS, Hostile

MOST_SECONDS = 20
"""Of one input, on a machine that does other things besides; the slowest takes about one."""

ANSWERED, DOES_NOT_FIT, BAD_INPUT = 0, 1, 2
CONTROL = set(map(chr, (*range(9), *range(11, 32), *range(0x7F, 0xA0), 0x202E, 0x2066)))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Any]:
    """What came of every input, all asked in one process of bounded memory."""
    command = [sys.executable, "-m", "tests.hostile.command_line"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("hostile", INPUTS, ids=lambda hostile: hostile.name)
def test_a_hostile_input_is_answered_or_refused_by_its_field(hostile: Hostile, outcomes: dict[str, Any]) -> None:
    found = outcomes[hostile.name]
    assert found["seconds"] < MOST_SECONDS
    assert not CONTROL & set(found["out"] + found["err"])
    if hostile.wrong:
        assert found["code"] == BAD_INPUT, found
        # A flag is named with dashes where the command line's own parser refuses it.
        assert hostile.wrong.strip("_") in found["err"].replace("-", "_")
    else:
        assert found["code"] in {ANSWERED, DOES_NOT_FIT}, found
        assert found["out"]
