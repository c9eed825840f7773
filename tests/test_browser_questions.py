"""The browser's further doors: the same figures as the functions, and errors as data whatever comes in."""

import html
import json
import re
import shlex
from typing import Any

import pytest

from kvcore import browser_questions
from kvcore.cli import main
from kvcore.questions import longest_context
from tests.questions.deployment import BLOCK_BYTES, CONFIG

DEPLOYMENT = {"config": CONFIG, "max_model_len": 1600, "kv_cache_memory_bytes": 1000 * BLOCK_BYTES}
MODEL = "meta-llama/Llama-3.1-8B-Instruct"
SMALL = {"max_model_len": 1600, "kv_cache_memory_bytes": 8_000_000_000}
DOORS = (
    "solve_json",
    "compare_json",
    "sweep_json",
    "iso_json",
    "mix_json",
    "command_json",
    "link_json",
    "changes_json",
    "chart_json",
    "layout_json",
)
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


TWINS = (
    ("solve_json", {"question": "longest-context", "requests": "10", "basis": "held"}),
    ("sweep_json", {"axes": {"max_model_len": [800, 1600], "enable_prefix_caching": "true,false"}}),
    ("mix_json", {"lengths": [{"prompt_tokens": "100", "output_tokens": "20", "weight": "2.5"}]}),
    ("compare_json", {"requests": [{"model": MODEL, **SMALL}, {"model": MODEL, **SMALL, "kv_cache_dtype": "fp8"}]}),
)


@pytest.mark.parametrize(("door", "question"), TWINS, ids=[door for door, _ in TWINS])
def test_the_command_under_an_answer_runs_and_gives_the_same(
    door: str, question: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    reply = ask(door, request={"model": MODEL, **SMALL}, **question)
    (command,) = re.findall(r"The same by <code>(.*?)</code>", reply["html"])
    words = shlex.split(html.unescape(command))
    assert words[0] == "kvcore"
    assert main([*words[1:], "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    for name in ("value", "points", "average", "figures"):
        assert said.get(name) == reply.get(name)


def test_a_model_becomes_a_layout_whose_rows_are_edited() -> None:
    by_hand = ask("layout_json", request=DEPLOYMENT)["request"]
    rows = ask("layout_json", layout=by_hand["layout"])["rows"]
    assert [(row["part"], row["name"], row["layers"], row["window"]) for row in rows] == [(0, "attention", 32, "")]
    after = ask("layout_json", layout=by_hand["layout"], rows=[{**rows[0], "layers": "16"}])
    assert after["rows"][0]["layers"] == 16
    before, half = (ask("changes_json", request={**by_hand, "layout": text}, layout_before=by_hand["layout"])["changes"]
                    for text in (by_hand["layout"], after["layout"]))  # fmt: skip
    assert "layout" not in {change["field"] for change in before}
    (edit,) = [change for change in half if change["field"] == "layout"]
    assert edit["after"] == 2 * edit["before"]


def test_a_layout_travels_in_the_fragment() -> None:
    by_hand = ask("layout_json", request=DEPLOYMENT)["request"]
    link = ask("link_json", request=by_hand)["link"]
    assert "attention" not in link.partition("#")[0]
    again = ask("link_json", address=link)
    assert again["now"]["unchanged"]
    assert again["errors"] == []


def test_a_link_says_what_it_said_and_what_is_true_now() -> None:
    link = ask("link_json", request=DEPLOYMENT)["link"]
    assert ask("link_json", address=link)["now"]["unchanged"]


FORM = {
    "config": json.dumps(CONFIG),
    "max_model_len": "1600",
    "kv_cache_memory_bytes": str(1000 * BLOCK_BYTES),
    "block_size": "",
}
"""The same deployment as a form holds it: texts, with an empty one."""


def test_a_form_of_texts_is_the_same_request() -> None:
    assert ask("solve_json", question="longest-context", request=FORM, requests="10")["value"] == (
        longest_context(DEPLOYMENT, 10).value
    )


def test_false_as_a_text_switches_off() -> None:
    request = {"model": "org/name", "enable_prefix_caching": "false"}
    assert ask("command_json", request=request)["command"] == "vllm serve org/name --no-enable-prefix-caching"


def test_a_sweep_reads_its_values_as_a_person_writes_them_and_draws_them() -> None:
    reply = ask("sweep_json", request=FORM, axes={"max_model_len": "800, 1600"})
    assert [point["inputs"]["max_model_len"] for point in reply["points"]] == [800, 1600]
    assert 'data-kv-chart="sweep"' in reply["html"]
    drawn = [(item["across"], item["up"]) for item in reply["charts"]["sweep"]["data"]["values"]]
    assert drawn == [(800, 20.0), (1600, 10.0)]


def test_a_range_longer_than_any_list_is_refused() -> None:
    reply = ask("sweep_json", request=FORM, axes={"max_model_len": f"1..{10**30}"})
    assert reply["errors"][0]["field"] == "over"


def test_a_changed_input_comes_with_the_requests_at_once_without_it() -> None:
    # 1000 blocks; a request of 1600 tokens holds 100 blocks, one of 131,072 holds 8192, which do not fit.
    changed = ask("changes_json", request={**FORM, "block_size": "16"})["changes"]
    assert [(item["field"], item["before"], item["after"]) for item in changed] == [
        ("max_model_len", None, 10.0),
        ("block_size", 10.0, 10.0),
    ]


def test_deployments_of_texts_are_compared_and_the_difference_is_said_in_words() -> None:
    reply = ask("compare_json", requests=[FORM, {**FORM, "max_model_len": "800"}])
    assert [row["values"] for row in reply["inputs"] if row["path"] == "inputs.max_model_len"] == [[1600, 800]]
    assert "differs" in reply["html"]


def test_a_link_whose_figure_was_edited_says_then_and_now() -> None:
    link = ask("link_json", request=DEPLOYMENT)["link"].replace("blocks:1000", "blocks:999")
    html = ask("link_json", address=link)["html"]
    assert "999" in html
    assert "1,000" in html


def test_markup_in_a_name_stays_a_quoted_word() -> None:
    assert ask("command_json", request={"model": "<script>"})["command"] == "vllm serve '<script>'"


def test_a_link_to_an_unknown_model_comes_with_its_error() -> None:
    assert ask("link_json", request={"model": "<script>"})["errors"][0]["field"] == "model"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_gives_errors_as_data(door: str, text: str) -> None:
    reply = json.loads(getattr(browser_questions, door)(text))
    assert reply["errors"][0]["field"]


@pytest.mark.parametrize("door", ["solve_json", "compare_json", "link_json", "changes_json", "sweep_json", "mix_json"])
def test_a_config_with_infinity_does_not_reach_the_reply(door: str) -> None:
    form = {**FORM, "config": json.dumps({**CONFIG, "time_step_limit": [0.0, float("inf")]})}
    values = {"request": form, "requests": "4", "question": "longest-context", "axes": {"max_model_len": "800"}}
    values |= {"lengths": [{"prompt_tokens": "100"}]}
    if door == "compare_json":
        values["requests"] = [form]
    assert "errors" not in ask(door, **values) or not ask(door, **values)["errors"]
