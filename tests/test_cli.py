"""The command line: reports to standard output, errors to standard error, and what the exit codes say."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from kvcore.cli import main
from kvcore.request_fields import REQUEST_FIELDS
from kvcore.subcommands.batch import answer_line

GIB = 1 << 30

LAYERS = 4
KV_HEADS = 2
HEAD_SIZE = 64
BYTES_PER_ELEMENT = 2
BLOCK_SIZE = 16
CONTEXT = 1024
TOKEN_BYTES = LAYERS * KV_HEADS * (HEAD_SIZE + HEAD_SIZE) * BYTES_PER_ELEMENT
BLOCK_BYTES = BLOCK_SIZE * TOKEN_BYTES

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 8,
    "num_key_value_heads": KV_HEADS,
    "hidden_size": 8 * HEAD_SIZE,
    "max_position_embeddings": CONTEXT,
}


@pytest.fixture(name="config")
def config_file(tmp_path: Path) -> str:
    """Path of a small config.json."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), "utf-8")
    return str(path)


def type_in(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Puts a text on standard input."""
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_report_stands_on_standard_output(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["report", config, "--kv-cache-memory-bytes", str(GIB)])

    printed = capsys.readouterr()
    assert code == 0
    assert printed.err == ""
    assert f"{GIB // BLOCK_BYTES:,}" in printed.out


def test_a_report_as_json_carries_the_engine_s_figures(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["report", config, "--kv-cache-memory-bytes", str(GIB), "--json"])

    report = json.loads(capsys.readouterr().out)
    assert report["capacity"]["num_gpu_blocks"] == GIB // BLOCK_BYTES
    assert report["layout"]["bytes_per_token"] == TOKEN_BYTES


def test_a_report_as_markdown_has_headings(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", config, "--kv-cache-memory-bytes", str(GIB), "--markdown"]) == 0

    assert "\n## " in capsys.readouterr().out


def test_a_config_is_read_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch, json.dumps(CONFIG))

    assert main(["report", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["layout"]["bytes_per_token"] == TOKEN_BYTES


def test_without_a_budget_the_layout_is_the_answer(config: str) -> None:
    assert main(["report", config]) == 0


def test_every_request_field_is_a_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["report", "--help"])

    usage = capsys.readouterr().out
    assert [field.name for field in REQUEST_FIELDS if f"--{field.name.replace('_', '-')}" not in usage] == []


def test_flags_may_be_written_with_underscores(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["report", config, "--max_model_len=512", "--json"])

    assert json.loads(capsys.readouterr().out)["request"]["max_model_len"] == 512


def test_a_switch_is_turned_off_by_its_no_form(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["report", config, "--no-enable-prefix-caching", "--json"])

    inputs = json.loads(capsys.readouterr().out)["inputs"]
    assert inputs["enable_prefix_caching"] == {"value": False, "origin": "given", "note": ""}


def test_a_budget_per_stage_is_a_json_list(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(
        ["report", config, "--pipeline-parallel-size", "2", "--kv-cache-memory-bytes", f"[{GIB}, {GIB // 2}]", "--json"]
    )

    assert json.loads(capsys.readouterr().out)["budget"]["stage_bytes"] == [GIB, GIB // 2]


def test_the_longest_context_that_fits_is_asked_for_with_minus_one(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks_but_the_null_block = 10
    budget = (blocks_but_the_null_block + 1) * BLOCK_BYTES

    main(["report", config, "--max-model-len", "-1", "--kv-cache-memory-bytes", str(budget), "--json"])

    report = json.loads(capsys.readouterr().out)
    assert report["request"]["max_model_len"] == blocks_but_the_null_block * BLOCK_SIZE


def test_what_does_not_fit_is_still_reported_with_exit_code_1(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = 10
    request_bytes = CONTEXT // BLOCK_SIZE * BLOCK_BYTES

    code = main(["report", config, "--kv-cache-memory-bytes", str(blocks * BLOCK_BYTES), "--json"])

    capacity = json.loads(capsys.readouterr().out)["capacity"]
    assert code == 1
    assert capacity["short_bytes"] == request_bytes - (blocks - 1) * BLOCK_BYTES
    assert capacity["max_model_len_that_fits"] == (blocks - 1) * BLOCK_SIZE
    assert capacity["num_gpu_blocks"] is None


def test_an_engine_that_does_not_start_by_its_estimate_gives_exit_code_1_too(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more_than_the_gpu = ["--gpu", "T4", "--weights-gib", "20"]

    assert main(["report", config, "--engine", "sglang", *more_than_the_gpu, "--json"]) == 1

    assert json.loads(capsys.readouterr().out)["capacity"]["fits"] is False


BAD_INPUT = [
    (["report"], "error: model = (absent): "),
    (["report", "nobody/nothing"], "error: model = 'nobody/nothing': "),
    (["report", "absent.json"], "error: config = 'absent.json': the file cannot be read"),
    (["report", "CONFIG", "--model", "nobody/nothing"], "error: config = "),
    (["report", "CONFIG", "--tensor-parallel-sise", "2"], "Did you mean tensor_parallel_size?"),
    (["report", "CONFIG", "--tensor-parallel-size", "0"], "error: tensor_parallel_size = 0: must be at least 1"),
    (["report", "CONFIG", "--tensor-parallel-size", "-2"], "error: tensor_parallel_size = -2: must be at least 1"),
    (["report", "CONFIG", "--tensor-parallel-size", "1.5"], "must be a whole number"),
    (["report", "CONFIG", "--tensor-parallel-size", "many"], "must be a number"),
    (["report", "CONFIG", "--tensor-parallel-size", "3"], "error: tensor_parallel_size = 3: "),
    (["report", "CONFIG", "--max-model-len", "9" * 39], "error: max_model_len = "),
    (["report", "CONFIG", "--gpu-memory-utilization", "nan"], "must be a finite number"),
    (["report", "CONFIG", "--gpu", "H9000"], "error: gpu = 'H9000': "),
    (["report", "CONFIG", "--kv-cache-dtype", "fp9"], "error: kv_cache_dtype = 'fp9': must be one of"),
    (["report", "CONFIG", "--speculative-config", "{"], "error: speculative_config = '{': the text is not JSON"),
    (["report", "CONFIG", "--max-model-len"], "expected one argument"),
    (["frobnicate"], "invalid choice: 'frobnicate'"),
    ([], "COMMAND"),
]


@pytest.mark.parametrize(("words", "complaint"), BAD_INPUT, ids=lambda value: value if isinstance(value, str) else "")
def test_bad_input_is_one_error_on_standard_error_and_exit_code_2(
    config: str, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    words = [config if word == "CONFIG" else word for word in words]
    try:
        code = main(words)
    except SystemExit as end:
        code = int(end.code or 0)

    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    assert complaint in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[1, 2]", "a JSON object is expected"),
        ("{", "is not JSON"),
        ("{}", "num_hidden_layers"),
        ("[" * 5000, "nested too deeply"),
        (json.dumps(CONFIG | {"num_hidden_layers": "four"}), "a whole number is expected"),
        (json.dumps(CONFIG | {"num_attention_heads": None, "hidden_size": None}), "num_attention_heads"),
        (json.dumps(CONFIG | {"architectures": ["NobodyForCausalLM"]}), "does not know how this architecture caches"),
    ],
)
def test_a_bad_config_is_refused_by_the_field_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, rule: str
) -> None:
    type_in(monkeypatch, text)

    assert main(["report", "-"]) == 2
    assert rule in capsys.readouterr().err


def test_refused_input_asked_for_as_json_is_a_report_with_errors(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", config, "--gpu", "H9000", "--json"]) == 2

    assert json.loads(capsys.readouterr().out)["errors"][0]["field"] == "gpu"


def test_a_batch_answers_every_line_in_order_and_goes_on_after_bad_ones(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"config": CONFIG, "kv_cache_memory_bytes": GIB}
    lines = [json.dumps(good), "not json", "[]", "", json.dumps(good | {"block_sice": 1}), json.dumps(good)]
    type_in(monkeypatch, "\n".join(lines))

    assert main(["batch"]) == 0

    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [[error["field"] for error in report["errors"]] for report in reports] == [
        [], ["request"], ["request"], ["block_sice"], [],
    ]  # fmt: skip
    assert reports[0] == reports[-1]


def test_a_batch_reads_what_python_writes_for_infinity() -> None:
    line = json.dumps({"config": CONFIG | {"time_step_limit": [0.0, float("inf")]}})

    assert json.loads(answer_line(line))["errors"] == []


def test_a_batch_goes_on_after_what_is_no_text() -> None:
    lines = b'{"model": "\\ud800"}\n{"model": "\xff"}\n' + json.dumps({"config": CONFIG}).encode() + b"\n"

    batch = subprocess.run([sys.executable, "-m", "kvcore", "batch"], input=lines, capture_output=True, check=True)

    fields = [[error["field"] for error in json.loads(line)["errors"]] for line in batch.stdout.splitlines()]
    assert fields == [["model"], ["model"], []]
    assert batch.stderr == b""


def test_a_batch_goes_on_after_a_fault_of_kvcore_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> NoReturn:
        raise ZeroDivisionError("no tokens")

    monkeypatch.setattr("kvcore.subcommands.batch.answer", fail)

    (error,) = json.loads(answer_line("{}"))["errors"]
    assert "ZeroDivisionError: no tokens" in error["rule"]


def test_a_batch_gives_the_report_that_the_report_command_prints(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report", config, "--kv-cache-memory-bytes", str(GIB), "--json"])

    assert capsys.readouterr().out == answer_line(json.dumps({"config": CONFIG, "kv_cache_memory_bytes": GIB})) + "\n"


def test_a_layout_is_shown_per_gpu_and_over_the_gpus_that_share_it(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["layout", config, "--tensor-parallel-size", "2"]) == 0

    printed = capsys.readouterr().out
    assert f"{TOKEN_BYTES // 2:,} bytes on each GPU" in printed
    assert f"{TOKEN_BYTES:,}" in printed


def test_a_layout_as_json_lists_its_parts(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["layout", config, "--json"]) == 0

    layout = json.loads(capsys.readouterr().out)
    assert [(part["name"], part["layers"]) for part in layout["parts"]] == [("attention", LAYERS)]


@pytest.mark.parametrize("words", [["FILE"], ["--layout", "FILE"]])
def test_a_layout_that_was_printed_is_read_back(
    config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    question = ["--max-model-len", str(CONTEXT), "--kv-cache-memory-bytes", str(GIB), "--json"]
    main(["report", config, *question])
    of_config = json.loads(capsys.readouterr().out)
    main(["layout", config, "--json"])
    layout = tmp_path / "layout.json"
    layout.write_text(capsys.readouterr().out, "utf-8")

    main(["report", *(str(layout) if word == "FILE" else word for word in words), *question])

    of_layout = json.loads(capsys.readouterr().out)
    assert (of_layout["capacity"], of_layout["plan"]["groups"]) == (of_config["capacity"], of_config["plan"]["groups"])


def test_the_models_of_the_catalogue_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0

    assert "meta-llama/Llama-3.1-8B-Instruct" in capsys.readouterr().out


def test_the_models_of_the_catalogue_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--json"]) == 0

    assert {"id", "config", "sources"} <= json.loads(capsys.readouterr().out)[0].keys()


def test_the_gpus_of_the_catalogue_are_listed_with_their_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gpus"]) == 0

    assert "H100" in capsys.readouterr().out


def test_a_model_is_known_by_its_id_in_any_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "META-llama/llama-3.1-8b-instruct", "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["model"] == "meta-llama/Llama-3.1-8B-Instruct"


def test_a_report_can_start_from_an_engine_command(capsys: pytest.CaptureFixture[str]) -> None:
    command = "vllm serve openai/gpt-oss-20b -tp 2 --port 8000 --max-model-length 5"
    code = main(["report", "--from-command", command, "--kv-cache-memory-bytes", "21474836480", "--json"])
    printed = capsys.readouterr()
    assert code == 0
    assert json.loads(printed.out)["inputs"]["tensor_parallel_size"]["value"] == 2
    assert "--port does not matter" in printed.err
    assert "did you mean --max-model-len?" in printed.err


def test_a_solution_comes_with_its_proof_and_the_engine_s_command(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(
        ["solve", "concurrency", "openai/gpt-oss-120b", "--max-model-len", "32768", "--available-kv-cache-gib", "9"]
    )
    shown = capsys.readouterr().out
    assert code == 0
    assert "not enough" in shown
    assert "vllm serve openai/gpt-oss-120b --max-model-len 32768" in shown


def test_a_mix_is_counted_on_average_and_at_its_95th_percentile(capsys: pytest.CaptureFixture[str]) -> None:
    question = ["solve", "mix", "openai/gpt-oss-120b", "--max-model-len", "32768", "--available-kv-cache-gib", "9"]
    assert main([*question, "--mix", "1000+200:70, 8000+500:30"]) == 0
    shown = capsys.readouterr().out
    assert "drawn from the mix" in shown
    assert "95th percentile, 8,500 tokens" in shown
    assert main([*question, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["percentile_tokens"] == 8500
