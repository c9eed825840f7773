import json
from fractions import Fraction
from typing import Any

import pytest

from kvcore.browser import reconcile_json
from kvcore.errors import InputError
from kvcore.reconcile.as_json import as_json
from kvcore.reconcile.document import document
from kvcore.reconcile.finished_run import read_finished_run
from kvcore.reconcile.implied import implied_request
from kvcore.reconcile.invert import invert
from kvcore.reconcile.reader import read_log_text
from kvcore.reconcile.readings import CHECKLIST
from kvcore.reconcile.reconcile import reconcile
from kvcore.report.writers import markdown
from tests.reconcile.log_lines import vllm_log

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
REQUEST = {"model": MODEL, "gpu": "H100", "max_model_len": 4096}
KEY_AND_VALUE, LAYERS, KV_HEADS, HEAD_DIM, BYTES, BLOCK = 2, 32, 8, 128, 2, 16
BLOCK_BYTES = KEY_AND_VALUE * LAYERS * KV_HEADS * HEAD_DIM * BYTES * BLOCK
GIB = 1 << 30

# https://github.com/jyngjeon/multiagentsdebate/blob/7ba465565fbc93dbe912ecc6d7dfca19abf6b482/logs/vllm_server_qwen25_2.log
PUBLIC_LOG = """INFO 07-21 19:36:39 [cli_args.py:325] non-default args: {'model': 'Qwen/Qwen2.5-14B', 'dtype': 'bfloat16', \
'max_model_len': 16384, 'tensor_parallel_size': 4}
INFO [config.py:1] vLLM API server version 0.9.2
INFO [gpu_worker.py:1] Available KV cache memory: 12.79 GiB
INFO [kv_cache_utils.py:1] GPU KV cache size: 279,408 tokens
INFO [kv_cache_utils.py:2] Maximum concurrency for 16,384 tokens per request: 17.05x
INFO 07-21 19:38:05 [loggers.py:137] Engine 000: vllm cache_config_info with initialization after num_gpu_blocks is: 17463
"""


def test_a_public_log_states_its_own_question_and_agrees() -> None:
    found = reconcile(read_log_text(PUBLIC_LOG), {})

    assert found.implied.request["tensor_parallel_size"] == 4
    assert found.implied.request["engine_version"] == "0.9.2"
    assert found.verdict in {"equal", "within_rounding"}


