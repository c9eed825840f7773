"""The browser's further doors: the same figures as the functions, and errors as data whatever comes in."""

import json
from typing import Any

import pytest

from kvcore import browser_questions
from kvcore.questions import longest_context
from tests.questions.deployment import BLOCK_BYTES, CONFIG

DEPLOYMENT = {"config": CONFIG, "max_model_len": 1600, "kv_cache_memory_bytes": 1000 * BLOCK_BYTES}
DOORS = ("solve_json", "compare_json", "sweep_json", "iso_json", "mix_json", "command_json", "link_json")
HOSTILE = (
    "",
    "null",
    "[]",
    "{}",
    '{"request": 5}',
    "[" * 100_000,
    "\x00",
    '{"axes": {}}',
)


def ask(door: str, **values: Any) -> Any:
    return json.loads(getattr(browser_questions, door)(json.dumps(values)))


def test_solving_gives_the_functions_answer_and_both_commands() -> None:
    reply = ask("solve_json", question="longest-context", request=DEPLOYMENT, requests=10)
    assert reply["value"] == longest_context(DEPLOYMENT, 10).value
    assert reply["engine_command"].startswith("vllm serve ORG/NAME --max-model-len")


def test_the_best_split_comes_with_the_whole_ranking() -> None:
    reply = ask("solve_json", question="best-split", request=DEPLOYMENT, gpus=4)
    assert {split["num_gpus"] for split in reply["splits"]} == {4}


def test_a_sweep_comes_with_its_csv() -> None:
    reply = ask("sweep_json", request=DEPLOYMENT, axes={"max_model_len": [800, 1600]})
    assert len(reply["points"]) == 2
    assert reply["csv"].startswith("max_model_len,")


def test_a_command_fills_a_request_and_a_request_makes_a_command() -> None:
    read = ask("command_json", command="vllm serve org/name -tp 2 --port 1")
    assert read["request"] == {"model": "org/name", "tensor_parallel_size": 2}
    assert read["ignored"] == ["--port"]
    assert ask("command_json", request=read["request"])["command"] == "vllm serve org/name --tensor-parallel-size 2"


def test_a_link_says_what_it_said_and_what_is_true_now() -> None:
    link = ask("link_json", request=DEPLOYMENT)["link"]
    assert ask("link_json", address=link)["now"]["unchanged"]


def test_markup_in_a_name_stays_a_quoted_word() -> None:
    assert ask("command_json", request={"model": "<script>"})["command"] == "vllm serve '<script>'"


def test_a_link_to_an_unknown_model_comes_with_its_error() -> None:
    assert ask("link_json", request={"model": "<script>"})["errors"][0]["field"] == "model"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_gives_errors_as_data(door: str, text: str) -> None:
    reply = json.loads(getattr(browser_questions, door)(text))
    assert reply["errors"][0]["field"]
