"""What is said about each kind of line, and where it leads."""

from pathlib import Path

import pytest

from kvcore.reconcile.finished_run import read_finished_run
from kvcore.reconcile.patterns import ARGUMENT_LISTS, PATTERNS
from kvcore.reconcile.quoted import QUOTED
from kvcore.reconcile.reader import read_log_text
from kvcore.reconcile.readings import READINGS

DOCS = Path(__file__).parents[2] / "docs"
KINDS = {pattern.kind for pattern in (*PATTERNS, *QUOTED)}


def test_every_kind_of_line_has_a_reading_and_no_reading_is_left_over() -> None:
    others = {"arguments", "command", "config_dump", "run_pool"}

    assert set(READINGS) == KINDS | others
    assert len(ARGUMENT_LISTS) == 4


@pytest.mark.parametrize("kind", sorted(READINGS))
def test_a_reading_leads_to_a_paragraph_that_exists(kind: str) -> None:
    folder, _, anchor = READINGS[kind].page.partition("/#")
    page = (DOCS / f"{folder}.md").read_text("utf-8")

    assert anchor
    assert f"{{ #{anchor} }}" in page


@pytest.mark.parametrize("kind", sorted(READINGS))
def test_a_reading_is_a_sentence_or_more_in_plain_words(kind: str) -> None:
    text = READINGS[kind].text

    assert text.endswith(".")
    assert len(text.split()) >= 5


def test_the_token_line_is_said_to_be_no_pool() -> None:
    assert READINGS["tokens"].text.startswith("Not a pool of tokens")


def test_a_finished_run_s_pools_are_a_kind_of_their_own() -> None:
    record = read_finished_run('{"kv_pools": [{"group_id": 0, "capacity_tokens": 5}]}')

    assert [seen.kind for seen in record.seen] == ["run_pool"]


def test_lists_of_arguments_are_kinds_of_their_own() -> None:
    log = "non-default args: {'max_model_len': 2048}\nLLM engine (v0.11.2) with config: model='a/b', dtype=torch.bfloat16\n"

    assert {seen.kind for seen in read_log_text(log).seen} >= {"arguments", "config_dump"}