def test_gaps_are_signed_and_in_percent() -> None:
    log = vllm_log(REQUEST, gib="20.00")
    blocks = 20 * GIB // BLOCK_BYTES
    computed = blocks * BLOCK

    found = reconcile(read_log_text(log), REQUEST, reported_tokens=computed // 2)
    row = next(row for row in found.prediction.rows if row.name == "gpu_kv_cache_tokens") if found.prediction else None

    assert row is not None
    assert (row.gap, row.percent) == (computed // 2 - computed, -50.0)


def test_a_reported_zero_has_a_gap_and_full_percentage() -> None:
    found = reconcile(read_log_text(""), {**REQUEST, "available_kv_cache_gib": 20.0}, reported_tokens=0)

    assert found.prediction is not None
    assert found.prediction.rows[0].percent == -100.0


def test_without_a_budget_nothing_is_called_wrong() -> None:
    found = reconcile(read_log_text("GPU KV cache size: 100,000 tokens"), {"model": MODEL})

    assert found.verdict == "not_compared"
    assert "available_kv_cache_gib" in [question.field for question in found.implied.questions]


def test_figures_lead_back_to_blocks_and_bytes() -> None:
    blocks = 20 * GIB // BLOCK_BYTES
    inversion = invert(
        read_log_text(vllm_log(REQUEST, gib="20.00")), block_size=BLOCK, groups=1, request_blocks=4096 // BLOCK
    )

    assert inversion.num_gpu_blocks == (blocks, blocks)
    assert inversion.block_bytes is not None
    low, high = inversion.block_bytes
    assert low <= BLOCK_BYTES <= high
    assert inversion.budget_bytes == (Fraction(19995, 1000) * GIB, Fraction(20005, 1000) * GIB)


def test_no_figure_gives_ways_to_find_one_and_six_points() -> None:
    text = markdown.write(document(reconcile(read_log_text("hello\n"), {})))

    assert "GPU KV cache size" in text
    assert "max_total_num_tokens" in text
    assert len(CHECKLIST) == 6
    assert all(point in text for point, _ in CHECKLIST)


def test_next_flags_carry_their_computed_effect() -> None:
    found = reconcile(read_log_text(vllm_log(REQUEST)), REQUEST)
    eight_bits = next(step for step in found.next_steps if step.flag == "--kv-cache-dtype fp8")
    computed = reconcile(
        read_log_text(vllm_log({**REQUEST, "kv_cache_dtype": "fp8"})), {**REQUEST, "kv_cache_dtype": "fp8"}
    )

    assert computed.prediction is not None
    assert eight_bits.tokens == computed.prediction.rows[0].predicted


SECRETS = ("/home/jane", "jane", "gpu-box-17", "10.1.2.3", "hunter2", "acme-internal")
PRIVATE_LOG = (
    "(APIServer pid=1) INFO gpu-box-17 non-default args: {'model': '/home/jane/models/Llama-3.1-8B-Instruct', 'host': '10.1.2.3', "
    "'api_key': ['hunter2'], 'served_model_name': ['acme-internal'], 'max_model_len': 4096, 'dtype': 'bfloat16', 'speculative_config': "
    "{'method': 'eagle', 'model': '/home/jane/drafter', 'num_speculative_tokens': 2}}\n"
)


@pytest.mark.parametrize(
    "further", ["", "non-default args: {'attention_backend': '/home/jane', 'kv_cache_dtype': '/home/jane'}\n"]
)
def test_paths_hosts_and_names_of_a_log_are_never_shown_back(further: str) -> None:
    log = PRIVATE_LOG + further + "Available KV cache memory: 20.00 GiB\nGPU KV cache size: 1,000 tokens\n"
    answered = reconcile_json(json.dumps({"request": {}}) + "\n" + log)

    assert [secret for secret in SECRETS if secret in answered] == []
    assert "meta-llama/Llama-3.1-8B-Instruct" in answered


def test_a_finished_run_is_read_as_pools() -> None:
    run = {"schema_version": 3, "workers": [{"worker_id": 0, "kv_pools": [{"group_id": 1, "capacity_tokens": 4096}]}]}
    record = read_finished_run(json.dumps(run))

    assert [(figure.value, figure.rank) for figure in record.figures] == [(4096, "worker 0 group 1")]
    assert reconcile(record, {}).verdict == "not_compared"


@pytest.mark.parametrize(
    ("run", "field"),
    [({"workers": [{}]}, "kv_pools"), ({"kv_pools": [{"group_id": 0}]}, "kv_pools.capacity_tokens"), ([], "run_meta")],
)
def test_a_run_without_its_pools_names_what_is_missing(run: Any, field: str) -> None:
    with pytest.raises(InputError) as raised:
        read_finished_run(json.dumps(run))

    assert raised.value.errors[0].field == field


def test_engines_that_are_only_read_say_so() -> None:
    log = (
        "llama_kv_cache: size = 512.00 MiB ( 32768 cells, 4 layers, 1/1 seqs), K (f16): 256.00 MiB, V (f16): 256.00 MiB"
    )
    found = as_json(reconcile(read_log_text(log), {}))

    assert (found["engine"], found["verdict"]) == ("llama.cpp", "not_compared")
    assert "does not compute" in found["explained"][0]["text"]


@pytest.mark.parametrize(
    "text", ["", "null", "[]", '{"log": 5}', '{"request": 5}', '{"request": {"nonsense": "1"}}', "[" * 100_000, "\x00"]
)
def test_the_browser_s_door_answers_with_errors_whatever_comes_in(text: str) -> None:
    assert json.loads(reconcile_json(text))["errors"]


def test_the_browser_s_door_takes_what_its_form_holds_as_texts() -> None:
    form = {
        "request": {"model": MODEL, "gpu": "H100", "max_model_len": "4,096", "kv_cache_dtype": ""},
        "reported_tokens": "",
    }
    answered = json.loads(reconcile_json(json.dumps(form) + "\n" + vllm_log(REQUEST)))

    assert answered["errors"] == []
    assert answered["reconciliation"]["verdict"] == "equal"
    assert 'data-kv="reconcile.rows.gpu_kv_cache_tokens.logged"' in answered["html"]
    assert 'href="../concepts/log-lines/#eras"' in answered["html"]


def test_a_log_of_a_newer_release_takes_the_newest_rules_and_says_so() -> None:
    found = reconcile(read_log_text(vllm_log(REQUEST, version="0.99.0")), {"model": MODEL, "gpu": "H100"})

    assert found.verdict == "equal"
    assert "vLLM 0.99.0 is newer than kvcore" in markdown.write(document(found))


def test_a_build_without_tags_is_no_release() -> None:
    found = reconcile(
        read_log_text(vllm_log(REQUEST, version="0.1.dev20073+g8e685d198")), {"model": MODEL, "gpu": "H100"}
    )

    asked = {question.field: question.text for question in found.implied.questions}
    assert found.verdict == "equal"
    assert "a build without tags" in asked["engine_version"]


def test_flags_are_not_recommended_from_a_layout_the_log_contradicts() -> None:
    log = vllm_log(REQUEST).replace("GPU KV cache size: ", "GPU KV cache size: 9")

    found = reconcile(read_log_text(log), REQUEST)

    assert found.verdict == "unexplained"
    assert "What to try next" not in markdown.write(document(found))


def test_what_many_workers_print_is_one_range() -> None:
    log = "".join(f"(Worker_TP{rank} pid={rank}) Available KV cache memory: 7.{rank}5 GiB\n" for rank in range(8))

    text = markdown.write(document(reconcile(read_log_text(log), {})))

    assert "7.05 to 7.75 GiB" in text


def test_the_comparison_comes_before_the_fields_it_was_asked_with() -> None:
    text = markdown.write(document(reconcile(read_log_text(PUBLIC_LOG), {})))

    assert text.index("Logged and computed") < text.index("The request this log implies")


def test_drafts_are_read_off_the_resolved_configuration() -> None:
    log = (
        "Initializing a V1 LLM engine (v0.19.2) with config: model='Qwen/Qwen3.6-27B', "
        "speculative_config=SpeculativeConfig(method='mtp', model='/home/jane/Qwen3.6-27B', num_spec_tokens=3), max_seq_len=4096\n"
    )
    implied = implied_request(read_log_text(log), {})

    assert implied.request["speculative_config"] == {
        "method": "mtp",
        "num_speculative_tokens": 3,
        "model": "Qwen/Qwen3.6-27B",
    }
